"""One module a command. Each defines `command` and imports its room inside, so that no command pays for another."""
