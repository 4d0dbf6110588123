"""`graft serve`: its address, and with `--watch` a build after each change."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest
from click.testing import CliRunner

from dbt_graft.graft.commands.cli import main
from tests.graft.small_project import declare, small_project

WAIT = 300  # seconds; the machine may be busy


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[tuple[str, int]]:
    """The address that the command prints, and its port; it ends by Ctrl-C."""
    command = [sys.executable, "-u", "-m", "dbt_graft", "serve", "--port", "0", *options]
    with (folder / "errors.txt").open("w") as errors:
        running = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=errors, text=True
        )
        assert running.stdout
        line = running.stdout.readline()
        try:
            yield line, int(line.split("/")[2].partition(":")[2])
        finally:
            running.send_signal(signal.SIGINT)
            assert running.wait(60) == 0


def get(port: int, path: str, host: str = "localhost") -> tuple[int, str]:
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path, headers={"Host": host})
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + WAIT
    while not holds():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.2)


def test_the_command_prints_the_address_and_ctrl_c_ends_it(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site/index.html").write_text("home")
    (tmp_path / "graft.yml").write_text("site: {out: site, url: 'https://x.example/a/'}")
    with serving(tmp_path) as (line, port):
        assert line.startswith(f"http://127.0.0.1:{port}/a/ ")
        assert get(port, "/a/") == (200, "home")


def test_another_name_of_the_machine_is_an_option(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site/index.html").write_text("home")
    (tmp_path / "graft.yml").write_text("site: {out: site}")
    with serving(tmp_path, "--allowed-host", "docs.example") as (_, port):
        assert get(port, "/", "docs.example:443") == (200, "home")
        assert get(port, "/", "evil.example")[0] == 421


def test_help_has_an_example_of_each_use() -> None:
    shown = CliRunner().invoke(main, ["serve", "--help"]).output
    assert "graft serve --watch" in shown
    assert "graft serve --port 8080" in shown


def test_a_change_of_an_input_builds_the_site_again(tmp_path: Path) -> None:
    small_project(tmp_path)
    table = "/datasets/spark/raw/{}/"
    with serving(tmp_path, "--watch") as (_, port):
        version = "/.graft/version"
        wait_until(lambda: get(port, table.format("orders"))[0] == 200)
        assert get(port, table.format("returns"))[0] == 404
        wait_until(lambda: get(port, version)[1].endswith("-1"))

        declare(tmp_path, "raw.orders", "raw.returns")
        wait_until(lambda: get(port, version)[1].endswith("-2"))
        assert get(port, table.format("returns"))[0] == 200

        published = (tmp_path / "build/site/index.html").read_bytes()
        (tmp_path / "graft.yml").write_text("colect: []\n")
        errors = tmp_path / "errors.txt"
        wait_until(lambda: "`colect` is not a key here" in errors.read_text())
        assert "changed: " in errors.read_text()
        assert get(port, "/")[0] == 200, "a build that fails leaves the site as it is"
        assert (tmp_path / "build/site/index.html").read_bytes() == published
        assert get(port, version)[1].endswith("-2")

        small_project(tmp_path)
        declare(tmp_path, "raw.orders", "raw.refunds")
        wait_until(lambda: get(port, version)[1].endswith("-3"))
        assert get(port, table.format("refunds"))[0] == 200
    assert b".graft/version" not in (tmp_path / "build/site/index.html").read_bytes()


@pytest.mark.parametrize("option", [[], ["--watch"]])
def test_a_project_without_a_site_is_an_error(option: list[str], tmp_path: Path) -> None:
    (tmp_path / "graft.yml").write_text("{}")
    command = [sys.executable, "-m", "dbt_graft", "serve", "--port", "0", *option]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "there is no site here" in done.stderr
    assert ("there is no manifest.json" in done.stderr) == bool(option)
