"""Emitted events against expected ones by key: how many, in any order, or none."""

from __future__ import annotations

from typing import Any

import pytest

from dbt_graft.exporters.openlineage.expectations import compare, event_name, expected_events
from tests.cases import for_each


def event(number: int, kind: str = "START", job: str = "load") -> dict[str, Any]:
    return {"eventType": kind, "job": {"name": job}, "run": {"number": number}}


def faults(document: Any, *events: dict[str, Any]) -> dict[str, tuple[int, int, list[str]]]:
    results = compare(expected_events(document), events)
    return {
        result.key: (result.expected, result.found, [fault.path for fault in result.differences])
        for result in results
        if not result.is_met
    }


KEY = "load.event.start"


@pytest.mark.parametrize(
    ("found", "key"),
    [
        (event(1), KEY),
        ({"job": {"name": "a.b"}}, "a.b.event.job"),
        ({"dataset": {"name": "raw.orders"}}, "raw.orders.event.dataset"),
    ],
)
def test_an_event_has_a_key(found: Any, key: str) -> None:
    assert event_name(found) == key


@for_each("found", [{}, [], "x", 1, None, {"job": 3}, {"eventType": "START"}])
def test_what_is_no_event_is_refused(found: Any) -> None:
    with pytest.raises(ValueError, match="not an OpenLineage event"):
        event_name(found)


@pytest.mark.parametrize(
    "document",
    [
        {KEY: event(1), "load.event.fail": {"$absent": "it never fails"}},
        {KEY: [event(1)]},
        [event(1), {**event(1, "FAIL"), "$absent": "it never fails"}],
    ],
)
def test_expected_events_are_written_in_three_ways(document: Any) -> None:
    assert faults(document, event(1), event(7, job="other")) == {}


def test_a_missing_event_and_one_too_many_are_found() -> None:
    assert faults({KEY: {}}) == {KEY: (1, 0, [])}
    assert faults({KEY: {}}, event(1), event(2)) == {KEY: (1, 2, [])}
    assert faults({KEY: {"$absent": "x"}}, event(1)) == {KEY: (0, 1, [])}


def test_events_of_a_key_come_in_any_order() -> None:
    loose = {"run": {"number": "{{ result > 0 }}"}}
    templates = [loose, event(1), event(2)]
    assert faults({KEY: templates}, event(1), event(2), event(3)) == {}


def test_a_template_is_shown_against_the_event_that_is_most_like_it() -> None:
    wanted = {**event(5), "other": 1}
    found = [{**event(4), "other": 1}, {**event(6), "other": 2}]
    assert faults({KEY: [wanted, event(6)]}, *found) == {KEY: (2, 2, ["run.number"])}


@pytest.mark.parametrize(
    ("document", "message"),
    [(3, "must be an object"), ({KEY: "x"}, KEY), ([{}], "not an OpenLineage event")],
)
def test_a_document_without_events_is_an_error(document: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        expected_events(document)
