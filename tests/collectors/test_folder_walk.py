"""Folders with links, and folders that cannot be listed: each log once, and the rest reported."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyarrow import fs

from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.collectors.files import accept_all, filesystem, log_files
from dbt_graft.collectors.folder_walk import remote_files
from dbt_graft.lineage.errors import GraftError
from tests.cases import for_each

BACK = "the link leads back to a folder above it, and is not followed"
LISTED = "the link leads to a folder that is listed already"
UNLISTED = "this folder cannot be listed: Permission denied"
# Bytes that listing takes for each log, the list itself with it.
BYTES_PER_LOG = 1_200


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A folder with four logs, and one beside it with another."""
    for name in ("logs/a.xml", "logs/b.xml", "logs/sub/c.xml", "logs/sub/d.xml", "other/e.xml"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    return tmp_path / "logs"


FOUR = ["logs/a.xml", "logs/b.xml", "logs/sub/c.xml", "logs/sub/d.xml"]
# Links, by what they lead to: the logs more, and what is reported, by its subject.
LINKS: dict[str, tuple[dict[str, str], list[str], dict[str, str]]] = {
    "to itself": ({"self": "."}, [], {"logs/self": BACK}),
    "two to itself": (
        {"one": ".", "sub/two": ".."},
        [],
        {"logs/one": BACK, "logs/sub/two": BACK},
    ),
    "to the folder above": ({"up": ".."}, [], {"logs/up": BACK}),
    "to the root": ({"sub/root": "/"}, [], {"logs/sub/root": BACK}),
    "to a folder beside": ({"a-link": "sub"}, [], {"logs/a-link": LISTED}),
    "to another folder": ({"more": "../other"}, ["logs/more/e.xml"], {}),
    "two to another folder": (
        {"more": "../other", "twice": "../other"},
        ["logs/more/e.xml"],
        {"logs/twice": LISTED},
    ),
    "to a log": ({"0-latest.xml": "b.xml"}, [], {}),
    "to another log": ({"more.xml": "../other/e.xml"}, ["logs/more.xml"], {}),
    "to nothing": (
        {"gone.xml": "none"},
        [],
        {"logs/gone.xml": "the link cannot be followed: No such file or directory"},
    ),
    "to each other": (
        {"x.xml": "y.xml", "y.xml": "x.xml"},
        [],
        {
            f"logs/{name}.xml": "the link cannot be followed: Too many levels of symbolic links"
            for name in "xy"
        },
    ),
}


def listed(
    path: Path, accepts: Callable[..., bool] = accept_all
) -> tuple[list[str], list[Finding]]:
    """The origins below a folder, and what was reported."""
    reported: list[Finding] = []
    logs = log_files(str(path), "logs", accepts, reported.append)
    return [log.origin for log in logs], reported


@pytest.mark.parametrize("kind", LINKS)
def test_each_log_is_listed_once_whatever_links_lead_to_it(kind: str, logs: Path) -> None:
    links, further, reported = LINKS[kind]
    for name, target in links.items():
        (logs / name).symlink_to(target)
    origins, findings = listed(logs)
    assert origins == sorted([*FOUR, *further])
    assert {finding.subject: finding.problem for finding in findings} == reported
    assert {finding.severity for finding in findings} <= {Severity.NOTE}


def test_two_folders_that_link_to_each_other_end(logs: Path) -> None:
    (logs / "sub/other").symlink_to("../../other")
    (logs.parent / "other/back").symlink_to("../logs")
    (logs.parent / "other/self").symlink_to(".")
    origins, findings = listed(logs)
    assert origins == [*FOUR[:3], "logs/sub/d.xml", "logs/sub/other/e.xml"]
    assert [(finding.subject, finding.problem) for finding in findings] == [
        ("logs/sub/other/back", LISTED),
        ("logs/sub/other/self", BACK),
    ]


def test_a_folder_behind_two_links_of_which_one_is_above_the_other_counts_once(logs: Path) -> None:
    (logs.parent / "other/deep").mkdir()
    (logs.parent / "other/deep/f.xml").write_text("x")
    (logs / "deep").symlink_to("../other/deep")
    (logs / "other").symlink_to("../other")
    assert listed(logs) == ([*FOUR[:2], "logs/deep/f.xml", "logs/other/e.xml", *FOUR[2:]], [])


def test_a_log_with_two_names_is_listed_once(logs: Path) -> None:
    os.link(logs / "a.xml", logs / "sub/again.xml")
    assert listed(logs) == (FOUR, [])


def test_of_two_names_of_a_file_the_one_of_a_log_counts(logs: Path) -> None:
    (logs / "0-data").write_text("x")
    os.link(logs / "0-data", logs / "c.xml")
    (logs / "1-data").write_text("x")
    (logs / "d.xml").symlink_to("1-data")
    origins, _ = listed(logs, lambda log: log.url.endswith(".xml"))
    assert origins == [*FOUR[:2], "logs/c.xml", "logs/d.xml", *FOUR[2:]]


def test_what_is_no_file_is_not_opened(logs: Path) -> None:
    os.mkfifo(logs / "pipe.xml")
    (logs / "zero.xml").symlink_to("/dev/zero")
    assert listed(logs) == (FOUR, [])


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The names of folders that this account may not list; a test adds some."""
    names: set[str] = set()
    scandir = os.scandir

    def scan(path: str) -> Iterator[os.DirEntry[str]]:
        if Path(path).name in names:
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    # As root, no folder is closed.
    monkeypatch.setattr(os, "scandir", scan)
    return names


def test_a_folder_that_cannot_be_listed_costs_its_own_logs(logs: Path, closed: set[str]) -> None:
    closed.add("sub")
    origins, findings = listed(logs)
    assert origins == FOUR[:2]
    assert findings == [
        Finding(
            *("FOLDER", Severity.WARNING, "logs/sub", UNLISTED),
            "let this account read it; the next collect reads its logs",
        )
    ]
    closed.clear()
    assert listed(logs) == (FOUR, [])


def test_a_source_that_cannot_be_listed_at_all_is_an_error(logs: Path, closed: set[str]) -> None:
    closed.add("logs")
    with pytest.raises(GraftError, match=r"^logs: cannot be listed: Permission denied$"):
        listed(logs)


def test_a_glob_whose_folder_cannot_be_listed_has_no_logs_yet(logs: Path, closed: set[str]) -> None:
    closed.add("sub")
    reported: list[Finding] = []
    assert log_files(f"{logs}/*/c*", "logs/*/c*", accept_all, reported.append) == []
    assert [finding.subject for finding in reported] == ["logs/sub"]


def test_a_remote_folder_that_cannot_be_listed_costs_its_own_logs(logs: Path) -> None:
    local, top = filesystem(f"file://{logs}")

    class Remote:
        def get_file_info(self, selector: fs.FileSelector) -> list[fs.FileInfo]:
            if selector.recursive or selector.base_dir.endswith("/sub"):
                raise PermissionError(13, "Permission denied")
            return local.get_file_info(selector)

    (logs / "open").mkdir()
    (logs / "open/f.xml").write_text("x")
    reported: list[Finding] = []
    files = remote_files(Remote(), top, "logs/", reported.append)  # type: ignore[arg-type]
    assert sorted(file.below for file in files) == ["/a.xml", "/b.xml", "/open/f.xml"]
    assert [(finding.subject, finding.problem) for finding in reported] == [("logs/sub", UNLISTED)]


def test_a_glob_lists_no_folder_that_it_does_not_name(logs: Path, closed: set[str]) -> None:
    for name in ("crm/events/f.xml", "crm/private/g.xml", "crm/2026/h.xml"):
        (logs / name).parent.mkdir(parents=True, exist_ok=True)
        (logs / name).write_text("x")
    (logs / "crm/now").symlink_to("2026")
    closed.add("private")
    reported: list[Finding] = []
    globs = {
        "*/events": ["logs/crm/events/f.xml"],
        "*/events/*.xml": ["logs/crm/events/f.xml"],
        "crm/now/*": ["logs/crm/now/h.xml"],
        "c*/n?w": ["logs/crm/now/h.xml"],
    }
    for glob, origins in globs.items():
        matches = log_files(f"{logs}/{glob}", f"logs/{glob}", accept_all, reported.append)
        assert [log.origin for log in matches] == origins
    assert reported == []
    matches = log_files(f"{logs}/**/f.xml", "logs/**/f.xml", accept_all, reported.append)
    assert [log.origin for log in matches] == ["logs/crm/events/f.xml"]
    assert [finding.subject for finding in reported] == ["logs/crm/private", "logs/crm/now"]


NAMES = {
    "a line break": "a\nb.xml",
    "quotes": "a'b\"c`d.xml",
    "an emoji": "🪵.xml",
    "two dots": "a..b...xml",
    "255 bytes": f"{'ä' * 125}b.xml",
    "a tab and an escape": "a\t\x1b[31m.xml",
    "a backslash": "a\\..\\b.xml",
    "what a URL or a glob would read": "a%2F?*#[1]{2}.xml",
}


@for_each("name", NAMES.values(), ids=NAMES)
def test_a_log_is_opened_whatever_it_is_called(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(name)
    for path in (str(tmp_path), f"file://{tmp_path}"):
        (log,) = log_files(path, "logs")
        files, below = filesystem(log.url)
        with files.open_input_file(below) as file:
            assert (log.origin, file.read().decode()) == (f"logs/{name}", name)


def test_a_name_that_is_not_utf_8_is_reported_and_the_rest_listed(logs: Path) -> None:
    Path(os.fsdecode(os.fsencode(logs) + b"/\xff\n.xml")).write_text("x")
    origins, findings = listed(logs)
    assert origins == FOUR
    assert [(finding.subject, finding.problem) for finding in findings] == [
        ("logs/\\udcff\n.xml", "its name is not UTF-8: it is left out")
    ]


def test_a_log_has_the_position_that_arrow_gives_it(logs: Path) -> None:
    """Arrow listed the logs of stores that exist: what they hold is not new."""
    info = fs.LocalFileSystem().get_file_info(str(logs / "a.xml"))
    (log,) = log_files(str(logs / "a.xml"), "logs/a.xml")
    assert log_files(str(logs), "logs")[0].position == log.position == f"1@{info.mtime_ns}"


def list_many(folder: Path, count: int) -> None:
    """Make so many logs, and list them in the memory that they may take."""
    for number in range(count):
        (folder / f"log-{number:06}.xml").touch()
    log_files(str(folder), "logs")  # What is loaded on first use is no memory of the listing.
    # Other threads of a test run allocate, too: the least of a few counts.
    assert min(_peak(folder, count) for _ in range(3)) < BYTES_PER_LOG * count


def _peak(folder: Path, count: int) -> int:
    tracemalloc.start()
    try:
        logs = log_files(str(folder), "logs")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(logs) == count
    return peak


def test_many_small_logs_take_little_memory(tmp_path: Path) -> None:
    list_many(tmp_path, 3_000)


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_hundred_thousand_small_logs_take_little_memory(tmp_path: Path) -> None:
    list_many(tmp_path, 100_000)
