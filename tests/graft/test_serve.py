"""`graft serve` shows the site as a web server would: subpath, 404 page, nothing above it."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest

from dbt_graft.graft.serve import site_server
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
def served(site: Path, url: str) -> Iterator[int]:
    with site_server(site, url, 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def get(port: int, path: str, method: str = "GET") -> tuple[int, str]:
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request(method, path)
    answer = connection.getresponse()
    text = answer.read().decode()
    return answer.status, answer.headers.get("Location") or text


@pytest.mark.parametrize(
    ("url", "path", "answer"),
    [
        ("", "/", (200, "home")),
        ("", "/index.html?q=1", (200, "home")),
        ("", "/tasks/load/", (200, "load")),
        ("", "/tasks/load/index.html", (200, "load")),
        ("", "/tasks/", (404, "not here")),
        ("", "/tasks/gone/index.html", (404, "not here")),
        ("", "/../secret.txt", (404, "not here")),
        ("", "/%2e%2e/secret.txt", (404, "not here")),
        ("https://shop.github.io/lineage/", "/lineage/", (200, "home")),
        ("https://shop.github.io/lineage/", "/lineage/tasks/load/index.html", (200, "load")),
        ("https://shop.github.io/lineage", "/lineage/gone.html", (404, "not here")),
        ("https://shop.github.io/lineage/", "/", (302, "/lineage/")),
        ("https://shop.github.io/lineage/", "/lineage", (302, "/lineage/")),
        ("https://shop.github.io/lineage/", "/tasks/load/index.html", (404, "not here")),
        ("https://shop.github.io/a/b/", "/a", (302, "/a/b/")),
    ],
)
def test_an_address_answers_as_the_published_one(
    site: Path, url: str, path: str, answer: tuple[int, str]
) -> None:
    with served(site, url) as port:
        assert get(port, path) == answer


def test_a_missing_page_has_no_body_for_head(site: Path) -> None:
    with served(site, "") as port:
        assert get(port, "/gone", "HEAD") == (404, "")


def test_a_folder_without_a_site_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(GraftError, match="there is no site here") as caught:
        site_server(tmp_path, "", 0)
    assert caught.value.remedy == "run `graft build`"


def test_a_port_that_is_taken_is_an_error(site: Path) -> None:
    with served(site, "") as port, pytest.raises(GraftError, match="cannot be used") as caught:
        site_server(site, "", port)
    assert caught.value.place == f"port {port}"


def test_the_command_prints_the_address_and_ctrl_c_ends_it(site: Path, tmp_path: Path) -> None:
    (tmp_path / "graft.yml").write_text("site: {out: site, url: 'https://x.example/a/'}")
    command = [sys.executable, "-u", "-m", "dbt_graft", "serve", "--port", "0"]
    running = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert running.stdout
    line = running.stdout.readline()
    port = int(line.split("/")[2].partition(":")[2])
    assert line.startswith(f"http://127.0.0.1:{port}/a/ ")
    assert get(port, "/a/") == (200, "home")
    running.send_signal(signal.SIGINT)
    assert running.wait(30) == 0
