"""Former writers: who stopped while another went on; not who is late, pauses, or is declared."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from dbt_graft.analysis.checks.former_writers import former_writers
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dbt_runs import DbtRuns
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Direction, NodeResult, Run, Status
from dbt_graft.lineage.usage import Usage
from tests.cases import for_each

ORDERS = DatasetId("spark", "orders")
# Day 0 is today; 90 days before it what was seen is stale.
NOW = datetime(2026, 11, 1, tzinfo=UTC)
DAILY = range(60)


def at(day: float) -> datetime:
    return NOW - timedelta(days=day)


def task(name: str, days: Sequence[float], failed: Sequence[float] = ()) -> Task:
    """A task that wrote the orders so many days ago; without any days it is declared only."""
    runs = [Run(f"{day}", name, "spark", started_at=at(day)) for day in sorted([*days, *failed])]
    usage = Usage(
        *(name, ORDERS, Direction.WRITE, (Operation.INSERT,)),
        last_at=at(min(days)) if days else None,
        engine="spark",
        run_ids=tuple(sorted(run.run_id for run in runs)),
        failed_runs=tuple(map(str, failed)),
    )
    return Task(name, ("spark",), (usage,), tuple(runs))


@for_each(
    "old, new, expected",
    [
        # Renamed: a day later nobody knows; a fortnight later it is seen.
        (range(1, 60), [0], set()),
        (range(6, 60), range(6), set()),
        (range(14, 60), range(14), {"old"}),
        # Both ran for some nights, and then the one was turned off.
        (range(14, 60), range(20), {"old"}),
        # They take turns.
        (range(0, 60, 2), range(1, 60, 2), set()),
        # Monthly, yearly: their pauses are long. What stopped is over after two of them.
        (range(29, 400, 30), range(40), set()),
        (range(55, 400, 30), range(50), set()),
        (range(65, 400, 30), range(60), {"old"}),
        ([300, 665, 1030], range(400), set()),
        # Long ago it paused for long; since then it ran each day.
        ([*range(14, 60), 800], range(14), {"old"}),
        # By hand, some times in an hour: it may come again, and is known for a week at least.
        ([1.01, 1.02, 1.03], DAILY, set()),
        ([6.01, 6.02, 6.03], DAILY, set()),
        ([8.01, 8.02, 8.03], DAILY, {"old"}),
        # Once or twice tells no rhythm: it is over when it is stale.
        ([20], range(19), set()),
        ([20, 21], range(19), set()),
        ([91], range(60), {"old"}),
        # The other writer stopped, too: the last one that wrote is the writer.
        (range(40, 60), range(14, 40), {"old"}),
        # A run that failed wrote nothing.
        ((range(14, 60), range(14)), range(14), {"old"}),
        # People say that it writes; the other was seen long ago.
        ([], [91], set()),
    ],
)
def test_a_writer_is_former(
    old: Sequence[float] | tuple[Sequence[float], Sequence[float]],
    new: Sequence[float],
    expected: set[str],
) -> None:
    days, failed = old if isinstance(old, tuple) else (old, ())
    tasks = {"old": task("old", days, failed), "new": task("new", new)}
    assert former_writers(Lineage(tasks=tasks), ORDERS, at(90)) == expected


def test_a_task_is_former_where_dbt_builds_what_it_wrote() -> None:
    model = "model.shop.orders"
    built = NodeResult(model, "1", status=Status.OK, ended_at=at(0))
    lineage = Lineage(
        tasks={"old": task("old", range(14, 60))},
        definitions={model: Definition(model, DefinitionKind.DBT, ORDERS)},
        dbt=DbtRuns({model: (built,)}),
    )
    assert former_writers(lineage, ORDERS, at(90)) == {"old"}
    alone = Lineage(tasks=lineage.tasks, definitions=lineage.definitions)
    assert former_writers(alone, ORDERS, at(90)) == set()
