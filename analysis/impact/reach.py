"""The reach of every change at once: counts for the pages of all datasets and columns.

`answer.impact` follows one change and keeps the paths. Here all changes share what lies further
downstream: a set is a number with a bit for each member, and equal sets are one object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from dbt_graft.analysis.impact.answer import ProposedChange, Surroundings
from dbt_graft.analysis.impact.change import (
    OF_DATASETS,
    START,
    ChangeType,
    ImpactEffect,
    ImpactSeverity,
    raise_severity,
    severity,
)
from dbt_graft.analysis.impact.graph import ImpactGraph
from dbt_graft.analysis.impact.spread import Spread, State, next_steps, state_number, state_of
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer

_EFFECTS = tuple(ImpactEffect)
# In a set of effects: not written because something is gone, which is no mere delay.
_BROKE = len(_EFFECTS)
_OF_CONSUMER = _BROKE + 1  # Bits of each consumer: its effects.
# Changes that begin in the same state.
_COLUMN_STARTS = tuple({START[kind]: None for kind in ChangeType if kind not in OF_DATASETS})
_DATASET_STARTS = tuple({START[kind]: None for kind in ChangeType if kind is not ChangeType.ADD})


@dataclass(frozen=True, slots=True)
class ReachOfChange:
    """The impact of a change in numbers.

    Attributes:
        datasets: How many others are affected.
        broken: How many tasks, models and views have statements that fail.
        tests: How many dbt tests name a column that is gone.
        known, flows: Of so many flows on the way the columns are known, and how many there are.
    """

    severity: ImpactSeverity
    datasets: int
    broken: int
    tests: int
    consumers: tuple[Consumer, ...]
    known: int
    flows: int

    def __bool__(self) -> bool:
        return bool(self.datasets or self.tests or self.consumers)


@dataclass(frozen=True, slots=True)
class _Sets:
    """Sets of what a state leads to, as bits; `consumers` and `effects` are sets of effects."""

    datasets: int = 0
    broken: int = 0
    tests: int = 0
    known: int = 0
    unknown: int = 0
    consumers: int = 0
    effects: int = 0


class ImpactReach:
    """The reach of all changes, but of added columns: those reach one step only."""

    def __init__(self, graph: ImpactGraph, around: Surroundings) -> None:
        self._graph = graph
        self._consumers = tuple(around.consumers)
        self._readers: dict[int, list[int]] = {}
        for number, consumer in enumerate(self._consumers):
            for dataset in consumer.reads:
                if (dataset_number := graph.find_dataset(dataset)) is not None:
                    self._readers.setdefault(dataset_number, []).append(number)
        self._tests: dict[tuple[int, str], int] = {}
        self._number_tests(around)
        self._interned: dict[_Sets, _Sets] = {}
        self._sets: dict[int, _Sets] = {}
        self._follow(chain.from_iterable(map(self._starts, range(len(graph.datasets)))))

    def measure(self, change: ProposedChange) -> ReachOfChange:
        """The reach of a change of a dataset or a column that the graph knows."""
        number = self._graph.find_dataset(change.dataset)
        if number is None:
            return ReachOfChange(ImpactSeverity.INFO, 0, 0, 0, (), 0, 0)
        of_column = change.column and change.kind not in OF_DATASETS
        column = self._graph.find_column(number, change.column) if of_column else -1
        start = State(number, -1 if column is None else column, START[change.kind])
        sets = self._sets[state_number(start)]
        effects = sets.consumers
        for reader in self._readers.get(number, ()):
            effects |= 1 << reader * _OF_CONSUMER + start.effect
        consumers = dict(self._severities(change.kind, effects))
        worst = [severity(change.kind, effect) for effect in _effects(sets.effects)]
        worst += consumers.values()
        if sets.broken:
            worst.append(severity(change.kind, ImpactEffect.GONE))
        if sets.datasets >> number & 1:  # Tasks lead back to where it is made.
            worst.append(severity(change.kind, start.effect))
        if sets.tests:
            worst.append(ImpactSeverity.BLOCKING)
        return ReachOfChange(
            max(worst, default=ImpactSeverity.INFO),
            (sets.datasets & ~(1 << number)).bit_count(),
            sets.broken.bit_count(),
            sets.tests.bit_count(),
            tuple(sorted(consumers, key=lambda consumer: (-consumers[consumer], consumer.name))),
            sets.known.bit_count(),
            (sets.known | sets.unknown).bit_count(),
        )

    def knows(self, dataset: DatasetId, column: str) -> bool:
        """The graph has the column."""
        number = self._graph.find_dataset(dataset)
        return number is not None and self._graph.find_column(number, column) is not None

    def _severities(
        self, kind: ChangeType, effects: int
    ) -> Iterator[tuple[Consumer, ImpactSeverity]]:
        for number, consumer in enumerate(self._consumers):
            bits = effects >> number * _OF_CONSUMER & (1 << _OF_CONSUMER) - 1
            if bits:
                worst = max(severity(kind, effect) for effect in _effects(bits))
                yield consumer, raise_severity(worst) if consumer.is_critical else worst

    def _number_tests(self, around: Surroundings) -> None:
        """Give each test a bit: by its dataset and column, and by its dataset alone."""
        number = 0
        for dataset, description in around.descriptions.items():
            dataset_number = self._graph.find_dataset(dataset)
            if dataset_number is None:
                continue
            for test in description.tests:
                for key in {(dataset_number, test.column.casefold()), (dataset_number, "")}:
                    self._tests[key] = self._tests.get(key, 0) | 1 << number
                number += 1

    def _starts(self, dataset: int) -> Iterator[int]:
        for effect in _DATASET_STARTS:
            yield state_number(State(dataset, -1, effect))
        for name in self._graph.columns(dataset):
            column = self._graph.find_column(dataset, name)
            for effect in _COLUMN_STARTS if column is not None else ():
                yield state_number(State(dataset, column or 0, effect))

    def _follow(self, starts: Iterable[int]) -> None:
        """Work out the sets of all states, the last ones first; again where tasks go in circles."""
        direct: dict[int, _Sets] = {}
        next_: dict[int, list[int]] = {}
        order: list[int] = []
        for start in starts:
            waiting = [start]
            while waiting:
                state = waiting[-1]
                if state not in next_:
                    direct[state], next_[state] = self._direct_sets(state)
                    waiting += [successor for successor in next_[state] if successor not in next_]
                else:
                    waiting.pop()
                    if state not in self._sets:
                        self._sets[state] = direct[state]
                        order.append(state)
        changed = True
        while changed:
            changed = False
            for state in order:
                after = self._join_sets(direct[state], next_[state])
                if after is not self._sets[state]:
                    self._sets[state], changed = after, True
        self._interned.clear()

    def _direct_sets(self, state: int) -> tuple[_Sets, list[int]]:
        """The sets of a state itself, and the states that it leads to."""
        spread = Spread(self._graph)
        after = list(dict.fromkeys(successor for successor, *_ in next_steps(spread, state)))
        at = state_of(self._graph, state)
        datasets = consumers = effects = 0
        for successor in after:
            reached = state_of(self._graph, successor)
            datasets |= 1 << reached.dataset
            effect = _effect_after(at.effect, reached.effect)
            effects |= 1 << effect
            for reader in self._readers.get(reached.dataset, ()):
                consumers |= 1 << reader * _OF_CONSUMER + effect
        known_flows = unknown_flows = 0
        for flow, has_columns in spread.flows.items():
            known_flows |= has_columns << flow
            unknown_flows |= (not has_columns) << flow
        tests = 0
        if at.effect is ImpactEffect.GONE:
            name = self._graph.column_names[at.column].casefold() if at.column >= 0 else ""
            tests = self._tests.get((at.dataset, name), 0)
        broken = sum(1 << task for task in spread.broken)
        sets = _Sets(datasets, broken, tests, known_flows, unknown_flows, consumers, effects)
        return self._intern(sets), after

    def _join_sets(self, direct: _Sets, after: Iterable[int]) -> _Sets:
        datasets, broken, tests = direct.datasets, direct.broken, direct.tests
        known_flows, unknown_flows = direct.known, direct.unknown
        consumers, effects = direct.consumers, direct.effects
        for state in after:
            sets = self._sets[state]
            datasets |= sets.datasets
            broken |= sets.broken
            tests |= sets.tests
            known_flows |= sets.known
            unknown_flows |= sets.unknown
            consumers |= sets.consumers
            effects |= sets.effects
        return self._intern(
            _Sets(datasets, broken, tests, known_flows, unknown_flows, consumers, effects)
        )

    def _intern(self, sets: _Sets) -> _Sets:
        return self._interned.setdefault(sets, sets)


def _effect_after(before: ImpactEffect, effect: ImpactEffect) -> int:
    broke = before is ImpactEffect.GONE and effect is ImpactEffect.LATE
    return _BROKE if broke else effect


def _effects(bits: int) -> Iterator[ImpactEffect]:
    for effect in _EFFECTS:
        if bits >> effect & 1:
            yield effect
    if bits >> _BROKE & 1:
        yield ImpactEffect.GONE
