"""The local state database: the only room that imports sqlite3. Holds ids, counts and paths, never file contents."""
