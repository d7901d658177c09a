"""Runtime rules: what a contract demands beyond its schema. Pure functions from a document to its faults.

A rule may rely on the schema being satisfied. Each broken rule gives its own `Problem`.
"""
