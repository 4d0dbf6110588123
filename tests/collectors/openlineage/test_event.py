"""Checks of events: what the schema requires, in its words."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from dbt_graft.collectors.openlineage.event import EventKind, NotAnEventError, read_event
from tests.cases import for_each
from tests.collectors.openlineage.events import event, run_id

GOOD = event("COMPLETE", inputs=["file /a"], outputs=["file /b"])


def changed(**keys: Any) -> dict[str, Any]:
    return {**GOOD, **keys}


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in GOOD.items() if name != key}


COMPLAINTS = {
    "no object": ([GOOD], "the event is not of type 'object'"),
    "a text": ("START", "the event is not of type 'object'"),
    "another JSON": (
        {"metadata": {}},
        "has neither 'run' nor 'job' nor 'dataset': not an OpenLineage event",
    ),
    "no time": (without("eventTime"), "'eventTime' is a required property"),
    "a wrong time": (changed(eventTime="yesterday"), "eventTime is not a 'date-time'"),
    "a date as time": (changed(eventTime="2026-11-22"), "eventTime is not a 'date-time'"),
    "digits as time": (changed(eventTime="20261122"), "eventTime is not a 'date-time'"),
    "a time that stands for none": (
        changed(eventTime="9999-12-31T23:59:59Z"),
        "eventTime is before 1970 or after 2199",
    ),
    "the year 1": (
        changed(eventTime="0001-01-01T00:00:00Z"),
        "eventTime is before 1970 or after 2199",
    ),
    "a time of no calendar": (
        changed(eventTime="9999-12-31T23:59:59-05:00"),
        "eventTime is not a 'date-time'",
    ),
    "a number as time": (changed(eventTime=1), "eventTime is not a 'date-time'"),
    "no job": (without("job"), "'job' is a required property"),
    "a job without a name": (
        changed(job={"namespace": "n"}),
        "'job.name' is a required property",
    ),
    "an empty name": (changed(job={"namespace": "n", "name": " "}), "'job.name' is empty"),
    "a number as name": (
        changed(job={"namespace": "n", "name": 1}),
        "job.name is not of type 'string'",
    ),
    "a run without an id": (changed(run={}), "'run.runId' is a required property"),
    "a wrong run id": (changed(run={"runId": "manual__1"}), "run.runId is not a 'uuid'"),
    "a wrong state": (
        changed(eventType="DONE"),
        "eventType is not one of ABORT, COMPLETE, FAIL, OTHER, RUNNING, START",
    ),
    "inputs of a wrong type": (changed(inputs={"name": "a"}), "inputs is not of type 'array'"),
    "an output without a namespace": (
        changed(outputs=[GOOD["outputs"][0], {"name": "a"}]),
        "'outputs[1].namespace' is a required property",
    ),
    "facets of a wrong type": (
        changed(run={"runId": run_id(1), "facets": [1]}),
        "run.facets is not of type 'object'",
    ),
}


@for_each("claim", COMPLAINTS)
def test_what_a_wrong_event_lacks(claim: str) -> None:
    found, complaint = COMPLAINTS[claim]
    with pytest.raises(NotAnEventError) as error:
        read_event(found)
    assert str(error.value) == complaint


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ("2026-11-22T08:00:00Z", datetime(2026, 11, 22, 8, tzinfo=UTC)),
        ("2026-11-22t08:00:00z", datetime(2026, 11, 22, 8, tzinfo=UTC)),
        ("2026-11-22T10:00:00.5+02:00", datetime(2026, 11, 22, 8, 0, 0, 500_000, tzinfo=UTC)),
        ("2026-11-22T08:00:00", datetime(2026, 11, 22, 8, tzinfo=UTC)),
    ],
)
def test_times_are_in_utc(at: str, expected: datetime) -> None:
    assert read_event(changed(eventTime=at)).at == expected


def test_the_three_kinds_of_events() -> None:
    assert read_event(GOOD).kind is EventKind.RUN
    assert read_event(event("")).kind is EventKind.JOB
    of_dataset = {"eventTime": GOOD["eventTime"], "dataset": GOOD["outputs"][0]}
    assert read_event(of_dataset).kind is EventKind.DATASET


def test_a_run_id_in_upper_case_is_the_same_run() -> None:
    upper = changed(run={"runId": run_id(1).upper()})
    assert read_event(upper).run_id == run_id(1)


def test_what_is_null_is_missing() -> None:
    found = read_event(changed(inputs=None, outputs=None, eventType=None))
    assert (found.inputs, found.outputs, found.state) == ((), (), "OTHER")


@pytest.mark.parametrize(
    ("facet", "is_left"),
    [
        ({"_schemaURL": "https://x/graft-facets.schema.json#/$defs/GraftDatasetFacet"}, False),
        ({"_schemaURL": "https://x/docs/other.json#/$defs/GraftDatasetFacet"}, True),
        ({"_schemaURL": 1}, True),
        ([], True),
        (None, True),
    ],
)
def test_what_graft_itself_put_into_an_event_of_airflow_is_no_news(
    facet: Any, is_left: bool
) -> None:
    def with_facet(one: dict[str, Any]) -> dict[str, Any]:
        return {**one, "facets": {"graft": facet}}

    found = read_event(
        changed(
            inputs=[with_facet(GOOD["inputs"][0]), {"namespace": "file", "name": "/declared"}],
            outputs=[with_facet(GOOD["outputs"][0])],
        )
    )
    assert [one.name for one in found.inputs] == [*(["/a"] if is_left else []), "/declared"]
    assert len(found.outputs) == int(is_left)
