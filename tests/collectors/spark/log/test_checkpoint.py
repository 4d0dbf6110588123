"""A growing log is read on from its checkpoint, and from start to end when it is finished."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from dbt_graft.collectors.spark.listing import new_logs
from dbt_graft.collectors.spark.log.checkpoint import (
    Checkpoint,
    last_positions,
    log_segments,
    parse_checkpoint,
    position,
    resume_from,
)
from dbt_graft.collectors.spark.log.files import SparkLogs
from dbt_graft.collectors.spark.store.read_log import CollectedLog, EventFile, assemble
from dbt_graft.collectors.spark.worker import event_files
from tests.collectors.spark.packed import gz, lz4, snappy, zstd
from tests.collectors.spark.stored import tables

Make = Callable[..., Any]
Texts = list[bytes]
LOGS = SparkLogs("logs", "logs")
AT = Checkpoint("events_2_a:b", 700, 7, 40)


def test_a_position_holds_the_checkpoint() -> None:
    assert parse_checkpoint(position("5@6", AT)) == AT
    assert parse_checkpoint(position("5@6", None)) is None


@pytest.mark.parametrize(
    ("state", "last", "start"),
    [
        ("9@7", position("5@6", AT), AT),
        ("5@6", position("5@6", AT), AT),
        # It has shrunk, so it is another log; it was read to its end; it is new.
        ("4@7", position("5@6", AT), None),
        ("9@7", "5@6", None),
        ("9@7", "", None),
    ],
)
def test_a_log_that_only_grew_resumes_at_its_checkpoint(
    state: str, last: str, start: Checkpoint | None
) -> None:
    assert resume_from(state, last) == start


def test_a_log_resumes_at_its_last_checkpoint() -> None:
    later = Checkpoint("events_2_a:b", 900, 9, 60)
    known = {
        "l/a": (position("5@1", AT), 40),
        "l/a@40": (position("7@2", later), 20),
        "l/a@60": (position("8@3", later), 0),
        "l/b": ("5@1", 9),
        "l/c": ("5@1", 9),
        "l/c@9": ("", 0),
    }
    assert last_positions(known) == {"l/a": position("8@3", later)}
    assert log_segments(known) == {"l/a": ["l/a@40", "l/a@60"]}


def read(texts: Texts, start: Checkpoint | None = None, growing: bool = True) -> CollectedLog:
    """Collect the files of a log, of which the last still grows."""
    parts = [
        EventFile(f"events_{n}_a", partial(BytesIO, text), growing and n == len(texts))
        for n, text in enumerate(texts, 1)
    ]
    return assemble("log", parts, LOGS, start=start, resumable=True)


def seen(*collected: CollectedLog) -> Counter[str]:
    """The number of statements that read each table."""
    found: Counter[str] = Counter()
    for one in collected:
        for row in tables(one)["accesses"]:
            found[row["name"]] += row["statements"]
    return found


PACK: dict[str, Callable[..., bytes]] = {"plain": lambda *texts: b"".join(texts)}
PACK |= {"zstd": zstd, "lz4": lz4, "snappy": snappy, "gzip": gz}


@pytest.mark.parametrize("pack", PACK.values(), ids=PACK)
def test_wherever_a_log_is_cut_each_statement_counts_once(
    make_log: Make, node: Make, pack: Callable[..., bytes]
) -> None:
    # The second has not ended when the third, which is nested in it, and the fourth begin.
    plans = [{"plan": node(f"Scan hive raw.t{n}")} for n in range(8)]
    plans[1] |= {"lasts": 2_000}
    plans[2] |= {"root": 1, "plan": node("LocalTableScan")}
    text = in_order(make_log(*plans))
    for first in range(0, len(text), 501):
        collected: list[CollectedLog] = []
        for end in (first, (first + len(text)) // 2, len(text)):
            start = collected[-1].checkpoint if collected else None
            # Without a start it is read again from its beginning.
            collected = [*(collected if start else ()), read([pack(text[:end])], start)]
        complete = read([pack(text)], growing=False)
        assert seen(*collected) == seen(complete), first
        assert sum(log.events for log in collected) == complete.events, first
        rows = [row for log in collected for row in tables(log)["runs"]]
        assert {(row["run_id"], row["task"]) for row in rows} == {("app-a_task", "a_task")}


def in_order(log: bytes) -> bytes:
    """A log with the events in the order of their times, as Spark writes them."""
    lines = log.splitlines(keepends=True)

    def time(line: bytes) -> int:
        found = [int(piece.split(b",")[0].rstrip(b"}\n")) for piece in line.split(b'"time":')[1:]]
        return found[0] if found else times[-1]

    times: list[int] = [0]
    placed = []
    for line in lines[:-1]:
        times.append(time(line))
        placed.append((times[-1], line))
    return b"".join(line for _, line in sorted(placed, key=lambda one: one[0])) + lines[-1]


def test_an_execution_is_collected_when_it_is_over(make_log: Make, node: Make) -> None:
    lines = make_log({"plan": node("Scan hive raw.a")}, {"plan": node("Scan hive raw.b")})
    *before, end, _ = lines.splitlines(keepends=True)
    collected = read([b"".join(before)])
    assert seen(collected) == {"raw.a": 1}
    assert seen(read([b"".join([*before, end])], collected.checkpoint)) == {"raw.b": 1}


def test_a_log_in_which_something_always_runs_is_collected_to_its_end(
    make_log: Make, node: Make
) -> None:
    lines = make_log({"plan": node("Scan hive raw.a")}).splitlines(keepends=True)
    collected = read([b"".join(lines[1:2])])
    assert (collected.checkpoint, collected.events) == (None, 1)


def test_files_before_the_checkpoint_are_not_opened_again(make_log: Make, node: Make) -> None:
    lines = make_log(*[{"plan": node(f"Scan hive raw.{n}")} for n in "abc"]).splitlines(True)
    texts = [b"".join(lines[a:b]) for a, b in ((0, 1), (1, 4), (4, 7), (7, None))]
    collected = read(texts[:3])
    assert seen(collected) == {"raw.a": 1, "raw.b": 1}

    def gone() -> BytesIO:
        raise AssertionError

    names = [f"events_{n}_a" for n in (1, 2, 3, 4)]
    parts = [
        EventFile(names[0], lambda: BytesIO(texts[0])),
        EventFile(names[1], gone),
        EventFile(names[2], lambda: BytesIO(texts[2])),
        EventFile(names[3], lambda: BytesIO(texts[3]), growing=True),
    ]
    again = assemble("log@6", parts, LOGS, start=collected.checkpoint, resumable=True)
    assert seen(again) == {"raw.c": 1}
    assert again.run == collected.run


def test_a_growing_log_is_listed_in_segments_and_a_finished_one_from_its_start(
    make_log: Make, node: Make, tmp_path: Path
) -> None:
    logs = SparkLogs(str(tmp_path), "logs")
    lines = make_log(*[{"plan": node(f"Scan hive raw.{n}")} for n in "abc"]).splitlines(True)
    log, known = tmp_path / "app.inprogress", dict[str, tuple[str, int]]()

    def collect() -> list[str]:
        found = new_logs(logs, known)
        for one in found:
            origin = one.log.origin
            collected = assemble(origin, event_files(one), logs, start=one.start, resumable=True)
            known[origin] = position(one.log.position, collected.checkpoint), collected.events
        return [one.log.origin for one in found]

    log.write_bytes(b"".join(lines[:5]))
    assert collect() == ["logs/app"]
    assert collect() == []
    log.write_bytes(b"".join(lines[:6]))
    assert collect() == ["logs/app@4"]
    # Nothing has ended since; then something has.
    log.write_bytes(b"".join(lines[:8]))
    assert collect() == ["logs/app@4"]
    log.write_bytes(b"".join(lines[:9]))
    assert collect() == ["logs/app@7"]
    assert collect() == []
    log.write_bytes(b"".join(lines))
    log.rename(tmp_path / "app")
    assert collect() == ["logs/app"]
    assert collect() == []
