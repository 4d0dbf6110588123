"""`graft check --only links`: links of runbooks against the addresses of the store."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dbt_graft.collectors.store import door as store
from dbt_graft.graft.commands.cli import main
from tests.analysis.checks.test_links import ADDRESSES, SITE
from tests.graft.commands.answers import read_answer


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "graft.yml").write_text(f"site: {{url: '{SITE}'}}\nstore: store\n")
    store.write_addresses(str(tmp_path / "store"), ADDRESSES)
    return tmp_path


def _check(project: Path, link: str, *arguments: str) -> Result:
    command = ["check", "--only", "links", "--links", link, "-c", str(project / "graft.yml")]
    return CliRunner().invoke(main, [*command, "--fail-on", "warning", *arguments])


def test_the_report_names_each_bad_link_with_its_line(project: Path) -> None:
    runbooks = project / "runbooks"
    (runbooks / ".git").mkdir(parents=True)
    (runbooks / ".git/config").write_text(f"{SITE}tasks/never/")
    (runbooks / "picture.png").write_bytes(b"\0" + SITE.encode())
    (runbooks / "load.md").write_text(
        f"# Load\n\n[orders]({SITE}datasets/spark/raw/orders/)\n{SITE}tasks/never/\n"
        f"{SITE}tasks/old_load/ {SITE}datasets/spark/raw/stage/\n"
    )
    result = _check(project, str(runbooks))
    file = runbooks / "load.md"
    assert (
        result.output
        == f"""\
links to the site: 4 links
  lead to a page                     1
  lead to a page that has moved      1
  lead to something that is gone     1
  were never an address of the site  1

error: LINK_GONE (1)
  {file}:5: {SITE}tasks/old_load/: is gone since 2026-11-20
  do: take it out

error: LINK_MISSING (1)
  {file}:4: {SITE}tasks/never/: is not a page of the site
  do: correct it: it may be misspelt

note: LINK_MOVED (1)
  {file}:5: {SITE}datasets/spark/raw/stage/: has moved to {SITE}datasets/spark/raw/orders/
  do: write the new address

2 errors, 1 note
"""
    )
    assert result.exit_code == 3


def test_links_that_lead_to_pages_are_fine(project: Path) -> None:
    result = _check(project, f"{SITE}datasets/spark/raw/stage/")
    assert result.exit_code == 0
    assert "has moved to" in result.output


def test_json_has_every_link(project: Path) -> None:
    answer = read_answer(_check(project, f"{SITE}tasks/old_load/", "--json").stdout)
    [link] = answer["data"]["links"]["links"]
    assert link == {
        "url": f"{SITE}tasks/old_load/",
        "file": None,
        "line": None,
        "state": "gone",
        "moved_to": None,
        "gone_since": "2026-11-20T00:00:00Z",
    }


@pytest.fixture
def wiki(tmp_path: Path) -> Iterator[str]:
    class Handler(SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path.partition("?")[0] == "/oncall" else 404)
            self.end_headers()
            self.wfile.write(f'<a href="{SITE}tasks/never/">'.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def test_a_page_elsewhere_is_fetched(project: Path, wiki: str) -> None:
    secret = wiki.replace("://", "://ada:s3cret@")
    result = _check(project, f"{secret}/oncall?token=s3cret")
    assert "s3cret" not in result.output
    assert f"{wiki}/oncall:1: {SITE}tasks/never/: is not a page of the site" in result.output
    assert result.exit_code == 3


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["nowhere.md"], "error: nowhere.md: there is no such file"),
        (["{secret}/x?token=s3cret"], "error: {wiki}/x: answers with 404"),
    ],
)
def test_what_cannot_be_read_is_an_error(
    arguments: list[str], error: str, project: Path, wiki: str
) -> None:
    secret = wiki.replace("://", "://ada:s3cret@")
    result = _check(project, *(argument.format(secret=secret) for argument in arguments))
    assert result.output.strip() == error.format(wiki=wiki)
    assert result.exit_code == 1


def test_without_an_address_of_the_site_it_asks_for_one(project: Path) -> None:
    (project / "graft.yml").write_text("store: store\n")
    result = _check(project, "x.md")
    assert "`site.url`: the address of the site is not known" in result.output
    result = _check(project, f"{SITE}tasks/never/", "--site", SITE)
    assert "links to the site: 1 link\n" in result.output


def test_before_the_first_build_it_says_so(project: Path) -> None:
    (project / "store/addresses.parquet").unlink()
    assert "no page was published yet" in _check(project, "x.md").output
