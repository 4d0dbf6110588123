"""The command `graft serve`: the published site on this machine, as a web server would show it."""

from __future__ import annotations

from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from dbt_graft.graft.command import config_option, load_config
from dbt_graft.lineage.errors import GraftError

_HOST = "127.0.0.1"


class SitePages(SimpleHTTPRequestHandler):
    """Answers with the files of a site below its subpath, elsewhere with its 404 page."""

    def __init__(self, *args: Any, base: str, **options: Any) -> None:
        self._base = base
        super().__init__(*args, **options)

    def send_head(self) -> Any:
        """Open the file of a request; the address above the site leads to it."""
        path = urlsplit(self.path).path
        if path.startswith(self._base):
            self.path = self.path[len(self._base) - 1 :]
            return super().send_head()
        if self._base.startswith(path.rstrip("/") + "/"):
            self.send_response(HTTPStatus.FOUND)
            self.send_header("Location", self._base)
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self.send_error(HTTPStatus.NOT_FOUND)
        return None

    def list_directory(self, path: Any) -> None:
        """Show no list of files: a web server has none either."""
        self.send_error(HTTPStatus.NOT_FOUND)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Send an error, for a missing page the site's own."""
        page = Path(self.directory) / "404.html"
        if code != HTTPStatus.NOT_FOUND or not page.is_file():
            super().send_error(code, message, explain)
            return
        content = page.read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def end_headers(self) -> None:
        """Let no browser keep pages: the next build may change them."""
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Log no request."""


def site_server(site: Path, url: str, port: int) -> ThreadingHTTPServer:
    """A server of a site, on this machine only and at the subpath of its `site.url`.

    Raises:
        GraftError: There is no site, or the port is taken.
    """
    if not (site / "index.html").is_file():
        raise GraftError("there is no site here", place=str(site), remedy="run `graft build`")
    handler = partial(SitePages, base=_subpath(url), directory=str(site))
    try:
        return ThreadingHTTPServer((_HOST, port), handler)
    except OSError as error:
        raise GraftError(
            f"cannot be used: {error.strerror}", place=f"port {port}", remedy="name another: --port"
        ) from error


def _subpath(url: str) -> str:
    path = urlsplit(url).path.strip("/")
    return f"/{path}/" if path else "/"


@click.command(epilog="\b\nExample: graft build && graft serve --port 8080")
@config_option
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="Port of this machine; 0 for any that is free.",
)
def serve(config_path: Path | None, port: int) -> None:
    """Show the published site on this machine, until Ctrl-C.

    Pages lie below the path of `site.url`, as they will be when published. Nobody else can reach
    them: to publish, copy the folder to a web server.
    """
    config = load_config(config_path)
    with site_server(Path(config.path(config.site.out)), config.site.url, port) as server:
        address = f"http://{_HOST}:{server.server_port}{_subpath(config.site.url)}"
        click.echo(f"{address}  (Ctrl-C ends it)")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            click.echo()
