"""Fuzzes the reading of OpenLineage events: damaged events, in files of any form.

    python -m tests.fuzz.fuzz_openlineage --cases 100000 --seed 1

A case is a file of a few events, in any order, with values replaced by others of any type, and
bytes changed; some are one array, some are packed, and cut. Every case must end, in time, as
records that the store can hold and counted rejects: no exception, and no value of an event in a
reject or a log line. Prints the case that fails, by its number: the same seed and number make the
same file.
"""

from __future__ import annotations

import random
import shutil
import tempfile
from collections import Counter
from dataclasses import fields
from pathlib import Path

import click
import orjson

from dbt_graft.collectors.openlineage.worker import safe_batch
from tests.collectors.openlineage.events import (
    IN,
    OUT,
    Document,
    dataset,
    event,
    parent,
    results_of,
)
from tests.collectors.spark.packed import gz, lz4, snappy, zstd
from tests.fuzz.fuzz_spark import changed
from tests.fuzz.guard import LITERAL, CaseError, guarded

_PACKS = (zstd, lz4, snappy, gz)
_STATES = (
    *(("START", "airflow"), ("COMPLETE", "spark"), ("FAIL", "dbt"), ("RUNNING", "flink")),
    *(("", "other"), ("ABORT", "trino")),
)
_BYTES = (b"", b"\0", b"\xff", b"\n", b"{", b"]", b'"', b"\\u0000", b"\\ud800", b"9" * 400)


# Files that hold no event: empty ones, and what is packed and cut where a piece begins.
_NOTHING = (b"", b"[]", snappy(b""))


def _events() -> list[Document]:
    """Events with every facet that is read."""
    field = {"name": "id", "type": "int", "description": "the number"}
    source = {"namespace": "mssql://crm:1433", "name": "Shop.dbo.Orders", "field": "id"}
    how = {"type": "DIRECT", "subtype": "IDENTITY", "masking": True, "description": "hash"}
    columns = {"id": {"inputFields": [source | {"transformations": [how]}]}}
    described = {
        "schema": {"fields": [field, field | {"name": "at", "fields": [field]}]},
        "columnLineage": {"fields": columns, "dataset": [source]},
        "symlinks": {"identifiers": [{"namespace": "hive", "name": "raw.o", "type": "TABLE"}]},
        "lifecycleStateChange": {
            "lifecycleStateChange": "RENAME",
            "previousIdentifier": {"namespace": "spark", "name": "raw.old"},
        },
        "ownership": {"owners": [{"name": "team:shop", "type": "OWNER"}]},
        "documentation": {"description": "Orders of the shop"},
        "tags": {"tags": [{"key": "pii", "value": "yes", "source": "dbt", "field": "id"}]},
        "version": {"datasetVersion": "7"},
    }
    counts = {
        "outputStatistics": {"rowCount": 3, "size": 9},
        "inputStatistics": {"rowCount": 3},
        "dataQualityAssertions": {
            "assertions": [{"assertion": "not_null", "success": False, "column": "id"}]
        },
    }
    statement = f"INSERT INTO raw.orders SELECT id FROM dbo.orders WHERE name = '{LITERAL}'"
    run = {
        "nominalTime": {"nominalStartTime": "2026-11-21T00:00:00Z"},
        "errorMessage": {"message": LITERAL, "programmingLanguage": "python"},
        "processing_engine": {"name": "spark", "version": "3.5"},
        **parent(9, "shop"),
    }
    job = {
        "sql": {"query": statement, "dialect": "tsql"},
        "jobType": {"integration": "SPARK", "jobType": "TASK", "processingType": "BATCH"},
        "sourceCodeLocation": {"type": "git", "url": "https://example.org/etl", "path": "a.py"},
        "ownership": {"owners": [{"name": "team:shop"}]},
        "documentation": {"description": "Loads the orders"},
    }
    outputs = [dataset(OUT, described, **counts), dataset("file /out/at=2026-11-21")]
    return [
        event(
            *(state, "shop.load_orders", number),
            by=by,
            inputs=[dataset(IN, described, **counts)],
            outputs=outputs,
            run_facets=run,
            job_facets=job,
        )
        for number, (state, by) in enumerate(_STATES)
    ]


def _case(events: list[Document], chance: random.Random) -> bytes:
    taken: list[Document] = []
    for document in chance.choices(events, k=chance.choice((1, 4, 12))):
        damaged = document
        for _ in range(chance.choice((0, 1, 1, 3))):
            damaged = changed(damaged, chance)
        taken.append(damaged)
    if chance.random() < 0.2:
        content = orjson.dumps(taken, option=chance.choice((0, orjson.OPT_INDENT_2)))
    else:
        content = b"".join(orjson.dumps(each) + b"\n" for each in taken)
    for _ in range(chance.choice((0, 0, 1, 4))):
        at = chance.randrange(len(content))
        content = content[:at] + chance.choice(_BYTES) + content[at + chance.randrange(4) :]
    if chance.random() < 0.3:
        content = chance.choice(_PACKS)(content)
        content = content[: chance.randrange(len(content))]
    return content


def fuzz(cases: int, seed: int, folder: Path) -> Counter[str]:
    """Run this many cases; return the number of records of all, by table.

    Raises:
        Exception: A case did not end as it should; the note has its number.
    """
    events = _events()
    path = folder / "fuzz.jsonl"
    counts: Counter[str] = Counter()
    for number in range(cases):
        chance = random.Random(f"{seed} {number}")  # noqa: S311
        content = _case(events, chance)
        path.write_bytes(content)
        try:
            with guarded():
                results = results_of(path)
                for result in results:
                    safe_batch(result)
            rejects = [reject for result in results for reject in result.records.rejects]
            if LITERAL in repr(rejects):
                raise CaseError("a reject shows a value of the log")
            if content.strip() not in _NOTHING and not (rejects or results[-1].events):
                raise CaseError("it has no events and no rejects")
        except Exception as error:
            error.add_note(f"case {number} of seed {seed}; its file is in {folder}")
            raise
        for result in results:
            for table in fields(result.records):
                counts[table.name] += len(getattr(result.records, table.name))
    return counts


@click.command()
@click.option("--cases", default=100_000, show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(cases: int, seed: int) -> None:
    """Fuzz the reading of OpenLineage events."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    counts = fuzz(cases, seed, folder)
    shutil.rmtree(folder)  # Left where a case failed.
    rows = ", ".join(f"{count:,} {table}" for table, count in sorted(counts.items()))
    click.echo(f"{cases:,} files: {rows}; no failure")


if __name__ == "__main__":
    main()
