"""A server of the published site on this machine, which answers as a web server would."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Collection, Iterable, Sequence
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dbt_graft.lineage.errors import GraftError

HOST = "127.0.0.1"
# As this machine calls itself. A page of another site may point a name of its own here, and would
# read the site under that name.
_HOSTS = (HOST, "localhost", "::1")
_TEXT = "; charset=utf-8"
# By the end of a file's name: the tables that systems have differ, and some of them are wrong.
_TYPES = {
    ".css": f"text/css{_TEXT}",
    ".gz": "application/gzip",
    ".html": f"text/html{_TEXT}",
    ".ico": "image/x-icon",
    ".jpg": "image/jpeg",
    ".js": f"text/javascript{_TEXT}",
    ".json": "application/json",
    ".map": "application/json",
    ".mjs": f"text/javascript{_TEXT}",
    ".png": "image/png",
    ".svg": f"image/svg+xml{_TEXT}",
    ".txt": f"text/plain{_TEXT}",
    ".wasm": "application/wasm",
    ".webp": "image/webp",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
    ".xml": f"application/xml{_TEXT}",
}
# Of all others; Pagefind's among them, which are compressed and unpacked by its loader.
_BYTES = "application/octet-stream"
# Asked by open pages, below the path of the site; no page can have the address.
_VERSION = ".graft/version"
# In pages that are served while inputs are watched, never in the published files.
_RELOAD = """
<script>
(() => {{
  "use strict";
  const ask = async () => {{
    if (document.hidden) return;
    try {{
      const answer = await fetch("{base}{version}", {{ cache: "no-store" }});
      if (answer.ok && (await answer.text()) !== "{now}") location.reload();
    }} catch {{
      // The server has ended; it may be started again.
    }}
  }};
  setInterval(ask, 1000);
}})();
</script>
""".strip()


class SiteVersion:
    """The number of times that the site was published since the server was started.

    Attributes:
        text: Another one after each build, and in each process.
    """

    def __init__(self) -> None:
        self._number = 0
        self._process = os.urandom(4).hex()

    @property
    def text(self) -> str:
        return f"{self._process}-{self._number}"

    def increase(self) -> None:
        """Open pages load themselves again."""
        self._number += 1


class SitePages(SimpleHTTPRequestHandler):
    """Answers with the files of a site below its subpath, elsewhere with its 404 page.

    Args:
        hosts: The names under which it may be asked, in lower case.
    """

    def __init__(
        self,
        *args: Any,
        base: str,
        hosts: Collection[str],
        version: SiteVersion | None = None,
        **options: Any,
    ) -> None:
        self._base, self._hosts, self._version = base, hosts, version
        self._tag = ""
        super().__init__(*args, **options)

    def parse_request(self) -> bool:
        """Read a request; one for another host than this is refused."""
        if not super().parse_request():
            return False
        if _host_name(self.headers.get_all("Host", [])) in self._hosts:
            return True
        self.send_error(
            HTTPStatus.MISDIRECTED_REQUEST,
            explain="The site is not served under this name: graft serve --allowed-host NAME",
        )
        return False

    def guess_type(self, path: Any) -> str:
        """The type by the end of a file's name, the same on every system."""
        return _TYPES.get(Path(path).suffix.lower(), _BYTES)

    def send_head(self) -> Any:
        """Open the file of a request; the address above the site leads to it."""
        self._tag = ""
        try:
            path = urlsplit(self.path).path
        except ValueError:
            self.send_error(HTTPStatus.BAD_REQUEST)
            return None
        if self._version and path == self._base + _VERSION:
            return self._content(self._version.text.encode(), f"text/plain{_TEXT}")
        if path.startswith(self._base):
            self.path = path[len(self._base) - 1 :]
            return self._file()
        if self._base.startswith(path.rstrip("/") + "/"):
            self._redirect(self._base)
        else:
            self.send_error(HTTPStatus.NOT_FOUND)
        return None

    def _redirect(self, path: str) -> None:
        self.send_response(HTTPStatus.FOUND)
        self.send_header("Location", path)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _file(self) -> Any:
        """Open a file, unless the browser has it as it is."""
        file = self._inside(Path(self.translate_path(self.path)))
        if file and file.is_dir():
            if not self.path.endswith("/"):
                self._redirect(f"{self._base}{self.path.strip('/')}/")
                return None
            file = self._inside(file / "index.html")
        elif file and self.path.endswith("/index.html"):  # the permanent address is the folder
            self._redirect(f"{self._base}{self.path.strip('/').removesuffix('index.html')}")
            return None
        if not file:
            self.send_error(HTTPStatus.NOT_FOUND)
            return None
        status = file.stat()
        self._tag = f'"{status.st_mtime_ns:x}-{status.st_size:x}-{self._version_text}"'
        if self.headers.get("If-None-Match") == self._tag:
            self.send_response(HTTPStatus.NOT_MODIFIED)
            self.end_headers()
            return None
        # By the second only: two builds may be in one.
        del self.headers["If-Modified-Since"]
        if self._version and file.suffix == ".html" and file.is_file():
            return self._content(self._add_reload(file.read_bytes()), self.guess_type(file))
        return super().send_head()

    def _inside(self, path: Path) -> Path | None:
        """The file or folder at a path, links followed; None where the site has none."""
        try:
            file = path.resolve(strict=True)
        except (
            OSError,
            ValueError,
            RuntimeError,
        ):  # no file system has such a name; links in a ring
            return None
        return file if file.is_relative_to(Path(self.directory).resolve()) else None

    @property
    def _version_text(self) -> str:
        return self._version.text if self._version else ""

    def _add_reload(self, page: bytes) -> bytes:
        """A page that loads itself again after the next build."""
        if not self._version:
            return page
        script = _RELOAD.format(base=self._base, version=_VERSION, now=self._version.text).encode()
        before, end, after = page.rpartition(b"</body>")
        return before + script + end + after if end else page + script

    def _content(
        self, content: bytes, type_: str, status: HTTPStatus = HTTPStatus.OK
    ) -> io.BytesIO:
        self.send_response(status)
        self.send_header("Content-Type", type_)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        return io.BytesIO(content)

    def list_directory(self, path: Any) -> None:
        """Show no list of files: a web server has none either."""
        self.send_error(HTTPStatus.NOT_FOUND)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Send an error, for a missing page the site's own."""
        self._tag = ""
        page = self._inside(Path(self.directory) / "404.html")
        if code != HTTPStatus.NOT_FOUND or not (page and page.is_file()):
            super().send_error(code, message, explain)
            return
        content = self._add_reload(page.read_bytes())
        body = self._content(content, self.guess_type(page), HTTPStatus(code))
        if self.command != "HEAD":
            self.copyfile(body, self.wfile)

    def end_headers(self) -> None:
        """Let browsers ask again before they show what they have: a build may have changed it."""
        self.send_header("Cache-Control", "no-cache")
        if self._tag:
            self.send_header("ETag", self._tag)
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Log no request."""


class SiteServer(ThreadingHTTPServer):
    """A server of a site; a browser that goes before it has its answer is no error."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print an error, unless the other side has closed the connection."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def site_server(
    site: Path,
    url: str,
    port: int,
    version: SiteVersion | None = None,
    allowed_hosts: Iterable[str] = (),
) -> SiteServer:
    """A server of a site, on this machine only and at the subpath of its `site.url`.

    Args:
        allowed_hosts: Further names of this machine, as a browser elsewhere knows it through a
            proxy or a tunnel.
        version: Pages load themselves again when it increases.

    Raises:
        GraftError: The port is taken.
    """
    hosts = {*_HOSTS, *(name.lower().strip("[]") for name in allowed_hosts)}
    handler = partial(
        SitePages, base=subpath(url), hosts=hosts, version=version, directory=str(site)
    )
    try:
        return SiteServer((HOST, port), handler)
    except OSError as error:
        raise GraftError(
            f"cannot be used: {error.strerror}", place=f"port {port}", remedy="name another: --port"
        ) from error


def check_site(site: Path) -> None:
    """Refuse a folder without a site.

    Raises:
        GraftError: There is none.
    """
    if not (site / "index.html").is_file():
        raise GraftError("there is no site here", place=str(site), remedy="run `graft build`")


def _host_name(headers: Sequence[str]) -> str:
    """The name in the header `Host`, without its port; empty if there is not just one."""
    try:
        [host] = headers
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def subpath(url: str) -> str:
    """The path at which a site is served: `/` or `/lineage/`."""
    path = urlsplit(url).path.strip("/")
    return f"/{path}/" if path else "/"
