"""Random histories: the plain model and the fast one agree."""

from __future__ import annotations

from collections import Counter
from random import Random

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.bad_writes import BadWrite, bad_dates, bad_runs, last_good_run
from dbt_graft.analysis.dates.entity_states import entity_states
from dbt_graft.analysis.dates.taint import spread
from dbt_graft.lineage.dates.calendar import dates_of
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.model import Lineage
from tests.cases import for_each
from tests.lineage.plain_dates import COMPARED, NOTHING, Plain, days_of
from tests.lineage.random_histories import START, period, random_history, table

HISTORIES = 1_000
_GROUP = 40


def some_bad(random: Random, history: AccessHistory, lineage: Lineage) -> list[BadWrite]:
    if random.random() < 0.5:
        dates = dates_of([period(START.replace(day=random.randint(22, 29)), random.randint(1, 4))])
        try:
            return bad_dates(history, table("a"), dates)
        except GraftError:
            return []
    runs = sorted((task, run.run_id) for task in lineage.tasks for run in lineage.tasks[task].runs)
    return bad_runs(history, random.sample(runs, min(len(runs), random.randint(1, 3))))


@for_each("group", range(HISTORIES // _GROUP), quick=1)
def test_taint_is_that_of_the_plain_model(group: int) -> None:
    spreads = doubts = 0
    for seed in range(group * _GROUP, (group + 1) * _GROUP):
        random = Random(seed)  # noqa: S311
        lineage = random_history(random)
        history = AccessHistory(lineage)
        bad = some_bad(random, history, lineage)
        taint, plain = spread(history, bad), Plain(lineage)
        for fast, slow in (
            (taint.tainted, plain.taint(bad)),
            (taint.certain, plain.taint(bad, certain=True)),
        ):
            for output in {*fast, *slow}:
                days = days_of(fast[output]) if output in fast else NOTHING
                wanted = slow.get(output, NOTHING)
                assert days & COMPARED == wanted & COMPARED, (seed, output)
        spreads += len(taint.tainted) > 1
        doubts += taint.certain != taint.tainted
        last_good_run(history, bad)
    assert spreads > _GROUP / 4
    assert doubts


@for_each("group", range(HISTORIES // _GROUP), quick=1)
def test_states_are_those_of_the_plain_model(group: int) -> None:
    found = Counter[str]()
    for seed in range(group * _GROUP, (group + 1) * _GROUP):
        lineage = random_history(Random(seed))  # noqa: S311
        history, plain = AccessHistory(lineage), Plain(lineage)
        for dataset in lineage.datasets:
            states = entity_states(history, dataset)
            wanted = plain.states(dataset)
            fast = {
                "written": days_of(states.written),
                "partial": days_of(states.partial),
                "superseded": days_of(states.superseded),
            }
            for state, days in fast.items():
                assert days & COMPARED == wanted[state] & COMPARED, (seed, dataset, state)
                found[state] += bool(days)
    assert min(found.values()) > _GROUP / 10
