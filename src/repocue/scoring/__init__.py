"""Scores of answers: deterministic ones against the basis, and the binding of people's assessments. All pure."""
