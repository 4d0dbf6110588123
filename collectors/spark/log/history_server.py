"""Event logs from a Spark History Server, where their folder cannot be read.

| request | answer |
|---|---|
| `GET /api/v1/applications` | JSON: the applications, each with its attempts |
| `GET /api/v1/applications/<id>[/<attempt>]/logs` | a zip with the files of the attempt's log |

(https://spark.apache.org/docs/latest/monitoring.html#rest-api). The position of a
log is the time of its last change in the listing. Workers download one zip at a time into an
unnamed temporary file, because a zip is read from its end.
"""

from __future__ import annotations

import logging
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from typing import IO, Any
from urllib.parse import quote
from zipfile import BadZipFile, ZipFile

import orjson
from requests import Response
from requests.exceptions import RequestException
from urllib3.util import Retry

from dbt_graft.collectors.codecs import ByteStream
from dbt_graft.collectors.files import LogFile
from dbt_graft.collectors.http_session import http_reason, http_session
from dbt_graft.collectors.spark.log.files import (
    COMPACTED,
    ApplicationLog,
    SparkLogs,
    application_logs,
)
from dbt_graft.collectors.store.positions import of_logs
from dbt_graft.lineage.errors import GraftError

_log = logging.getLogger(__name__)

_SILENCE = 120.0  # seconds without an answer
_LONGEST_LISTING = 1 << 28  # bytes: some half a million applications
_PIECE = 1 << 20
_DENIED = (401, 403)
# After 0, 1 and 2 seconds, or when the server says so.
_RETRIES = Retry(
    total=3,
    other=0,  # a certificate stays what it is
    backoff_factor=0.5,
    status_forcelist=(429, 502, 503, 504),
    allowed_methods=("GET",),
    raise_on_status=False,
)

OpenFile = Callable[[str], AbstractContextManager[ByteStream]]


class DownloadError(Exception):
    """The server did not give a log or listing; a later request may succeed."""


def new_attempts(logs: SparkLogs, positions: Mapping[str, tuple[str, int]]) -> list[ApplicationLog]:
    """List the attempts of applications whose logs are new to the store or have changed.

    Raises:
        GraftError: The server cannot be reached or returns no list of applications.
    """
    listed = _list_attempts(logs)
    read: dict[str, set[str]] = {}
    for origin, (position, _) in of_logs(positions, (log.log.origin for log in listed)).items():
        # A compacted log is an origin of its own; see `collectors.spark.log.files`.
        attempt = origin.rpartition("/")[0] if origin.endswith(COMPACTED) else origin
        read.setdefault(attempt, set()).add(position)
    return [log for log in listed if log.log.position not in read.get(log.log.origin, ())]


def _list_attempts(logs: SparkLogs) -> list[ApplicationLog]:
    server = logs.path.rstrip("/")
    try:
        with _answer(f"{server}/api/v1/applications", logs.authorization) as answer:
            listing = b"".join(_pieces(answer, _LONGEST_LISTING))
    except DownloadError as error:
        raise GraftError(f"cannot list applications: {error}", place=logs.label) from error
    try:
        attempts = [
            _attempt(logs, application["id"], attempt)
            for application in orjson.loads(listing)
            for attempt in application["attempts"]
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise GraftError(
            "does not answer as a History Server",
            place=logs.label,
            remedy="set `history_server` to its address, without `/api`; login pages are not "
            "supported",
        ) from error
    return sorted(attempts, key=lambda log: log.log.origin)


def _pieces(answer: Response, longest: int) -> Iterator[bytes]:
    """A body up to a length."""
    for piece in answer.iter_content(_PIECE):
        yield piece
        longest -= len(piece)
        if longest <= 0:
            return


def _attempt(logs: SparkLogs, application: str, attempt: Mapping[str, Any]) -> ApplicationLog:
    below = quote(application, safe="")
    if attempt.get("attemptId"):
        below += f"/{quote(attempt['attemptId'], safe='')}"
    zipped = LogFile(
        url=f"{logs.path.rstrip('/')}/api/v1/applications/{below}/logs",
        origin=f"{logs.label.rstrip('/')}/{below}",
        size=0,
        position=str(attempt["lastUpdated"]),
    )
    return ApplicationLog(zipped, (zipped,), growing=not attempt["completed"])


@contextmanager
def download_log(
    origin: str, url: str, authorization: str
) -> Iterator[tuple[ApplicationLog, OpenFile]]:
    """Download an attempt's log; yields it with a function that opens its files by their URLs.

    Args:
        origin: The attempt's, from the listing; a compacted log gets an origin of its own.

    Raises:
        DownloadError: The zip cannot be downloaded, or holds no log.
    """
    with tempfile.TemporaryFile() as file:
        with _answer(url, authorization) as answer:
            file.writelines(answer.iter_content(_PIECE))
        try:
            archive = ZipFile(file)
        except BadZipFile as error:
            raise DownloadError("the zip is incomplete") from error
        with archive:
            logs = application_logs(_members(archive, origin))
            if len(logs) != 1:
                raise DownloadError(f"the zip holds {len(logs)} logs")
            [log] = logs
            if not log.log.origin.endswith(COMPACTED):
                log = replace(log, log=replace(log.log, origin=origin))
            yield log, partial(_Member, archive)


def _members(archive: ZipFile, origin: str) -> Iterator[LogFile]:
    for member in archive.infolist():
        if not member.is_dir():
            name = member.filename.rpartition("/")[2]
            size = member.file_size
            yield LogFile(member.filename, f"{origin}/{name}", size, f"{size}@0")


class _Member:
    """A file in a zip; damage is an OSError, as for other files."""

    def __init__(self, archive: ZipFile, name: str) -> None:
        self._file: IO[bytes] = archive.open(name)

    def __enter__(self) -> _Member:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def read(self, size: int, /) -> bytes:
        try:
            return self._file.read(size)
        except (BadZipFile, zlib.error, EOFError) as error:
            raise OSError("the zip is damaged") from error


@contextmanager
def _answer(url: str, authorization: str) -> Iterator[Response]:
    """A response of status 200, its body not read yet; a busy server is asked again."""
    headers = {"Authorization": authorization} if authorization else {}
    try:
        with (
            http_session(_RETRIES) as session,
            session.get(url, headers=headers, stream=True, timeout=_SILENCE) as answer,
        ):
            if not answer.ok:
                hint = "; see `authorization` in graft.yml" if answer.status_code in _DENIED else ""
                raise DownloadError(f"HTTP status {answer.status_code}{hint}")
            yield answer
    except RequestException as error:
        _log.debug("the History Server did not answer", exc_info=True)
        raise DownloadError(http_reason(error)) from error
    except GraftError as error:
        raise DownloadError(f"{error.problem}; {error.remedy}") from error
