"""Task context: items and original sources that a tracked declaration selects for a task.

`globs` and `selection` decide what a task needs, `blocks` cuts and joins bytes, `loading` reads them from HEAD,
`projection` makes the cue, `pins` verifies and rewrites the declaration's pins.
"""
