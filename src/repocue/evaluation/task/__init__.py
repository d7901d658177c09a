"""`evaluate-task`: an overview against the original sources a task needs (seed, "Independent task comparison")."""
