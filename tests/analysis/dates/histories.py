"""Histories by hand: a line is a run."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dates.period import Grain, Period, PeriodEvidence
from dbt_graft.lineage.declared_dates import DeclaredDates
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.history import History
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Dataset, Direction, Status

START = datetime(2026, 10, 1, 6, tzinfo=UTC)


def table(name: str) -> DatasetId:
    return DatasetId("db", name)


def history(
    *lines: str, declared: Mapping[DatasetId, DeclaredDates] | None = None, **more: object
) -> AccessHistory:
    """A history, a run a line, an hour after the one before: `task: a[3] b > OVERWRITE c[3..4]!`.

    In brackets days of October, `@` behind them where only the run's interval tells them, `~` for
    a part of them, which may be followed by others: `[3~,4..5]`; `!` is a failed statement, `?` one
    without an end, `*` a write whose rows decide on dates.
    """
    accesses: list[Access] = []
    flows: dict[tuple[str, str, str], Flow] = {}
    for number, line in enumerate(lines):
        task, _, rest = line.partition(": ")
        reads, _, write = rest.partition(" > ")
        status = {"!": Status.FAILED, "?": Status.UNKNOWN}.get(write[-1:], Status.OK)
        operation, _, target = write.rstrip("!?").rpartition(" ")
        ends = [(one, Direction.READ, "SELECT") for one in reads.split()]
        if target:
            ends.append((target, Direction.WRITE, operation.replace("_", " ")))
        for end, direction, verb in ends:
            name, _, days = end.rstrip("*").rstrip("]").partition("[")
            accesses.append(
                Access(
                    task=task,
                    run_id=f"r{number}",
                    dataset=table(name),
                    kind=Kind.TABLE,
                    direction=direction,
                    operation=Operation(verb),
                    shape_id=line,
                    partitions=1 if end.endswith("*") else None,
                    first_at=START + timedelta(hours=number),
                    last_at=START + timedelta(hours=number),
                    status=status,
                    periods=tuple(map(period, days.split(","))) if days else (),
                )
            )
        for source in reads.split() if target and status is not Status.FAILED else ():
            key = (task, source.partition("[")[0], target.partition("[")[0].rstrip("*"))
            flows[key] = Flow(table(key[1]), table(key[2]), task)
    names = {access.dataset for access in accesses}
    values: dict[str, object] = {
        "datasets": {name: Dataset(name) for name in sorted(names)},
        "flows": tuple(flows.values()),
        "history": History(tuple(accesses), declared_dates=declared or {}),
        **more,
    }
    return AccessHistory(Lineage(**values))  # type: ignore[arg-type]


def period(days: str) -> Period:
    evidence = PeriodEvidence.INTERVAL if days.endswith("@") else PeriodEvidence.PARTITION
    first, _, last = days.rstrip("@~").partition("..")
    start = datetime(2026, 10, int(first), tzinfo=UTC)
    end = datetime(2026, 10, int(last or first), tzinfo=UTC) + timedelta(1)
    return Period(start, end, Grain.DAY, evidence, "ds", days.endswith("~"))
