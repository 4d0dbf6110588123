"""Log files on any file system, listed without a JVM, and those of them that are new."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
from pyarrow import fs

from dbt_graft.lineage.errors import GraftError

_S3_ERROR = re.compile(r"AWS Error \w+")
_WILDCARD = re.compile(r"[*?]")
_HADOOP = (
    "Hadoop's library libhdfs is needed: set HADOOP_HOME, JAVA_HOME and CLASSPATH, see "
    "docs/configuration.md"
)


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file below the path of a source.

    Attributes:
        url: Its path or URL, for `filesystem`.
        origin: Its name in the lineage store: the path as `graft.yml` writes it and the path
            below, the same on every machine.
        position: Its size and time of change; differs once the file changes.
        changed_ns: Its time of change, in nanoseconds since 1970; 0 where it is not known.
    """

    url: str
    origin: str
    size: int
    position: str
    changed_ns: int = 0


def filesystem(url: str) -> tuple[fs.FileSystem, str]:
    """The file system behind a local path or a URL as Spark writes it, and the path in it.

    Raises:
        GraftError: The scheme of the URL is not supported.
        OSError: The file system cannot be reached.
    """
    if "://" not in url:
        return fs.LocalFileSystem(), str(Path(url).absolute())
    scheme, _, rest = url.partition("://")
    # Hadoop's name for S3 is s3a; Arrow knows s3.
    name = "s3" if scheme == "s3a" else scheme
    try:
        found: tuple[fs.FileSystem, str] = fs.FileSystem.from_uri(f"{name}://{rest}")
    except pa.ArrowInvalid as error:
        raise GraftError(
            f"cannot be read: {error}",
            place=f"{scheme}://",
            remedy="supported schemes: file, s3a, gs, abfss, hdfs, viewfs (docs/configuration.md)",
        ) from error
    return found


def system_reason(error: OSError) -> str:
    """The reason why a file cannot be read or written, in the system's words.

    Arrow's own text may name a user: of it only the code of an S3 error is taken.
    """
    if error.errno:
        return os.strerror(error.errno)
    code = _S3_ERROR.search(str(error))
    return code[0] if code else "its server does not answer, or refuses"


def log_files(path: str, label: str) -> list[LogFile]:
    """All files at or below a path, hidden ones left out, sorted by name.

    Args:
        path: A local path or URL; a file, a folder, or a glob of them: `*` matches in one part of
            the path, `**` in several.
        label: The path as origins begin with it; of a glob the part before its first wildcard.

    Raises:
        GraftError: The path does not exist or cannot be listed.
    """
    wanted, below_top = None, ""
    if _WILDCARD.search(path) and not _exists(path):
        path, below_top = _split_glob(path)
        label, _ = _split_glob(label) if _WILDCARD.search(label) else (label, "")
        wanted = _glob_pattern(below_top)
    try:
        files, root = filesystem(path)
        top = files.get_file_info(root)
        found = (
            files.get_file_info(fs.FileSelector(root, recursive=True))
            if top.type is fs.FileType.Directory
            else [top]
        )
    except OSError as error:
        remedy = _HADOOP if path.startswith(("hdfs://", "viewfs://")) else ""
        raise GraftError(f"cannot be listed: {error}", place=label, remedy=remedy) from error
    if top.type is fs.FileType.NotFound:
        raise GraftError(
            "there is nothing at this path", place=label, remedy="correct `path` in graft.yml"
        )
    prefix = path.rstrip("/")
    # URLs quote some characters.
    written = quote if "://" in path else str
    logs = []
    for info in found:
        below = info.path[len(root.rstrip("/")) :]
        if info.type is fs.FileType.File and not any(
            part.startswith((".", "_temporary")) for part in below.split("/")
        ):
            if wanted and not wanted.match(below):
                continue
            changed = info.mtime_ns or 0
            origin = f"{label.rstrip('/')}{below}"
            url, position = prefix + written(below), f"{info.size}@{changed}"
            logs.append(LogFile(url, origin, info.size, position, changed))
    if wanted and not logs:
        raise GraftError(
            "nothing matches", place=f"{label}{below_top}", remedy="correct `path` in graft.yml"
        )
    return sorted(logs, key=lambda log: log.origin)


def glob_top(path: str) -> str:
    """The folder below which all matches of a glob lie; any other path itself."""
    return _split_glob(path)[0] if _WILDCARD.search(path) else path


def _split_glob(path: str) -> tuple[str, str]:
    """`/logs/*/events`: `/logs` and `/*/events`."""
    start = _WILDCARD.search(path)
    cut = path.rfind("/", 0, start.start() if start else None)
    return (path[:cut] or "/", path[cut:]) if cut >= 0 else (".", f"/{path}")


def _glob_pattern(glob: str) -> re.Pattern[str]:
    """A pattern for files that a glob names, or that lie in a folder which it names."""
    parts = {"/**/": "/(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    found = re.split(r"(/\*\*/|\*\*|[*?])", glob.rstrip("/"))
    return re.compile("".join(parts.get(part) or re.escape(part) for part in found) + r"(?:/|\Z)")


def _exists(path: str) -> bool:
    return "://" not in path and Path(path).exists()


def fresh(logs: list[LogFile], known: Mapping[str, tuple[str, int]]) -> list[LogFile]:
    """The files that the store does not have as they are now."""
    return [log for log in logs if known.get(log.origin, ("",))[0] != log.position]
