"""Where states live: `<cache root>/<repository id>/state.db`, folders 0700 and files 0600 (ARCHITECTURE §4)."""

from __future__ import annotations

import errno
import os
from typing import NamedTuple

from repocue.errors import CacheError

FOLDER_MODE = 0o700
FILE_MODE = 0o600


class CacheLocation(NamedTuple):
    """The folder of all states. `root` may be relative and need not exist; nothing is created until `create`."""

    root: str

    def folder(self, repository_id: str) -> str:
        """The folder of one repository's state. Raises CacheError for a relative root where there is no folder to start
        from."""
        try:
            root = os.path.abspath(self.root)
        except OSError as error:
            raise CacheError(
                f"the cache folder {self.root} cannot be found: the working directory does not exist any more",
                code="cache.unreadable",
                hint="Name it by an absolute path, or work in a folder that exists.",
            ) from error
        return os.path.join(root, repository_id)

    def state_path(self, repository_id: str) -> str:
        """The state database of one repository."""
        return os.path.join(self.folder(repository_id), "state.db")

    def lock_path(self, repository_id: str) -> str:
        """The file whose lock a writer holds; it is never removed, because that would let two hold it."""
        return os.path.join(self.folder(repository_id), "state.lock")

    def create(self, repository_id: str) -> str:
        """Create the repository's folder and what is missing above it, durably; returns the folder.

        Folders made here are 0700 whatever the umask adds; existing ones are left as they are. Raises CacheError.
        """
        folder = self.folder(repository_id)
        missing = []
        path = folder
        while not os.path.lexists(path):
            missing.append(path)
            path = os.path.dirname(path)
        try:
            for path in reversed(missing):
                try:
                    os.mkdir(path, FOLDER_MODE)
                except FileExistsError:
                    continue  # another command was faster
                except FileNotFoundError:
                    if os.path.isdir(os.path.dirname(path)):
                        raise  # a file system that takes no folders, as /proc
                    raise NotADirectoryError(errno.ENOTDIR, "", os.path.dirname(path)) from None  # a link to nothing
                sync_folder(os.path.dirname(path))
            if not os.path.isdir(folder):
                raise NotADirectoryError(errno.ENOTDIR, "", folder)
        except OSError as error:
            raise folder_error(error, path) from error
        return folder


def sync_folder(path: str) -> None:
    """Make the names in a folder durable, where the file system can do that and the folder may be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except PermissionError:
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def folder_error(error: OSError, path: str) -> CacheError:
    """The error for a cache folder that cannot be created, entered or written."""
    from repocue.errors import CacheFull

    where = error.filename if isinstance(error.filename, str) else path
    if error.errno in (errno.ENOTDIR, errno.EEXIST):
        return CacheError(
            f"the cache folder cannot be used: {where} is not a folder",
            code="cache.not-a-folder",
            hint="Name another one with --cache-dir or REPOCUE_CACHE_DIR.",
        )
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return CacheFull(
            f"no room left for the cache at {where}",
            hint="Free some space and run the command again; no state was lost.",
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return CacheError(
            f"the cache cannot be written: {where}: {error.strerror}",
            code="cache.read-only",
            hint="Make the folder writable, or name another one with --cache-dir or REPOCUE_CACHE_DIR.",
        )
    return CacheError(f"the cache folder cannot be used: {where}: {error.strerror}", code="cache.io")
