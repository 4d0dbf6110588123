"""A log that grows while it is read has records of what is there, and is read again later."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from dbt_graft.collectors.spark.listing import new_logs
from dbt_graft.collectors.spark.log.files import SparkLogs
from dbt_graft.collectors.spark.store.read_log import CollectedLog, assemble
from dbt_graft.collectors.spark.worker import event_files
from tests.collectors.spark.packed import gz, lz4, snappy, zstd
from tests.collectors.spark.stored import tables

Make = Callable[..., Any]
EXECUTIONS = 400
FLUSHED = 20_000


class Growing:
    """A file to which bytes are appended after each read, as long as there are some."""

    def __init__(self, path: Path, rest: list[bytes]) -> None:
        self.path, self.rest = path, rest
        self.file: BinaryIO = path.open("rb")

    def __enter__(self) -> Growing:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def read(self, size: int) -> bytes:
        found = self.file.read(size)
        if self.rest:
            with self.path.open("ab") as file:
                file.write(self.rest.pop(0))
        return found


@pytest.mark.parametrize(
    "pack",
    [lambda *texts: b"".join(texts), zstd, lz4, snappy, gz],
    ids=["plain", "zstd", "lz4", "snappy", "gzip"],
)
def test_a_log_that_grows_while_it_is_read_loses_and_doubles_nothing(
    make_log: Make, node: Make, tmp_path: Path, pack: Callable[..., bytes]
) -> None:
    text = make_log(*({"plan": node(f"Scan hive raw.t{n}")} for n in range(EXECUTIONS)))
    packed = pack(*(text[at : at + FLUSHED] for at in range(0, len(text), FLUSHED)))
    folder = tmp_path / "eventlog_v2_app-a_task"
    folder.mkdir()
    running, log = folder / "appstatus_app-a_task.inprogress", folder / "events_1_app-a_task"
    running.touch()
    # All of these cuts are in the middle of a line, and of a frame or block.
    cuts = [0, len(packed) // 3 + 7, len(packed) // 2 + 7, len(packed) * 3 // 4 + 7]
    first, *rest = [packed[a:b] for a, b in itertools.pairwise(cuts)]
    log.write_bytes(first)
    logs = SparkLogs(str(tmp_path), "logs")

    def read() -> tuple[CollectedLog, list[str]]:
        [found] = new_logs(logs, {})
        [part] = event_files(found)
        open_ = partial(Growing, log, rest)
        collected = assemble(found.log.origin, [replace(part, open=open_)], logs)
        seen = [row["name"] for row in tables(collected)["accesses"]]
        assert tables(collected)["rejects"] == []
        assert {row["statements"] for row in tables(collected)["accesses"]} == {1}
        # What the store then knows is what was listed: bytes that came later make it new again.
        known = {found.log.origin: (found.log.position, collected.events)}
        assert bool(new_logs(logs, known)) == (len(seen) < EXECUTIONS)
        return collected, seen

    collected, seen = read()
    assert rest == []
    assert EXECUTIONS // 3 < len(seen) < EXECUTIONS
    assert seen == [f"raw.t{n}" for n in range(len(seen))]
    assert [row["status"] for row in tables(collected)["runs"]] == ["unknown"]

    log.write_bytes(packed)
    running.rename(folder / "appstatus_app-a_task")
    again, seen = read()
    assert seen == [f"raw.t{n}" for n in range(EXECUTIONS)]
    assert [row["status"] for row in tables(again)["runs"]] == ["ok"]
    assert again.run == collected.run
