"""Kinds of fault that users reported of tools like this one: `kinds.py` names each and the tests that keep it out."""
