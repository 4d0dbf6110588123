"""The collector's lineage of a log of the suite, in the words of `case`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from dbt_graft.collectors.schema import row as as_row
from dbt_graft.collectors.spark.log.files import SparkLogs
from dbt_graft.collectors.spark.store.read_log import EventFile, assemble
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.building.memory import MEMORY
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Evidence, Records
from tests.collectors.spark.stored import tables
from tests.collectors.spark.suite.case import ExpectedLineage, Version

Row = dict[str, Any]
# A streaming query puts its name before the rest of the description, a client a comment.
LOGS = SparkLogs("suite", "suite", task=r"\W*(?P<task>\w+)", task_from=("job_description",))


@frozen
class SuiteLog:
    """A log of the suite: Spark's version, lineage of each case, rejects, columns of datasets."""

    version: Version
    cases: dict[str, ExpectedLineage]
    rejects: list[str]
    records: Records
    columns: dict[str, list[str]]

    def lineage(self, name: str) -> Lineage:
        """The lineage that readers of the store see of one case."""
        return build(
            Records(
                accesses=tuple(a for a in self.records.accesses if a.task == name),
                runs=tuple(run for run in self.records.runs if run.task == name),
                shapes=self.records.shapes,
                column_edges=tuple(e for e in self.records.column_edges if e.task == name),
            )
        )


def read(*files: Path) -> SuiteLog:
    """A log of the suite."""
    parts = [EventFile(file.name, lambda file=file: file.open("rb")) for file in files]
    log = assemble("suite", parts, LOGS)
    version = log.application.spark_version.split(".")
    base = log.application.warehouse.removeprefix("file:").removesuffix("/warehouse")

    def place(row: Row, prefix: str = "") -> str:
        dataset = DatasetId(row[f"{prefix}namespace"], row[f"{prefix}name"])
        if dataset.namespace == "file":
            return dataset.name.removeprefix(base)
        return dataset.name if dataset.namespace == "spark" else str(dataset)

    grouped: dict[str, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for table in ("accesses", "column_edges"):
        for row in tables(log)[table]:
            grouped[row["task"]][table].append(row)
    reasons = {row["shape_id"]: row["reason"] for row in tables(log)["shapes"]}
    rejects = [f"{row['position']}: {row['reason']}" for row in tables(log)["rejects"]]
    records = Records(
        accesses=tuple(log.records.accesses),
        runs=tuple(log.records.runs),
        shapes={shape.shape_id: shape for shape in log.records.shapes},
        column_edges=tuple(log.records.column_edges),
        datasets=tuple(log.records.datasets),
    )
    inferred: dict[str, list[Row]] = defaultdict(list)
    for edge in build(records).column_edges:
        if edge.evidence is Evidence.INFERRED:
            inferred[edge.task].append(as_row(edge))
    cases = {
        task: ExpectedLineage(
            does=tuple(sorted(_statements(rows["accesses"], place))),
            columns=tuple(sorted(_edges(rows["column_edges"], place))),
            gaps=_gaps(rows["accesses"], reasons),
            inferred=tuple(sorted(_edges(inferred[task], place))),
        )
        for task, rows in grouped.items()
    }
    columns = {place(row): [c["name"] for c in row["columns"]] for row in tables(log)["datasets"]}
    return SuiteLog((int(version[0]), int(version[1])), cases, rejects, records, columns)


Place = Callable[..., str]


def _statements(accesses: list[Row], place: Place) -> Iterable[str]:
    shapes: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in accesses:
        shapes[row["shape_id"], row["status"]].append(row)
    for (_, status), rows in shapes.items():
        sides = {
            direction: ", ".join(
                sorted(_with_rows(row, place) for row in rows if row["direction"] == direction)
            )
            for direction in ("write", "read")
        }
        times = f"{rows[0]['statements']} x " if rows[0]["statements"] > 1 else ""
        head = f"{times}{'' if status == 'ok' else f'{status} '}{rows[0]['operation']}"
        written = f" {sides['write']}" if sides["write"] else ""
        yield f"{head}{written}{' <- ' + sides['read'] if sides['read'] else ''}"


def _with_rows(row: Row, place: Place) -> str:
    return place(row) if row["rows"] is None else f"{place(row)} {row['rows']}"


def _edges(edges: list[Row], place: Place) -> set[str]:
    several = len({place(row, "to_") for row in edges if row["to_name"] != MEMORY.name}) > 1
    return {
        f"{place(row, 'to_') + ': ' if several else ''}{row['to_column']} <- "
        f"{place(row, 'from_')}.{row['from_column']}{_how(row)}"
        for row in edges
        if MEMORY.name not in (row["to_name"], row["from_name"])
    }


def _how(row: Row) -> str:
    how = "" if row["subtype"] == "IDENTITY" else f" {row['subtype']}"
    return f"{how} masked" if row["masking"] else how


def _gaps(accesses: list[Row], reasons: dict[str, str | None]) -> tuple[str, ...]:
    rows = {reasons[row["shape_id"]] for row in accesses} - {None}
    return tuple(sorted(str(reason).removeprefix("columns: ") for reason in rows))
