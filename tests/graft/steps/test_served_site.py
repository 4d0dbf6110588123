"""A site is served as by a web server: subpath, 404 page, nothing above it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path

import pytest

from dbt_graft.graft.steps.served_site import SiteVersion, check_site, site_server
from dbt_graft.lineage.errors import GraftError


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    (folder / "tasks/load").mkdir(parents=True)
    (folder / "index.html").write_text("home")
    (folder / "tasks/load/index.html").write_text("load")
    (folder / "404.html").write_text("not here")
    (tmp_path / "secret.txt").write_text("secret")
    return folder


@contextmanager
def served(
    site: Path,
    url: str = "",
    version: SiteVersion | None = None,
    allowed_hosts: Sequence[str] = (),
) -> Iterator[int]:
    with site_server(site, url, 0, version, allowed_hosts) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server.server_port
        server.shutdown()


def answer_of(port: int, path: str, method: str = "GET", **headers: str) -> HTTPResponse:
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request(method, path, headers=headers)
    return connection.getresponse()


def get(port: int, path: str, method: str = "GET") -> tuple[int, str]:
    answer = answer_of(port, path, method)
    text = answer.read().decode()
    return answer.status, answer.headers.get("Location") or text


@pytest.mark.parametrize(
    ("url", "path", "answer"),
    [
        ("", "/", (200, "home")),
        ("", "/index.html?q=1", (302, "/")),
        ("", "/tasks/load/", (200, "load")),
        ("", "/tasks/load/index.html", (302, "/tasks/load/")),
        ("", "/tasks/", (404, "not here")),
        ("", "/tasks/gone/index.html", (404, "not here")),
        ("", "/../secret.txt", (404, "not here")),
        ("", "/%2e%2e/secret.txt", (404, "not here")),
        ("https://shop.github.io/lineage/", "/lineage/", (200, "home")),
        (
            "https://shop.github.io/lineage/",
            "/lineage/tasks/load/index.html",
            (302, "/lineage/tasks/load/"),
        ),
        ("https://shop.github.io/lineage", "/lineage/gone.html", (404, "not here")),
        ("https://shop.github.io/lineage/", "/", (302, "/lineage/")),
        ("https://shop.github.io/lineage/", "/lineage", (302, "/lineage/")),
        ("https://shop.github.io/lineage/", "/tasks/load/index.html", (404, "not here")),
        ("https://shop.github.io/a/b/", "/a", (302, "/a/b/")),
        ("https://shop.github.io/a/b/", "/a/b/tasks/load", (302, "/a/b/tasks/load/")),
        ("", "/tasks/load", (302, "/tasks/load/")),
        ("", "//tasks/load", (302, "/tasks/load/")),
        ("", "//tasks/load/index.html", (302, "/tasks/load/")),
        ("", "/%00", (404, "not here")),
        ("", "/tasks%00/load/", (404, "not here")),
        ("", "/%ed%a0%80", (404, "not here")),
        ("", "/" + "a" * 300, (404, "not here")),
        ("", "/" + "a/" * 3_000, (404, "not here")),
    ],
)
def test_an_address_answers_as_the_published_one(
    site: Path, url: str, path: str, answer: tuple[int, str]
) -> None:
    with served(site, url) as port:
        assert get(port, path) == answer


@pytest.mark.parametrize(
    ("address", "status"), [("/" + "a" * 70_000, 414), ("http://[x/", 400), ("*", 404)]
)
def test_an_address_that_is_none_is_an_answer_and_no_traceback(
    site: Path, address: str, status: int, capfd: pytest.CaptureFixture[str]
) -> None:
    with served(site) as port:
        assert answer_of(port, address, Host="localhost").status == status
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("link", "target", "path", "answer"),
    [
        ("out", "..", "/out/secret.txt", (404, "not here")),
        ("out", "..", "/out/", (404, "not here")),
        ("out", "..", "/out", (404, "not here")),
        ("out.html", "../secret.txt", "/out.html", (404, "not here")),
        ("tasks/index.html", "../../secret.txt", "/tasks/", (404, "not here")),
        ("ring.html", "ring.html", "/ring.html", (404, "not here")),
        ("in", "tasks", "/in/load/", (200, "load")),
    ],
)
@pytest.mark.parametrize("is_watched", [False, True])
def test_a_link_is_followed_only_within_the_site(
    site: Path, link: str, target: str, path: str, answer: tuple[int, str], is_watched: bool
) -> None:
    (site / link).symlink_to(target)
    with served(site, version=SiteVersion() if is_watched else None) as port:
        status, text = get(port, path)
    assert (status, text.partition("<script>")[0]) == answer


def test_a_404_page_that_leads_out_of_the_site_is_not_shown(site: Path) -> None:
    (site / "404.html").unlink()
    (site / "404.html").symlink_to("../secret.txt")
    with served(site) as port:
        assert "secret" not in get(port, "/gone")[1]


def test_a_site_behind_a_link_is_served(site: Path, tmp_path: Path) -> None:
    (tmp_path / "newest").symlink_to(site)
    with served(tmp_path / "newest") as port:
        assert get(port, "/tasks/load/") == (200, "load")


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LocalHost:8000", 200),
        ("127.0.0.1:8000", 200),
        ("[::1]", 200),
        ("[::1]:8000", 200),
        ("docs.shop.example", 200),
        ("evil.example", 421),
        ("localhost.evil.example", 421),
        ("evil.example:8000", 421),
        ("localhost@evil.example", 421),
        ("[::1", 421),
        ("", 421),
    ],
)
@pytest.mark.parametrize("path", ["/", "/gone", "/.graft/version"])
def test_only_the_names_of_this_machine_are_served(
    site: Path, host: str, status: int, path: str
) -> None:
    """So that a page elsewhere cannot read the site by a name that it lets point here."""
    with served(site, "", SiteVersion(), ["Docs.shop.example"]) as port:
        answer = answer_of(port, path, Host=host)
        assert answer.status == (404 if status == 200 and path == "/gone" else status)
        assert ("--allowed-host" in answer.read().decode()) == (status == 421)


def test_a_browser_that_goes_before_it_has_its_answer_is_no_error(
    site: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (site / "large").write_bytes(bytes(1 << 24))
    with served(site) as port:
        with socket.create_connection(("127.0.0.1", port)) as browser:
            browser.sendall(b"GET /large HTTP/1.0\r\nHost: localhost\r\n\r\n")
            # Closed with what was not read: the server gets a reset.
            browser.recv(1)
        assert get(port, "/") == (200, "home")
    assert capfd.readouterr().err == ""


def test_a_missing_page_has_no_body_for_head(site: Path) -> None:
    with served(site, "") as port:
        assert get(port, "/gone", "HEAD") == (404, "")


def test_a_folder_without_a_site_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(GraftError, match="there is no site here") as caught:
        check_site(tmp_path)
    assert caught.value.remedy == "run `graft build`"


def test_a_port_that_is_taken_is_an_error(site: Path) -> None:
    with served(site, "") as port, pytest.raises(GraftError, match="cannot be used") as caught:
        site_server(site, "", port)
    assert caught.value.place == f"port {port}"


@pytest.mark.parametrize(
    ("file", "type_"),
    [
        ("a.html", "text/html; charset=utf-8"),
        ("a.JS", "text/javascript; charset=utf-8"),
        ("a.css", "text/css; charset=utf-8"),
        ("a.json", "application/json"),
        ("a.svg", "image/svg+xml; charset=utf-8"),
        ("pagefind/wasm.en.pagefind", "application/octet-stream"),
        ("pagefind/a.pf_meta", "application/octet-stream"),
        ("a.wasm", "application/wasm"),
        ("sitemap.xml.gz", "application/gzip"),
        ("LICENSE", "application/octet-stream"),
    ],
)
def test_files_have_the_type_of_their_end(site: Path, file: str, type_: str) -> None:
    (site / "pagefind").mkdir()
    (site / file).write_bytes(b"content")
    with served(site) as port:
        answer = answer_of(port, f"/{file}")
    assert answer.status == 200
    assert answer.headers["Content-Type"] == type_
    assert answer.headers["Content-Encoding"] is None


def test_a_browser_asks_again_and_gets_only_what_changed(site: Path) -> None:
    with served(site) as port:
        first = answer_of(port, "/tasks/load/")
        assert first.headers["Cache-Control"] == "no-cache"
        tag, date = first.headers["ETag"], first.headers["Last-Modified"]
        again = answer_of(port, "/tasks/load/", **{"If-None-Match": tag})
        assert (again.status, again.read()) == (304, b"")
        (site / "tasks/load/index.html").write_text("LOAD")  # in the same second
        both = {"If-None-Match": tag, "If-Modified-Since": date}
        changed = answer_of(port, "/tasks/load/", **both)
        assert (changed.status, changed.read()) == (200, b"LOAD")
        assert answer_of(port, "/gone").headers["ETag"] is None


def test_pages_reload_after_a_build_only_while_inputs_are_watched(site: Path) -> None:
    (site / "index.html").write_text("<body>home</body></html>")
    (site / "data.json").write_text("{}")
    with served(site, "https://x.example/a/") as port:
        assert get(port, "/a/") == (200, "<body>home</body></html>")
        assert get(port, "/a/.graft/version") == (404, "not here")
    version = SiteVersion()
    with served(site, "https://x.example/a/", version) as port:
        before = answer_of(port, "/a/")
        home = before.read().decode()
        assert home.startswith("<body>home<script>")
        assert home.endswith("</script></body></html>")
        assert int(before.headers["Content-Length"]) == len(home)
        assert f'"{version.text}"' in home
        assert '"/a/.graft/version"' in home
        assert get(port, "/a/.graft/version") == (200, version.text)
        assert "<script>" in get(port, "/a/gone")[1], "it may be there after the next build"
        assert get(port, "/a/data.json") == (200, "{}")
        version.increase()
        assert f'"{version.text}"' not in home
        assert get(port, "/a/.graft/version") == (200, version.text)
        tag = {"If-None-Match": before.headers["ETag"]}
        assert answer_of(port, "/a/", **tag).status == 200, "with the script of the version now"
    assert (site / "index.html").read_text() == "<body>home</body></html>"


def test_another_process_is_another_version() -> None:
    assert SiteVersion().text != SiteVersion().text
