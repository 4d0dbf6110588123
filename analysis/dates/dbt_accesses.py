"""dbt's builds of models as accesses: no log of an engine is needed for them."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Direction, Status

_TESTS = ("test", "source freshness", "freshness")


def is_view(definition: Definition) -> bool:
    """Whether a definition holds no data of its own."""
    is_sql_view = definition.operation is Operation.CREATE_VIEW
    return is_sql_view or definition.kind is DefinitionKind.VIEW


def dbt_accesses(lineage: Lineage) -> Iterator[Access]:
    """The accesses of dbt's builds: reads when a model began, its write at the end."""
    for definition in lineage.definitions.values():
        if is_view(definition):
            continue
        dataset = lineage.datasets.get(definition.dataset)
        for result in lineage.dbt.node_results.get(definition.name, ()):
            # Of batches that failed in part, the others are there.
            is_written = result.status is Status.OK or result.periods
            if not is_written or result.command in _TESTS:
                continue
            start, end = result.started_at, result.ended_at or result.started_at
            if start is None or end is None:
                continue
            ends = [
                (source, Direction.READ, Operation.SELECT, start) for source in definition.reads
            ]
            ends.append((definition.dataset, Direction.WRITE, definition.operation, end))
            for endpoint, direction, operation, at in ends:
                kind = lineage.datasets[endpoint].kind if endpoint in lineage.datasets else None
                access_kind = kind or (dataset.kind if dataset else None)
                if access_kind is not None:
                    yield Access(
                        task=definition.name,
                        run_id=result.invocation_id,
                        dataset=endpoint,
                        kind=access_kind,
                        direction=direction,
                        operation=operation,
                        shape_id="",
                        first_at=at,
                        last_at=at,
                        status=Status.OK,
                        periods=result.periods if direction is Direction.WRITE else (),
                    )
