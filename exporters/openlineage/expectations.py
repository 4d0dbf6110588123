"""Emitted events against expected ones, by job and type of event.

Expected events are an object with keys `<job>.event.<type>` (`load_orders.event.complete`), of a
JobEvent `<job>.event.job`, of a DatasetEvent `<dataset>.event.dataset`; or a list of events, which
have these keys by their own names. Under a key there is one event, a list of as many as are
emitted, or `{"$absent": "why"}`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dbt_graft.exporters.openlineage.comparison import EventDifference, differences
from dbt_graft.exporters.openlineage.facets import Event
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.grouping import group_by_key

_ABSENT = "$absent"


@frozen
class ExpectedEvents:
    """The events expected under one key: one for each template, or none."""

    key: str
    templates: tuple[Mapping[str, Any], ...]


@frozen
class KeyResult:
    """The comparison of the events of one key.

    Attributes:
        found: The number of events.
        differences: For each expected event those with the event that is most like it.
    """

    key: str
    expected: int
    found: int
    differences: tuple[EventDifference, ...] = ()

    @property
    def is_met(self) -> bool:
        """Whether the events are as expected."""
        return not self.differences and self.expected == self.found


def event_name(event: Any) -> str:
    """The key of an event.

    Raises:
        ValueError: It names no job, and no dataset.
    """
    try:
        if "dataset" in event and "job" not in event:
            return f"{event['dataset']['name']}.event.dataset"
        kind = str(event["eventType"]).lower() if "eventType" in event else "job"
        return f"{event['job']['name']}.event.{kind}"
    except (KeyError, TypeError) as error:
        raise ValueError("is not an OpenLineage event: it names no job, and no dataset") from error


def expected_events(document: Any) -> list[ExpectedEvents]:
    """The expectations of a document, as the module describes it.

    Raises:
        ValueError: It is no such document.
    """
    templates_by_key: dict[str, list[Any]] = defaultdict(list)
    if isinstance(document, list):
        for event in document:
            templates_by_key[event_name(event)].append(event)
    elif isinstance(document, dict):
        for key, value in document.items():
            templates_by_key[str(key)] += value if isinstance(value, list) else [value]
    else:
        raise ValueError("must be an object with keys `<job>.event.<type>`, or a list of events")
    for key, templates in templates_by_key.items():
        if not all(isinstance(template, dict) for template in templates):
            raise ValueError(f"{key} must be an event, or a list of events")
    return [
        ExpectedEvents(key, tuple(template for template in templates if _ABSENT not in template))
        for key, templates in templates_by_key.items()
    ]


def compare(expected: Iterable[ExpectedEvents], events: Iterable[Event]) -> tuple[KeyResult, ...]:
    """Compare events with what is expected, key by key in the order of the expectations."""
    by_key = group_by_key((event_name(event), event) for event in events)
    return tuple(
        _compare_key(expectation, by_key.get(expectation.key, ())) for expectation in expected
    )


def _compare_key(expected: ExpectedEvents, events: Sequence[Event]) -> KeyResult:
    table = [
        [tuple(differences(template, event)) for event in events] for template in expected.templates
    ]
    pairs = _pairs([[not cell for cell in row] for row in table])
    unmatched = [number for number in range(len(events)) if number not in pairs.values()]
    faults: list[EventDifference] = []
    for number, row in enumerate(table):
        if number not in pairs and unmatched:
            best = min(unmatched, key=lambda event, row=row: len(row[event]))  # type: ignore[misc]
            unmatched.remove(best)
            faults += row[best]
    return KeyResult(expected.key, len(expected.templates), len(events), tuple(faults))


def _pairs(fitting: Sequence[Sequence[bool]]) -> dict[int, int]:
    """The most templates that can each have a fitting event of their own: template -> event.

    Events come in any order, and a loose template fits several: where one is taken, its template
    looks for another (augmenting paths).
    """
    taken: dict[int, int] = {}  # event -> template

    def find(template: int, tried: set[int]) -> bool:
        for event, fits in enumerate(fitting[template]):
            if fits and event not in tried:
                tried.add(event)
                if event not in taken or find(taken[event], tried):
                    taken[event] = template
                    return True
        return False

    for template in range(len(fitting)):
        find(template, set())
    return {template: event for event, template in taken.items()}
