"""Accesses and column edges as tests write them: what is not said of them is of no interest."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, ColumnEdge, Direction, Run, Subtype


def table(name: str) -> DatasetId:
    """`a` is `db/a`; a name with a namespace is that of any dataset."""
    namespace, _, short = name.rpartition("/")
    return DatasetId(namespace or "db", short)


def access(
    operation: str, dataset: DatasetId, *, at: datetime | None = None, **fields: Any
) -> Access:
    """An access of the first run of `load`: a SELECT reads a table, other operations write it.

    Args:
        at: The time of its statements.
        fields: Fields of the record that are otherwise.
    """
    task = fields.get("task", "load")
    values = {
        "task": task,
        "run_id": f"{task}-1",
        "kind": Kind.TEMPORARY if dataset.name.startswith(("#", "@")) else Kind.TABLE,
        "direction": Direction.READ if operation == "SELECT" else Direction.WRITE,
        "shape_id": "s",
        "first_at": at,
        "last_at": at,
        **fields,
    }
    return Access(dataset=dataset, operation=Operation(operation), **values)


def statement(text: str, **fields: Any) -> list[Access]:
    """The accesses of `INSERT c <- a b`; `_` is no target, and the text is the shape.

    Args:
        fields: Fields of all of them, as for `access`.
    """
    left, _, sources = text.partition("<-")
    operation, _, target = left.strip().rpartition(" ")
    ends = [] if target == "_" else [(target, Direction.WRITE)]
    ends += [(source, Direction.READ) for source in sources.split()]
    return [
        access(operation, table(name), **{"direction": direction, "shape_id": text, **fields})
        for name, direction in ends
    ]


def run_accesses(run: Run, text: str, **fields: Any) -> list[Access]:
    """The accesses of a run that selects from a and b and inserts into c: `a, b -> c`.

    Args:
        fields: Fields of all of them, as for `access`.
    """
    reads, writes = ([one for one in side.split(", ") if one] for side in text.split(" -> "))
    known = {"task": run.task, "run_id": run.run_id, "status": run.status}
    known |= {"first_at": run.started_at, "last_at": run.ended_at}
    ends = [("SELECT", name) for name in reads] + [("INSERT", name) for name in writes]
    return [
        access(operation, DatasetId("spark", f"raw.{name}"), **{**known, **fields})
        for operation, name in ends
    ]


def column_edge(
    to: DatasetId,
    column: str,
    source: DatasetId,
    source_column: str,
    subtype: Subtype = Subtype.IDENTITY,
    **fields: Any,
) -> ColumnEdge:
    """An edge of `load` between columns of two datasets.

    Args:
        fields: Fields of the record that are otherwise.
    """
    values = {"task": "load", "masking": False, "shape_id": "s", **fields}
    return ColumnEdge(
        to_dataset=to,
        to_column=column,
        from_dataset=source,
        from_column=source_column,
        type=subtype.type,
        subtype=subtype,
        **values,
    )


def edge(text: str, task: str = "load", **fields: Any) -> ColumnEdge:
    """The edge of `n.p < t.a FILTER`, IDENTITY without a word; `!` behind a word is for masked."""
    to, _, source, *words = text.split()
    (target, column), (origin, source_column) = to.rsplit(".", 1), source.rsplit(".", 1)
    word = words[0] if words else "IDENTITY"
    ends = (table(target), column, table(origin), source_column)
    masking = word.endswith("!")
    return column_edge(
        *ends, Subtype(word.rstrip("!")), **{"task": task, "masking": masking, **fields}
    )
