"""Arguments, wiring, printing, exit codes: no rule of the domain lives here."""
