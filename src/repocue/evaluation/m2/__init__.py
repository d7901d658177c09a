"""M2: one agent under five conditions on one repository state, prepared and run so that nobody can make it lie."""
