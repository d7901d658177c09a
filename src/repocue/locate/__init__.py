"""Which files a task needs: an index of hashed words and commits, a pure ranking, and its projection.

The room reads git and its own index beside the state; what it needs of a snapshot it is given as plain values.
"""
