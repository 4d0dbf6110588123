"""The reach of every change at once: counts for the pages of all datasets and columns.

`answer.impact` follows one change and keeps the paths. Here all changes share what lies further
downstream: a set is a number with a bit for each member, equal sets are one object, and of the
sets only their sizes stay. Projects have a million states, so what is kept of each is a number in
an array.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

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
from dbt_graft.analysis.impact.spread import ON_DATASET, effect_of, steps_from
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import ANY_COLUMN

_EFFECTS = tuple(ImpactEffect)
# In a set of effects: not written because something is gone, which is no mere delay.
_BROKE = len(_EFFECTS)
_OF_CONSUMER = _BROKE + 1  # Bits of each consumer: its effects.
# Changes that begin in the same state.
_COLUMN_STARTS = tuple({START[kind]: None for kind in ChangeType if kind not in OF_DATASETS})
_DATASET_STARTS = tuple({START[kind]: None for kind in ChangeType if kind is not ChangeType.ADD})


@frozen
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


class _Sets(NamedTuple):
    """Sets of what a state leads to, as bits; `consumers` and `effects` are sets of effects."""

    datasets: int = 0
    broken: int = 0
    tests: int = 0
    known: int = 0
    unknown: int = 0
    consumers: int = 0
    effects: int = 0

    def join(self, other: _Sets) -> _Sets:
        """The members of both."""
        if self is other:
            return self
        datasets, broken, tests, known, unknown, consumers, effects = other
        return _Sets(
            *(self.datasets | datasets, self.broken | broken, self.tests | tests),
            *(self.known | known, self.unknown | unknown),
            *(self.consumers | consumers, self.effects | effects),
        )

    def sizes(self) -> _Sizes:
        """The numbers of their members."""
        return _Sizes(
            *(self.datasets.bit_count(), self.broken.bit_count(), self.tests.bit_count()),
            *(self.known.bit_count(), (self.known | self.unknown).bit_count()),
            *(self.consumers, self.effects),
        )


class _NumberedSets:
    """Sets by numbers from 1 on: equal ones have one, and equal parts of them are one object."""

    def __init__(self) -> None:
        self.sets = [_Sets()]
        self._numbers: dict[_Sets, int] = {}
        self._parts: dict[int, int] = {}

    def number(self, sets: _Sets) -> int:
        """The number of sets, a new one for new ones."""
        number = self._numbers.get(sets)
        if number is None:
            sets = _Sets(*(self._parts.setdefault(part, part) for part in sets))
            number = self._numbers[sets] = len(self.sets)
            self.sets.append(sets)
        return number


class _Sizes(NamedTuple):
    """The numbers of members of sets, and the effects, which a page shows."""

    datasets: int
    broken: int
    tests: int
    known: int
    flows: int
    consumers: int
    effects: int


@dataclass(slots=True)
class _OpenState:
    """A state of which not all is known that it leads to.

    Attributes:
        first: The place of the earliest open state that it leads back to.
    """

    state: int
    place: int
    sets: _Sets
    after: Iterator[int]
    first: int = field(init=False)

    def __post_init__(self) -> None:
        self.first = self.place


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
        # The place of a state's sizes, by the number of the state: those of datasets come last,
        # as theirs are negative.
        nodes = len(graph.column_names) + len(graph.datasets)
        self._sizes_at = array("I", [0]) * (nodes * ON_DATASET)
        # States that lead to their own dataset: tasks lead back to where it is made.
        self._returning: set[int] = set()
        self._sizes = self._follow()

    def measure(self, change: ProposedChange) -> ReachOfChange:
        """The reach of a change of a dataset or a column that the graph knows."""
        number = self._graph.find_dataset(change.dataset)
        if number is None:
            return ReachOfChange(ImpactSeverity.INFO, 0, 0, 0, (), 0, 0)
        kind, start = change.kind, START[change.kind]
        of_column = change.column and kind not in OF_DATASETS
        column = self._graph.find_column(number, change.column) if of_column else None
        state = _state(number, column, start)
        sizes = self._sizes[self._sizes_at[state]]
        effects = sizes.consumers
        for reader in self._hit_readers(number, column):
            effects |= 1 << reader * _OF_CONSUMER + start
        consumers = dict(self._severities(kind, effects))
        own = state in self._returning
        worst = [_worst(kind, sizes.effects | own << start), *consumers.values()]
        if sizes.broken:
            worst.append(severity(kind, ImpactEffect.GONE))
        if sizes.tests:
            worst.append(ImpactSeverity.BLOCKING)
        return ReachOfChange(
            max(worst),
            sizes.datasets - own,
            sizes.broken,
            sizes.tests,
            tuple(sorted(consumers, key=lambda consumer: (-consumers[consumer], consumer.name))),
            sizes.known,
            sizes.flows,
        )

    def states_of(self, dataset: DatasetId, column: str) -> Hashable | None:
        """Equal for columns of a dataset that reach the same; None for one that is not known."""
        number = self._graph.find_dataset(dataset)
        at = None if number is None else self._graph.find_column(number, column)
        if number is None or at is None:
            return None
        states = [_state(number, at, effect) for effect in _COLUMN_STARTS]
        reached = tuple((self._sizes_at[state], state in self._returning) for state in states)
        return reached, tuple(self._hit_readers(number, at))

    def _hit_readers(self, dataset: int, column: int | None) -> Iterator[int]:
        """The consumers that may read a column of a dataset, or, without one, all of it."""
        for reader in self._readers.get(dataset, ()):
            if column is None or self._consumers[reader].may_read(
                self._graph.datasets[dataset], self._graph.column_names[column]
            ):
                yield reader

    def _severities(
        self, kind: ChangeType, effects: int
    ) -> Iterator[tuple[Consumer, ImpactSeverity]]:
        while effects:
            number = ((effects & -effects).bit_length() - 1) // _OF_CONSUMER
            bits = effects >> number * _OF_CONSUMER & (1 << _OF_CONSUMER) - 1
            effects ^= bits << number * _OF_CONSUMER
            consumer, worst = self._consumers[number], _worst(kind, bits)
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

    def _starts(self) -> Iterator[int]:
        for dataset, columns in self._graph.columns_of.items():
            yield from (_state(dataset, None, effect) for effect in _DATASET_STARTS)
            for name, column in columns.items():
                for effect in _COLUMN_STARTS if name != ANY_COLUMN else ():
                    yield _state(dataset, column, effect)

    def _follow(self) -> list[_Sizes]:
        """Work out the sets of all states, and return the different sizes of them.

        By Tarjan's algorithm: a state is closed behind all that it leads to, and states that lead
        to each other are closed at once, with the same sets.
        """
        sizes_at = self._sizes_at
        closed = _NumberedSets()
        open_states: list[int] = []
        places: dict[int, int] = {}

        def opened(state: int) -> _OpenState:
            place = places[state] = len(open_states)
            open_states.append(state)
            return _OpenState(state, place, *self._step(state))

        for start in self._starts():
            waiting = [] if sizes_at[start] else [opened(start)]
            while waiting:
                at = waiting[-1]
                for state in at.after:
                    if number := sizes_at[state]:
                        at.sets = at.sets.join(closed.sets[number])
                    elif state in places:
                        at.first = min(at.first, places[state])
                    else:
                        waiting.append(opened(state))
                        break
                else:
                    if at.first == at.place:
                        self._close(open_states[at.place :], at.sets, closed.number(at.sets))
                        for state in open_states[at.place :]:
                            del places[state]
                        del open_states[at.place :]
                    waiting.pop()
                    for before in waiting[-1:]:
                        before.sets = before.sets.join(at.sets)
                        before.first = min(before.first, at.first)
        return [sets.sizes() for sets in closed.sets]

    def _close(self, states: Sequence[int], sets: _Sets, number: int) -> None:
        for state in states:
            self._sizes_at[state] = number
            if sets.datasets >> self._dataset_of(state) & 1:
                self._returning.add(state)

    def _dataset_of(self, state: int) -> int:
        node = state // ON_DATASET if state >= 0 else ~state // ON_DATASET
        return self._graph.dataset_of[node] if state >= 0 else node

    def _step(self, number: int) -> tuple[_Sets, Iterator[int]]:
        """The sets of a state itself, and the states that it leads to."""
        graph, code = self._graph, number if number >= 0 else ~number
        node, own_effect = divmod(code, ON_DATASET)
        passage = steps_from(graph, own_effect | ON_DATASET * (number < 0), [node])
        is_gone = own_effect == ImpactEffect.GONE
        datasets = consumers = effects = 0
        after: dict[int, None] = {}
        for step in passage.steps:
            effect = int(effect_of(step.state))
            bit = _BROKE if is_gone and effect == ImpactEffect.LATE else effect
            for there in step.nodes:
                on_dataset = step.state & ON_DATASET
                dataset = there if on_dataset else graph.dataset_of[there]
                after[_state(dataset, None if on_dataset else there, effect)] = None
                datasets |= 1 << dataset
                effects |= 1 << bit
                for reader in self._hit_readers(dataset, None if on_dataset else there):
                    consumers |= 1 << reader * _OF_CONSUMER + bit
        known_flows = unknown_flows = tests = broken = 0
        flows = {*map(graph.edge_flow.__getitem__, passage.edges)} - {-1}
        for flow in flows.union(passage.flows) if number >= 0 else ():
            if graph.flow_has_columns[flow]:
                known_flows |= 1 << flow
            else:
                unknown_flows |= 1 << flow
        for task in passage.broken:
            broken |= 1 << task
        if is_gone and self._tests:
            name = graph.column_names[node].casefold() if number >= 0 else ""
            tests = self._tests.get((self._dataset_of(number), name), 0)
        sets = _Sets(datasets, broken, tests, known_flows, unknown_flows, consumers, effects)
        return sets, iter(after)


def _state(dataset: int, column: int | None, effect: int) -> int:
    """The number of a state of a column, or, which is negative, of a dataset."""
    return ~(dataset * ON_DATASET + effect) if column is None else column * ON_DATASET + effect


@cache
def _worst(kind: ChangeType, effects: int) -> ImpactSeverity:
    """The worst severity of the effects of a change."""
    reached = [effect for effect in _EFFECTS if effects >> effect & 1]
    reached += [ImpactEffect.GONE] if effects >> _BROKE & 1 else []
    return max((severity(kind, effect) for effect in reached), default=ImpactSeverity.INFO)
