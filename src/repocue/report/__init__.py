"""The report: recorded maintenance, agent evidence from calibrations, and what both project. Starts nothing."""
