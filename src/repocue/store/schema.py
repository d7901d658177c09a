"""The database's tables, one step of migration after the other.

A released step is never edited: a change of the tables is a new step. `user_version` counts the steps taken.
"""

from __future__ import annotations

APPLICATION_ID = 0x52435545
"""`RCUE`, by which a database is recognised as ours."""

_FIRST: tuple[str, ...] = (
    """
    CREATE TABLE repository (
        only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
        id TEXT NOT NULL,
        root BLOB NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE epochs (
        number INTEGER PRIMARY KEY,
        label TEXT,
        reason TEXT,
        opened_at_ms INTEGER NOT NULL,
        superseded_at_ms INTEGER,
        baseline_snapshot INTEGER NOT NULL REFERENCES snapshots (number) DEFERRABLE INITIALLY DEFERRED
    ) STRICT
    """,
    # What one basis said. Paths are not repeated here: the rows hold the tracked ones.
    """
    CREATE TABLE snapshots (
        number INTEGER PRIMARY KEY,
        epoch INTEGER NOT NULL REFERENCES epochs (number),
        object_format TEXT NOT NULL,
        branch TEXT,
        head TEXT,
        is_dirty INTEGER NOT NULL,
        status_digest TEXT NOT NULL,
        repository_digest TEXT NOT NULL,
        index_digest TEXT NOT NULL,
        working_tree_digest TEXT NOT NULL,
        staged INTEGER NOT NULL,
        unstaged INTEGER NOT NULL,
        untracked INTEGER NOT NULL,
        unmerged INTEGER NOT NULL,
        observed_at TEXT NOT NULL,
        warnings TEXT NOT NULL,
        language_library TEXT NOT NULL
    ) STRICT
    """,
    # Temporal: a row describes its path in every snapshot from valid_from up to, not including, valid_to.
    # Modes are git's six digits read as a decimal number; ids are raw bytes. xy, mode and content_id are NULL while the
    # work tree equals the index entry, so that a clean row is small.
    """
    CREATE TABLE files (
        path BLOB NOT NULL,
        valid_from INTEGER NOT NULL REFERENCES snapshots (number),
        valid_to INTEGER REFERENCES snapshots (number),
        index_mode INTEGER,
        index_id BLOB,
        size_bytes INTEGER,
        xy TEXT,
        mode INTEGER,
        content_id BLOB,
        stages TEXT,
        PRIMARY KEY (path, valid_from)
    ) STRICT, WITHOUT ROWID
    """,
    # Which snapshot is current, and what the scan that made or confirmed it left for the next one.
    """
    CREATE TABLE current (
        only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
        snapshot INTEGER NOT NULL REFERENCES snapshots (number),
        index_token TEXT NOT NULL,
        scan BLOB NOT NULL,
        scan_digest TEXT NOT NULL
    ) STRICT
    """,
    # Aggregates and lists of the current snapshot alone, rewritten in place: history costs nothing here.
    """
    CREATE TABLE kept (
        name TEXT PRIMARY KEY,
        data BLOB NOT NULL,
        digest TEXT NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE runs (
        number INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        started_by TEXT NOT NULL,
        epoch INTEGER NOT NULL REFERENCES epochs (number),
        snapshot_before INTEGER REFERENCES snapshots (number),
        snapshot_after INTEGER REFERENCES snapshots (number),
        started_at_ms INTEGER NOT NULL,
        duration_ms REAL,
        clock_method TEXT NOT NULL,
        scan_duration_ms REAL,
        git_processes INTEGER,
        files_scanned INTEGER,
        bytes_read INTEGER,
        changed_files INTEGER,
        outcome TEXT NOT NULL,
        error_code TEXT
    ) STRICT
    """,
    """
    CREATE TABLE cue_runs (
        number INTEGER PRIMARY KEY,
        view TEXT NOT NULL,
        epoch INTEGER NOT NULL REFERENCES epochs (number),
        snapshot INTEGER NOT NULL REFERENCES snapshots (number),
        freshness TEXT NOT NULL,
        started_at_ms INTEGER NOT NULL,
        duration_ms REAL,
        clock_method TEXT NOT NULL,
        max_tokens INTEGER,
        bytes INTEGER NOT NULL,
        estimated_tokens INTEGER NOT NULL
    ) STRICT
    """,
)

_SECOND: tuple[str, ...] = (
    # Pairs of published agent runs, as numbers and digests. Numbers are never given twice, so that an id that was
    # removed names nothing else later.
    """
    CREATE TABLE calibrations (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        set_digest TEXT NOT NULL,
        assisted TEXT NOT NULL,
        epoch INTEGER NOT NULL REFERENCES epochs (number),
        snapshot INTEGER NOT NULL REFERENCES snapshots (number),
        imported_at_ms INTEGER NOT NULL,
        data BLOB NOT NULL,
        digest TEXT NOT NULL,
        UNIQUE (set_digest, assisted, epoch)
    ) STRICT
    """,
    # People's scores of answers in imported sets; they belong to the set, whichever pairs were made of it.
    """
    CREATE TABLE calibration_assessments (
        number INTEGER PRIMARY KEY,
        set_digest TEXT NOT NULL,
        condition TEXT NOT NULL,
        assessor TEXT NOT NULL,
        data BLOB NOT NULL,
        digest TEXT NOT NULL,
        UNIQUE (set_digest, condition, assessor)
    ) STRICT
    """,
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (_FIRST, _SECOND)
"""Step N leads from user_version N to N + 1; each is made in one transaction."""

LATEST = len(MIGRATIONS)
