"""Fuzzes the reading of Spark event logs: damaged events, in any order.

    python -m tests.fuzz.fuzz_spark --cases 100000 --seed 1

A case is a part of a real log with lines left out, doubled or in another order, values replaced
by others of any type, pieces of plans cut out, and bytes changed; some are packed, and cut. Every
case must end, in time, as rows and counted rejects: no exception, nothing lost without a reject.
Prints the case that fails, by its number: the same seed and number make the same log.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import fields
from io import BytesIO
from pathlib import Path
from typing import Any

import click
import orjson
import zstandard

from dbt_graft.collectors.spark.log.files import SparkLogs
from dbt_graft.collectors.spark.store.read_log import EventFile, assemble
from tests.collectors.spark.packed import gz, lz4, snappy, zstd
from tests.fuzz.guard import LITERAL, CaseError, guarded

LOG = Path(__file__).parents[1] / "collectors" / "spark" / "logs" / "spark-3.5" / "suite.zstd"
LOGS = SparkLogs(
    "log", "log", task_from=("job_group", "call_site", "app_name"), unnamed_task="(no name)"
)
_TASK = b'{"Event":"SparkListenerTask'
_OTHERS = (None, 0, -1, 2**62, 1.5, True, "", "x", LITERAL, [], {}, [[1]], {"a": 1})
_PIECES = ("", "#", "(", "`", "[", ", ", "'" * 3, "\n\n(3) ", "\n   +- ", f" = '{LITERAL}'")
_PACKS = (zstd, lz4, snappy, gz)


def lines_of_log() -> list[bytes]:
    """The events of a log of real jobs, without those of tasks."""
    with LOG.open("rb") as file:
        text = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True).read()
    return [line for line in text.splitlines() if not line.startswith(_TASK)]


def changed(value: Any, chance: random.Random) -> Any:
    """The value with one thing in it replaced or left out."""
    if isinstance(value, dict) and value and chance.random() < 0.9:
        key = chance.choice(list(value))
        rest = {name: one for name, one in value.items() if name != key}
        return rest if chance.random() < 0.15 else {**rest, key: changed(value[key], chance)}
    if isinstance(value, list) and value and chance.random() < 0.7:
        at = chance.randrange(len(value))
        return [*value[:at], changed(value[at], chance), *value[at + 1 :]]
    if isinstance(value, str) and len(value) > 50 and chance.random() < 0.8:
        at = chance.randrange(len(value))
        return value[:at] + chance.choice(_PIECES) + value[at + chance.randrange(1, 40) :]
    return chance.choice(_OTHERS)


def _case(lines: list[bytes], chance: random.Random) -> bytes:
    start = chance.randrange(len(lines))
    lines_taken = []
    for line in (*lines[:12], *lines[start : start + chance.choice((30, 150))]):
        what = chance.random()
        if what < 0.3:
            lines_taken.append(orjson.dumps(changed(orjson.loads(line), chance)))
        elif what < 0.33:
            lines_taken.append(line[: chance.randrange(len(line))])
        elif what < 0.97:
            lines_taken += [line] * chance.choice((1, 1, 1, 2))
    if chance.random() < 0.2:
        chance.shuffle(lines_taken)
    log = b"\n".join(lines_taken) + b"\n"
    if chance.random() < 0.3:
        log = chance.choice(_PACKS)(log)
        log = log[: chance.randrange(len(log))]
    return log


def fuzz(cases: int, seed: int) -> Counter[str]:
    """Run this many cases; return the number of records of all, by table.

    Raises:
        Exception: A case did not end as it should; the note has its number.
    """
    lines = lines_of_log()
    counts: Counter[str] = Counter()
    for number in range(cases):
        chance = random.Random(f"{seed} {number}")  # noqa: S311
        log = _case(lines, chance)
        part = EventFile("log", lambda log=log: BytesIO(log), chance.random() < 0.5)
        try:
            with guarded():
                found = assemble("log", [part], LOGS)
            if not (found.events or found.records.rejects or part.growing):
                raise CaseError("it has no events and no rejects")
        except Exception as error:
            error.add_note(f"case {number} of seed {seed}")
            raise
        for field in fields(found.records):
            counts[field.name] += len(getattr(found.records, field.name))
    return counts


@click.command()
@click.option("--cases", default=100_000, show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(cases: int, seed: int) -> None:
    """Fuzz the reading of Spark event logs."""
    counts = fuzz(cases, seed)
    rows = ", ".join(f"{count:,} {table}" for table, count in sorted(counts.items()))
    click.echo(f"{cases:,} logs: {rows}; no failure")


if __name__ == "__main__":
    main()
