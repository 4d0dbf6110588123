"""Files become logs, one an application, whoever wrote them; which of several copies counts."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from dbt_graft.collectors.files import LogFile
from dbt_graft.collectors.spark.listing import new_logs
from dbt_graft.collectors.spark.log.duplicates import (
    DuplicateLogs,
    LogClaim,
    covered_until,
    find_duplicates,
    log_variants,
    uncompacted_origin,
)
from dbt_graft.collectors.spark.log.files import ApplicationLog, SparkLogs, application_logs
from tests.cases import for_each


def logs_of(*names: str) -> list[ApplicationLog]:
    return application_logs(
        LogFile(f"s3a://b/l/{name}", f"l/{name}", 5, f"5@{at}") for at, name in enumerate(names)
    )


def layout(log: ApplicationLog) -> tuple[str, list[str], bool]:
    return log.log.origin, [part.url.rpartition("/")[2] for part in log.files], log.growing


@for_each(
    "names, origin, parts, growing",
    [
        (["app-1"], "l/app-1", ["app-1"], False),
        (["app-1.inprogress"], "l/app-1", ["app-1.inprogress"], True),
        (["app-1.lz4.inprogress", "app-1.lz4"], "l/app-1.lz4", ["app-1.lz4"], False),
        (
            [f"eventlog_v2_a/{n}" for n in ("appstatus_a", "events_10_a", "events_2_a")],
            "l/eventlog_v2_a",
            ["events_2_a", "events_10_a"],
            False,
        ),
        (
            ["eventlog_v2_a/appstatus_a.inprogress", "eventlog_v2_a/events_1_a.zstd"],
            "l/eventlog_v2_a",
            ["events_1_a.zstd"],
            True,
        ),
        (
            [f"eventlog_v2_a/{n}" for n in ("events_1_a", "events_2_a.compact", "events_3_a")],
            "l/eventlog_v2_a/events_2_a.compact",
            ["events_2_a.compact", "events_3_a"],
            False,
        ),
        (
            [f"eventlog_v2_a/{n}" for n in ("events_2_a", "events_2_a.compact")],
            "l/eventlog_v2_a/events_2_a.compact",
            ["events_2_a.compact"],
            False,
        ),
        (["eventlog_v2_a/appstatus_a"], "l/eventlog_v2_a", [], False),
        (
            [
                *("c/eventlog/7_10/eventlog", "c/eventlog/7_10/eventlog-2026-11-21--05-00.gz"),
                "c/eventlog/7_10/eventlog-2026-11-20--23-00.gz",
            ],
            "l/c/eventlog/7_10",
            ["eventlog-2026-11-20--23-00.gz", "eventlog-2026-11-21--05-00.gz", "eventlog"],
            False,
        ),
    ],
)
def test_a_log_has_its_files_in_order(
    names: list[str], origin: str, parts: list[str], growing: bool
) -> None:
    [log] = logs_of(*names)
    assert layout(log) == (origin, parts, growing)


def test_attempts_and_applications_are_logs_of_their_own() -> None:
    names = ["application_1_0001_1", "application_1_0001_2", "eventlog_v2_a_1/events_1_a_1"]
    assert [log.log.origin for log in logs_of(*names)] == [
        "l/application_1_0001_1",
        "l/application_1_0001_2",
        "l/eventlog_v2_a_1",
    ]


def test_a_position_changes_with_any_file_of_a_log() -> None:
    names = ["eventlog_v2_a/appstatus_a", "eventlog_v2_a/events_1_a", "eventlog_v2_a/events_2_a"]
    assert [log.log.position for log in logs_of(*names)] == ["15@2"]


def test_what_is_known_is_not_opened_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(2_000):
        (tmp_path / f"app-{n}").write_bytes(b"")
    logs = SparkLogs(str(tmp_path), "logs")
    known = {log.log.origin: (log.log.position, 0) for log in new_logs(logs, {})}
    assert len(known) == 2_000
    (tmp_path / "app-7").write_bytes(b"more")
    (tmp_path / "app-new").write_bytes(b"")
    monkeypatch.setattr("dbt_graft.collectors.spark.worker.filesystem", None)
    assert [log.log.origin for log in new_logs(logs, known)] == ["logs/app-7", "logs/app-new"]


@for_each(
    "claims, owners, known, losers, replaced",
    [
        ([("a", "r", 5)], {}, {}, [], []),
        ([("a", "r1", 5), ("b", "r2", 5)], {}, {}, [], []),
        ([("copy", "r", 4), ("complete", "r", 5)], {}, {}, ["copy"], []),
        ([("a", "r", 5), ("b", "r", 5)], {}, {}, ["a"], []),
        # Read before: the same again, a part of it, and one that goes further.
        ([("b", "r", 5)], {"r": "a"}, {"a": ("x", 5)}, ["b"], []),
        ([("b", "r", 4)], {"r": "a"}, {"a": ("x", 5)}, ["b"], []),
        ([("b", "r", 6)], {"r": "a"}, {"a": ("x", 5)}, [], ["a"]),
        # It has grown itself.
        ([("a", "r", 6)], {"r": "a"}, {"a": ("x", 5)}, [], []),
        ([("a", "r", 6), ("b", "r", 5)], {"r": "a"}, {"a": ("x", 5)}, ["b"], []),
        # Segments of a growing log count and are discarded with it.
        ([("a@5", "r", 2)], {"r": "a"}, {"a": ("x", 5)}, [], []),
        ([("a@7", "r", 2)], {"r": "a@5"}, {"a": ("x", 5), "a@5": ("y", 2)}, [], []),
        ([("a@5", "r", 2)], {"r": "b"}, {"a": ("x", 5), "b": ("y", 9)}, ["a@5"], []),
        ([("b", "r", 6)], {"r": "a@5"}, {"a": ("x", 5), "a@5": ("y", 2)}, ["b"], []),
        ([("b", "r", 9)], {"r": "a@5"}, {"a": ("x", 5), "a@5": ("y", 2)}, [], ["a", "a@5"]),
        # A compacted log counts beside what was read before.
        ([("l/e_2.compact", "r", 3)], {"r": "l"}, {"l": ("x", 5)}, [], []),
    ],
)
def test_of_several_logs_of_one_run_the_most_complete_counts(
    claims: list[tuple[str, str, int]],
    owners: dict[str, str],
    known: dict[str, tuple[str, int]],
    losers: list[str],
    replaced: list[str],
) -> None:
    settled = find_duplicates([LogClaim(*claim) for claim in claims], owners, known)
    assert settled == DuplicateLogs(tuple(losers), tuple(replaced))


EARLY, LATE = (datetime(2026, 11, day, tzinfo=UTC) for day in (20, 21))


@pytest.mark.parametrize(
    ("origin", "last_event_times", "expected"),
    [
        ("l/app/e_2.compact", {}, None),
        ("l/app/e_2.compact", {"l/app": EARLY, "l/other": LATE}, EARLY),
        ("l/app/e_9.compact", {"l/app": EARLY, "l/app/e_2.compact": LATE}, LATE),
        # It replaces its own records.
        ("l/app/e_9.compact", {"l/app": EARLY, "l/app/e_9.compact": LATE}, EARLY),
        ("l/app", {"l/app": EARLY}, None),
    ],
)
def test_a_compacted_log_counts_what_its_variants_do_not_cover(
    origin: str, last_event_times: dict[str, datetime], expected: datetime | None
) -> None:
    of_log = log_variants(last_event_times).get(uncompacted_origin(origin), {})
    assert covered_until(origin, of_log) == expected
