"""A lineage of many tasks by dates: layers of tables, each made of two of the layer before."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dates.period import Grain, Period, PeriodEvidence
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.history import History
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Dataset, Direction, Run, Status

START = datetime(2025, 10, 1, tzinfo=UTC)
LAYERS = 20
# Each seventh task reads a week, all others the same day.
_WINDOW, _EACH = 6, 7


def layered_lineage(tasks: int, days: int) -> Lineage:
    """A run a day of each task, which reads two tables and overwrites a day of a third."""
    width = max(tasks // LAYERS, 1)
    inputs = {number: _inputs(number, width) for number in range(tasks)}
    runs = {number: [_run(number, day, width) for day in range(days)] for number in range(tasks)}
    return Lineage(
        datasets={_table(number): Dataset(_table(number)) for number in (-1, *range(tasks))},
        tasks={
            _task(number): Task(_task(number), runs=tuple(reversed(of_task)))
            for number, of_task in runs.items()
        },
        flows=tuple(
            Flow(_table(source), _table(number), _task(number))
            for number, sources in inputs.items()
            for source in sources
        ),
        history=History(
            accesses=tuple(
                access
                for number, of_task in runs.items()
                for day, run in enumerate(of_task)
                for access in _accesses(number, inputs[number], day, run)
            )
        ),
    )


def first_table() -> DatasetId:
    """The table that all others are made of; no run writes it."""
    return _table(-1)


def _table(number: int) -> DatasetId:
    return DatasetId("spark", "raw.files" if number < 0 else f"dm.table_{number:04d}")


def _task(number: int) -> str:
    return f"task_{number:04d}"


def _inputs(number: int, width: int) -> tuple[int, ...]:
    layer, place = divmod(number, width)
    if not layer:
        return (-1,)
    before = (layer - 1) * width
    return tuple(sorted({before + place, before + (place + 1) % width}))


def _run(number: int, day: int, width: int) -> Run:
    at = START + timedelta(days=day + 1, minutes=10 * (number // width), seconds=number % width)
    end = at + timedelta(minutes=5)
    return Run(f"run_{number:04d}_{day:04d}", _task(number), "spark", at, end, Status.OK)


def _accesses(number: int, inputs: tuple[int, ...], day: int, run: Run) -> Iterator[Access]:
    first = day if number % _EACH else day - _WINDOW
    for source in inputs:
        yield _access(run, source, Direction.READ, Operation.SELECT, first, day)
    yield _access(run, number, Direction.WRITE, Operation.INSERT_OVERWRITE, day, day)


def _access(
    run: Run, table: int, direction: Direction, operation: Operation, first: int, last: int
) -> Access:
    period = Period(
        *(START + timedelta(days=first), START + timedelta(days=last + 1)),
        *(Grain.DAY, PeriodEvidence.PARTITION, "ds"),
    )
    return Access(
        task=run.task,
        run_id=run.run_id,
        dataset=_table(table),
        kind=Kind.TABLE,
        direction=direction,
        operation=operation,
        shape_id=run.task,
        first_at=run.started_at,
        last_at=run.started_at if direction is Direction.READ else run.ended_at,
        status=Status.OK,
        periods=(period,),
    )
