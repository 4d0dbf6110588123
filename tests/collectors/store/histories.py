"""Random histories of a store: logs that are read, read again and grow, sessions, invocations."""

from __future__ import annotations

import random
import shutil
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from dbt_graft.collectors.store import arrow_tables
from dbt_graft.collectors.store import door as store
from dbt_graft.collectors.store.batches import open_store
from dbt_graft.collectors.store.commit import record_batch
from dbt_graft.collectors.store.logs import last_logs
from dbt_graft.collectors.store.tables import Collected, OpenSession, ReadLog
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dates.period import Grain, Period, PeriodEvidence
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    Column,
    ColumnEdge,
    Dataset,
    Direction,
    NodeResult,
    Outcome,
    Records,
    Reject,
    Run,
    Shape,
    Status,
    Subtype,
    TaskMetadata,
)

NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)
SERVER = "mssql://crm:1433"


def records(chance: random.Random, origins: list[str], number: int) -> Records:
    """The records of some logs, as a collect finds them."""
    at = NOON + timedelta(minutes=number)
    accesses, runs, edges, datasets, results, metadata, rejects = [], [], [], [], [], [], []
    shapes = set[int]()
    for origin in origins:
        if "dbt:" in origin:
            results += [
                NodeResult(f"model.{n}", origin, "run", "ok", Status.OK, at, at, origin=origin)
                for n in range(chance.randrange(3))
            ]
            continue
        run = f"{origin}-{chance.randrange(2)}"
        runs.append(Run(run, "load", "spark", at, at, Status.OK, origin=origin))
        for _ in range(chance.randrange(4)):
            table, shape = DatasetId("db", f"t{chance.randrange(9)}"), chance.randrange(12)
            shapes.add(shape)
            period = Period(NOON, at, Grain.DAY, PeriodEvidence.PATH)
            accesses.append(
                Access(
                    *("load", run, table, Kind.TABLE, Direction.WRITE, Operation.INSERT),
                    f"shape-{shape}",
                    last_at=at,
                    origin=origin,
                    periods=(period,) * chance.randrange(3),
                )
            )
            datasets.append(
                Dataset(
                    *(table, Kind.TABLE, (Column("id", "int"),)),
                    origin=origin,
                    has_all_columns=chance.random() < 0.2,
                )
            )
            edges.append(
                ColumnEdge(
                    *("load", table, "id", DatasetId("db", "raw"), "no"),
                    *(Subtype.IDENTITY.type, Subtype.IDENTITY, False, f"shape-{shape}", origin),
                )
            )
        if chance.random() < 0.2:
            rejects.append(Reject(origin, "7", "odd"))
            metadata.append(TaskMetadata("load", at, owner="ann", origin=origin))
    found = {f"shape-{n}": Shape(f"shape-{n}", "tsql", "x", "1", Outcome.PARSED) for n in shapes}
    return Records(
        *(tuple(accesses), tuple(runs), found, tuple(datasets), tuple(rejects), tuple(edges)),
        node_results=tuple(results),
        task_metadata=tuple(metadata),
    )


def sessions(chance: random.Random, origins: list[str], number: int) -> list[OpenSession]:
    """Sessions that are open at the end of logs."""
    at = NOON + timedelta(minutes=number)
    return [
        OpenSession(
            *(SERVER, f"s{chance.randrange(4)}", "running", "load", f"r{chance.randrange(3)}"),
            *(f"run-{number}-{n}", None, None, "", at, at, at, n, chance.choice(origins)),
        )
        for n in range(chance.choice([0, 0, 1, 3]))
    ]


@dataclass(slots=True)
class History:
    """A store with random commits."""

    place: Path
    chance: random.Random
    number: int = 0

    def grow(self) -> None:
        """Commit one more batch."""
        self.number += 1
        names = ["a", "b", "c", f"grows@{self.number}", f"dbt:target#{self.number % 7}", "d/e"]
        origins = sorted(self.chance.sample(names, self.chance.randrange(1, 4)))
        found = records(self.chance, origins, self.number)
        logs = [
            ReadLog(origin, f"{self.number}", self.chance.randrange(3), 1) for origin in origins
        ]
        collected = arrow_tables.tables(
            found,
            {},
            origins=arrow_tables.table(ReadLog, logs),
            node_results=arrow_tables.table(NodeResult, found.node_results),
        )
        rows: dict[str, Any] = {
            field.name: getattr(collected, field.name) for field in fields(Collected)
        }
        rows["sessions"] = arrow_tables.table(
            OpenSession, sessions(self.chance, origins, self.number)
        )
        store.commit(str(self.place), [Collected(**rows)], settings=lambda one: f"of {one}")

    def damage(self) -> None:
        """Lose the files of a batch, and give it up, as `graft collect --again` does."""
        plain = [batch for batch in open_store(str(self.place)).batches if not batch.replaces]
        if plain:
            lost = self.chance.choice(plain)
            shutil.rmtree(self.place / "origins" / f"batch_id={lost.batch_id}")
            record_batch(
                open_store(str(self.place), [lost.batch_id]),
                f"{self.number:04}anew",
                [{"origin": f"anew-{self.number}", "position": "1", "events": 0, "noise": 0}],
                [lost.batch_id],
            )


def answers(place: Path) -> dict[str, Any]:
    """All that readers ask a store, but its shapes."""
    at = str(place)
    found = store.read(at, results=True)
    return {
        "records": {
            field.name: getattr(found, field.name)
            for field in fields(found)
            if field.name != "shapes"
        },
        "positions": store.positions(at),
        "settings": {
            row["origin"]: row["settings"] for row in last_logs(open_store(at)).to_pylist()
        },
        "noise": store.noise(at),
        "runs": store.run_origins(at, {run.run_id for run in found.runs}),
        "times": store.last_event_times(at),
        "sessions": store.open_sessions(at, SERVER),
        "collected_at": store.collected_at(at),
    }


def shapes_in_use(place: Path) -> dict[str, Shape]:
    """The shapes that accesses and column edges of a store have."""
    found = store.read(str(place))
    used = {access.shape_id for access in (*found.accesses, *found.column_edges)}
    return {one: shape for one, shape in found.shapes.items() if one in used}
