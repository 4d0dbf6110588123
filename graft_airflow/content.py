"""The bytes of the lineage file: from a path, or from a URL by way of a cache on disk.

Airflow runs each task, and emits each event, in a process of its own: what one has in memory is
gone with it. So a file from a URL stays on disk, for all processes of this user, with its ETag.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import tempfile
import time
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import unquote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from graft_airflow.errors import LineageFileError
from graft_airflow.settings import Settings

_WRITE = "write it with `graft export airflow-lineage --out FILE`"
_SET = "set AIRFLOW__GRAFT__LINEAGE to the path or URL of the file"
_LARGEST = 256 << 20
_CHUNK = 1 << 16
_NOT_MODIFIED = 304


def content_of(settings: Settings) -> bytes:
    """The lineage file as it is now, or as it was when its server last answered.

    Raises:
        LineageFileError: There is none.
    """
    location = settings.lineage
    if not location:
        raise LineageFileError("no file of collected lineage is named", _SET)
    scheme = location.partition("://")[0].lower() if "://" in location else ""
    if scheme in ("http", "https"):
        return _read_url(location, settings)
    if scheme == "file":
        location = unquote(urlsplit(location).path)
    elif scheme:
        raise LineageFileError(
            f"{scheme}:// is not supported for the file of collected lineage",
            "copy the file to a path that the workers see, or serve it by https://",
        )
    return _read_path(location)


def version_of(settings: Settings) -> tuple[object, ...]:
    """A key that differs once a local file does; that of a URL differs with the time."""
    location = settings.lineage
    if location.lower().startswith(("http://", "https://")):
        return (location, int(time.time() // max(settings.ttl, 1)))
    path = unquote(urlsplit(location).path) if location.lower().startswith("file://") else location
    try:
        status = os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return (location,)
    return (location, status.st_mtime_ns, status.st_size, status.st_ino)


def _read_path(location: str) -> bytes:
    path = Path(location)
    shown = f"the file of collected lineage, {path.name},"
    try:
        if path.stat().st_size > _LARGEST:
            raise LineageFileError(f"{shown} is larger than 256 MB", _WRITE)
        return path.read_bytes()
    except FileNotFoundError:
        raise LineageFileError(f"{shown} is missing", _WRITE) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no path"
        raise LineageFileError(f"{shown} cannot be read: {reason}", _WRITE) from None


def _read_url(url: str, settings: Settings) -> bytes:
    """The file from the cache while it is new, else from its server, else as it was."""
    cached = _Cached(url, settings.authorization)
    now = time.time()
    metadata = cached.metadata()
    before = cached.content(metadata)
    if abs(now - metadata.get("asked_at", 0)) < settings.ttl:
        if before is not None:
            return before
        if problem := metadata.get("problem"):
            raise LineageFileError(problem, _SET)
    etag = metadata.get("etag", "") if before is not None else ""
    try:
        fetched, new_etag = _fetch(url, etag, settings)
    except LineageFileError as error:
        cached.write(None, {**metadata, "asked_at": now, "problem": error.problem})
        if before is None:
            raise
        return before
    if fetched is None:
        cached.write(None, {**metadata, "asked_at": now, "problem": ""})
        return before or b""
    digest = hashlib.sha256(fetched).hexdigest()
    cached.write(fetched, {"asked_at": now, "etag": new_etag, "sha256": digest})
    return fetched


class _NoRedirectElsewhere(HTTPRedirectHandler):
    """Follows redirects, with the authorization only to the same server."""

    def redirect_request(self, req: Request, *args: Any, **kwargs: Any) -> Request | None:
        redirected = super().redirect_request(req, *args, **kwargs)
        if redirected and urlsplit(redirected.full_url)[:2] != urlsplit(req.full_url)[:2]:
            redirected.remove_header("Authorization")
        return redirected


def _fetch(url: str, etag: str, settings: Settings) -> tuple[bytes | None, str]:
    """The file and its ETag; no file where the server says that it has not changed."""
    deadline = time.monotonic() + settings.timeout
    headers = {"User-Agent": "graft-airflow", "Accept": "application/json"}
    if etag:
        headers["If-None-Match"] = etag
    if settings.authorization:
        headers["Authorization"] = settings.authorization
    try:
        request = Request(url, headers=headers)  # noqa: S310 (content_of lets http and https through)
        opener = build_opener(_NoRedirectElsewhere)
        with opener.open(request, timeout=max(settings.timeout, 0.001)) as answer:
            return _body(answer, deadline, settings), answer.headers.get("ETag", "")
    except HTTPError as error:
        if error.code == _NOT_MODIFIED:
            return None, etag
        raise LineageFileError(
            f"the URL of the collected lineage answered with HTTP {error.code}", _SET
        ) from None
    except (OSError, HTTPException, ValueError) as error:
        if isinstance(error, TimeoutError) or "timed out" in str(error):
            raise _timeout_error(settings) from None
        raise LineageFileError(
            f"the URL of the collected lineage cannot be read ({type(error).__name__})", _SET
        ) from None


def _body(answer: HTTPResponse, deadline: float, settings: Settings) -> bytes:
    """All that a server sends, if it is done in time: each part has a time limit of its own."""
    parts, size = [], 0
    while part := answer.read1(_CHUNK):
        parts.append(part)
        size += len(part)
        if time.monotonic() > deadline:
            raise _timeout_error(settings)
        if size > _LARGEST:
            raise LineageFileError("the collected lineage is larger than 256 MB", _SET)
    length = answer.headers.get("Content-Length", "")
    if length.isdigit() and int(length) != size:
        raise LineageFileError("the collected lineage was cut off by its server", _SET)
    return b"".join(parts)


def _timeout_error(settings: Settings) -> LineageFileError:
    return LineageFileError(
        f"the URL of the collected lineage did not answer in {settings.timeout:g} s", _SET
    )


class _Cached:
    """The file of a URL on this machine: in a folder of this user, which no other can write."""

    def __init__(self, url: str, authorization: str) -> None:
        key = hashlib.sha256(f"{authorization}\n{url}".encode("utf-8", "replace")).hexdigest()
        self._folder = _own_folder()
        self._key = key[:32]

    def metadata(self) -> dict[str, Any]:
        """The note about it: when its server was asked, its ETag, what was wrong; or nothing."""
        try:
            read = json.loads(self._read("json") or b"{}")
        except ValueError:
            return {}
        if not isinstance(read, dict) or not isinstance(read.get("asked_at", 0), (int, float)):
            return {}
        return read

    def content(self, metadata: dict[str, Any]) -> bytes | None:
        """The file, if it is the one that is meant."""
        digest = metadata.get("sha256")
        data = self._read("data") if digest else None
        if data is None or hashlib.sha256(data).hexdigest() != digest:
            return None
        return data

    def write(self, content: bytes | None, metadata: dict[str, Any]) -> None:
        """Keep what is known now; a disk that takes nothing is no error."""
        if content is not None:
            self._write("data", content)
        self._write("json", json.dumps(metadata).encode())

    def _read(self, kind: str) -> bytes | None:
        if not self._folder:
            return None
        try:
            return (self._folder / f"{self._key}.{kind}").read_bytes()
        except OSError:
            return None

    def _write(self, kind: str, content: bytes) -> None:
        if not self._folder:
            return
        beside = self._folder / f".{self._key}.{kind}.{os.getpid()}"
        try:
            beside.write_bytes(content)
            beside.replace(self._folder / f"{self._key}.{kind}")
        except OSError:
            with contextlib.suppress(OSError):
                beside.unlink()


def _own_folder() -> Path | None:
    """A folder for temporary files that is this user's alone; None where there is none."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"graft_airflow-{user}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = os.lstat(folder)
    except OSError:
        return None
    private = not hasattr(os, "getuid") or (status.st_uid == user and not status.st_mode & 0o022)
    return folder if stat.S_ISDIR(status.st_mode) and private else None
