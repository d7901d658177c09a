"""Speed and memory beside plain git on about 170, 5 000 and 57 000 files, and of reports on 1 000 pairs: `make bench`.

Whole processes, interleaved in one run so that a busy machine slows all of them alike, and compared as ratios of
medians to two floors that anyone can time: S, `git status` on a refreshed index, and P, a Python that imports what
every command needs. The bounds are those of ARCHITECTURE.md; a missed one makes the exit code 1.
"""
