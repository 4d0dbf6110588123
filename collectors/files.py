"""Log files on any file system, listed without a JVM, and those of them that are new."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path, PurePosixPath
from urllib.parse import quote

import pyarrow as pa
from pyarrow import fs

from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.collectors.folder_walk import (
    ListedFile,
    Report,
    local_files,
    remote_files,
)
from dbt_graft.collectors.system_reason import system_reason
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen

_WILDCARD = re.compile(r"[*?]")
_PART = re.compile(r"(?:@\d+)?(?:#[^#]*)?\Z")
_ANYTHING = re.compile("")
_CLOUD = "check the network, the address, and the credentials of this account"
_HADOOP = (
    "Hadoop's library libhdfs is needed: set HADOOP_HOME, JAVA_HOME and CLASSPATH, see "
    "docs/configuration.md"
)


@frozen
class LogPath:
    """A place with files of a source: a file, a folder, or a glob, on this machine or a URL.

    Attributes:
        label: The path as `graft.yml` writes it; origins begin with it.
    """

    path: str
    label: str


@frozen
class LogFile:
    """A file below the path of a source.

    Attributes:
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

    def is_named(self, path: str, suffixes: Collection[str], packed: Collection[str]) -> bool:
        """Whether its name ends so, packed or not, or the path is that of the file itself."""
        name = PurePosixPath(self.origin.lower())
        suffix = PurePosixPath(name.stem).suffix if name.suffix in packed else name.suffix
        return suffix in suffixes or self.url.rstrip("/") == path.rstrip("/")


def numbered_files(files: fs.FileSystem, folder: str, suffix: str) -> list[int]:
    """The numbers by which files of a folder are named, as `000017.json`; none without a folder."""
    infos = files.get_file_info(fs.FileSelector(folder, allow_not_found=True))
    names = (info.base_name for info in infos if info.base_name.endswith(suffix))
    stems = (name.removesuffix(suffix) for name in names)
    return [int(stem) for stem in stems if re.fullmatch(r"[0-9]{6,}", stem)]


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
        location: tuple[fs.FileSystem, str] = fs.FileSystem.from_uri(f"{name}://{rest}")
    except pa.ArrowInvalid as error:
        raise GraftError(
            f"cannot be read: {error}",
            place=f"{scheme}://",
            remedy="supported schemes: file, s3a, gs, abfss, hdfs, viewfs (docs/configuration.md)",
        ) from error
    return location


def report_nothing(_: Finding) -> None:
    """For whoever lists logs again that were listed, and reported on, before."""


def accept_all(_: LogFile) -> bool:
    """For a folder in which any file may be a log."""
    return True


def log_files(
    path: str,
    label: str,
    accepts: Callable[[LogFile], bool] = accept_all,
    report: Report = report_nothing,
) -> list[LogFile]:
    """The logs at or below a path, each once, hidden files left out, sorted by name.

    Args:
        path: A local path or URL; a file, a folder, or a glob of them: `*` matches in one part of
            the path, `**` in several.
        label: The path as origins begin with it; of a glob the part before its first wildcard.
        accepts: Whether a file is a log. Of two names of one file the first that is counts.
        report: Takes what is left out: folders that cannot be listed, and links.

    Raises:
        GraftError: The path does not exist or cannot be listed.
    """
    wanted, enters, below_top = _ANYTHING, _ANYTHING, ""
    if _WILDCARD.search(path) and not _exists(path):
        path, below_top = _split_glob(path)
        label, _ = _split_glob(label) if _WILDCARD.search(label) else (label, "")
        wanted, enters = _glob_pattern(below_top), _folder_pattern(below_top)
    # URLs quote some characters.
    prefix, written = path.rstrip("/"), quote if "://" in path else str
    logs: dict[object, LogFile] = {}
    left_out: list[Finding] = []
    try:
        for below, size, changed, identity in _list_files(path, label, left_out.append, enters):
            origin, position = f"{label.rstrip('/')}{below}", f"{size}@{changed}"
            log = LogFile(f"{prefix}{written(below)}", origin, size, position, changed)
            if wanted.match(below) and accepts(log):
                logs.setdefault(identity, log)
    except OSError as error:
        remedy = _CLOUD if "://" in path else ""
        if path.startswith(("hdfs://", "viewfs://")):
            remedy = _HADOOP
        reason = system_reason(error) if error.errno else error
        raise GraftError(f"cannot be listed: {reason}", place=label, remedy=remedy) from error
    is_partial = any(finding.severity is Severity.WARNING for finding in left_out)
    if below_top and not logs and not is_partial:
        raise GraftError(
            "nothing matches",
            place=f"{label}{below_top}",
            remedy="correct the path; that of a source is `path` in graft.yml",
        )
    for finding in left_out:
        report(finding)
    return sorted(logs.values(), key=lambda log: log.origin)


def _list_files(
    path: str, label: str, report: Report, enters: re.Pattern[str]
) -> Iterator[ListedFile]:
    """The file at a path, or those below it.

    Raises:
        GraftError: There is nothing.
        OSError: It cannot be listed.
    """
    files, root = filesystem(path)
    top = files.get_file_info(root)
    if top.type is fs.FileType.NotFound:
        raise GraftError(
            "there is nothing at this path",
            place=label,
            remedy="correct the path; that of a source is `path` in graft.yml",
        )
    if top.type is fs.FileType.File:
        yield ListedFile("", top.size, top.mtime_ns or 0, root)
    elif isinstance(files, fs.LocalFileSystem):
        yield from local_files(root, label, report, enters)
    elif top.type is fs.FileType.Directory:
        yield from remote_files(files, root, label, report)


def glob_top(path: str) -> str:
    """The folder below which all matches of a glob lie; any other path itself."""
    return _split_glob(path)[0] if _WILDCARD.search(path) else path


def is_named(origin: str, path: str) -> bool:
    """Whether a file, a folder or a glob, or the address of a server, names an origin."""
    top = glob_top(path).rstrip("/")
    below = origin[len(top) :]
    if origin == path or not origin.startswith(top) or below[:1] not in ("", *"/#@"):
        return origin == path
    if not _WILDCARD.search(path):
        return True
    # A log that is read in parts has their places at its end: `events.jsonl@1048576#dbt`.
    names = {below, _PART.sub("", below)}
    pattern = _glob_pattern(_split_glob(path)[1])
    return any(pattern.match(name) for name in names)


def _split_glob(path: str) -> tuple[str, str]:
    """`/logs/*/events`: `/logs` and `/*/events`."""
    start = _WILDCARD.search(path)
    cut = path.rfind("/", 0, start.start() if start else None)
    return (path[:cut] or "/", path[cut:]) if cut >= 0 else (".", f"/{path}")


def _glob_pattern(glob: str) -> re.Pattern[str]:
    """A pattern for files that a glob names, or that lie in a folder which it names."""
    return re.compile(_expression(glob.rstrip("/")) + r"(?:/|\Z)", re.DOTALL)


def _folder_pattern(glob: str) -> re.Pattern[str]:
    """A pattern for folders that may hold such files, at any depth."""
    expression = "(?:/.*)?"
    for part in reversed(glob.strip("/").split("/")):
        expression = "(?:/.*)?" if "**" in part else f"(?:/{_expression(part)}{expression})?"
    return re.compile(expression + r"\Z", re.DOTALL)


def _expression(glob: str) -> str:
    words = {"/**/": "/(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(/\*\*/|\*\*|[*?])", glob)
    return "".join(words.get(part) or re.escape(part) for part in parts)


def _exists(path: str) -> bool:
    return "://" not in path and Path(path).exists()


def changed_logs(logs: list[LogFile], positions: Mapping[str, tuple[str, int]]) -> list[LogFile]:
    """The files that the store does not have as they are now."""
    return [log for log in logs if positions.get(log.origin, ("",))[0] != log.position]
