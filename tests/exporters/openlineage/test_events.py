"""All events of a lineage: valid by the spec, the same each time, and what each of them has."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import orjson
import pytest

from dbt_graft.exporters.openlineage.events import (
    EventSelection,
    ExportedKind,
    event_key,
    events,
)
from dbt_graft.exporters.openlineage.snapshot import LineageSnapshot
from dbt_graft.lineage.openlineage import run_uuid
from dbt_graft.lineage.records import Column
from tests.cases import for_each
from tests.catalog.worlds import world
from tests.exporters.openlineage.conformance import complaints
from tests.exporters.openlineage.shop import (
    COLLECTED,
    COPY_RUN,
    DAG_RUN,
    DAILY,
    DBT_MODEL,
    FILES,
    INVOCATION,
    MART,
    NIGHT,
    ORDERS,
    TASK_INSTANCE,
    snapshot,
)


def all_events(selection: EventSelection | None = None, **changes: Any) -> list[Any]:
    return [event.event for event in events(snapshot(**changes), selection)]


def runs(job: str, kind: str | None = None) -> list[Any]:
    return [
        event
        for event in all_events(EventSelection(kinds=(ExportedKind.RUN,)))
        if event["job"]["name"] == job and kind in (None, event["eventType"])
    ]


def job(name: str) -> Any:
    [found] = [
        event
        for event in all_events(EventSelection(kinds=(ExportedKind.JOB,)))
        if event["job"]["name"] == name
    ]
    return found


def dataset(name: str) -> Any:
    selection = EventSelection(kinds=(ExportedKind.DATASET,))
    [event] = [one for one in all_events(selection) if one["dataset"]["name"] == name]
    return event["dataset"]["facets"]


def pick(facet: Any) -> Any:
    """A facet without what all have."""
    return {key: value for key, value in facet.items() if key[:1] != "_"}


def test_every_event_is_valid_by_the_spec() -> None:
    assert {tuple(complaints(event)) for event in all_events()} == {()}


@for_each("seed", range(8))
def test_events_of_made_up_lineages_are_valid(seed: int) -> None:
    lineage, descriptions, _ = world(seed).lineage()
    made = [event.event for event in events(LineageSnapshot(lineage, COLLECTED, descriptions))]
    assert {tuple(complaints(event)) for event in made} == {()}
    assert {kind for event in made for kind in ("run", "job", "dataset") if kind in event} == {
        *("run", "job", "dataset")
    }


def test_the_same_store_makes_the_same_bytes() -> None:
    assert orjson.dumps(all_events()) == orjson.dumps(all_events())


def test_no_literal_is_in_an_event() -> None:
    assert b"'" not in b"".join(orjson.dumps(event) for event in all_events())


def test_a_run_has_a_start_and_an_end() -> None:
    start, end = (run for run in runs("load") if run["run"]["runId"] == _id("load-1"))
    assert [one["eventType"] for one in (start, end)] == ["START", "COMPLETE"]
    assert start["eventTime"] == "2026-11-22T02:00:00Z"
    assert end["eventTime"] == "2026-11-22T02:01:00Z"
    assert (start["inputs"], start["outputs"]) == ([], [])
    not_extracted = end["run"]["facets"]["extractionError"]
    assert end["run"] == {
        **start["run"],
        "facets": {**start["run"]["facets"], "extractionError": not_extracted},
    }
    assert pick(not_extracted) == {
        "totalTasks": 3,
        "failedTasks": 1,
        "errors": [{"errorMessage": "dynamic SQL not resolved", "task": "EXEC (@sql)"}],
    }


def _id(run: str, engine: str = "sqlserver") -> str:
    return str(run_uuid(run.rpartition("-")[0], engine, run))


def test_a_failed_run_without_a_known_start_has_one_event() -> None:
    [event] = [run for run in runs("load") if run["run"]["runId"] == _id("load-2")]
    assert event["eventType"] == "FAIL"
    assert pick(event["run"]["facets"]["errorMessage"]) == {
        "message": "Invalid object ?",
        "programmingLanguage": "SQL",
    }
    assert event["outputs"] == []


def test_a_run_without_a_known_end_is_running() -> None:
    start, event = (run for run in runs("load") if run["run"]["runId"] == _id("load-3"))
    assert (start["eventType"], event["eventType"]) == ("START", "RUNNING")
    assert [output["name"] for output in event["outputs"]] == ["Shop.dbo.Orders"]


def test_an_end_has_what_the_run_did() -> None:
    event = runs("load", "COMPLETE")[0]
    [source], [target] = event["inputs"], event["outputs"]
    assert pick(source["inputFacets"]["inputStatistics"]) == {
        "rowCount": 9,
        "size": 2048,
        "fileCount": 2,
    }
    assert pick(target["outputFacets"]["outputStatistics"]) == {"rowCount": 7}
    assert pick(target["facets"]["lifecycleStateChange"]) == {"lifecycleStateChange": "OVERWRITE"}
    assert pick(target["facets"]["schema"])["fields"] == [
        {"name": "id", "type": "int"},
        {"name": "amount", "type": "decimal(9,2)"},
    ]
    assert pick(target["facets"]["symlinks"])["identifiers"] == [
        {"namespace": "file", "name": "/data/orders", "type": "LOCATION"}
    ]
    columns = target["facets"]["columnLineage"]
    assert columns["fields"].keys() == {"id", "amount"}
    assert columns["fields"]["amount"]["inputFields"][0]["transformations"] == [
        {"type": "DIRECT", "subtype": "TRANSFORMATION", "description": "", "masking": True}
    ]
    assert [one["field"] for one in columns["dataset"]] == ["day"]


def test_a_count_that_is_none_is_left_out() -> None:
    known = snapshot()
    accesses = [replace(access, rows=2**62, bytes=2**63 - 1) for access in known.accesses] * 2
    found = [event.event for event in events(replace(known, accesses=accesses))]
    of_load = [event for event in found if "run" in event and event["job"]["name"] == "load"]
    assert b"rowCount" not in orjson.dumps(of_load)
    assert {tuple(complaints(event)) for event in found} == {()}


def test_the_lineage_facet_connects_outputs_with_inputs() -> None:
    [entry] = runs("load", "COMPLETE")[0]["job"]["facets"]["lineage"]["entries"]
    assert (entry["type"], entry["name"]) == ("DATASET", "Shop.dbo.Orders")
    assert [(one["name"], one.get("field")) for one in entry["inputs"]] == [
        ("landing/orders", None),
        ("landing/orders", "day"),
    ]
    assert [one["field"] for one in entry["fields"]["amount"]["inputs"]] == ["price"]


def test_what_only_reads_is_the_target_itself() -> None:
    [entry] = job("report")["job"]["facets"]["lineage"]["entries"]
    assert (entry["type"], [one["name"] for one in entry["inputs"]]) == ("JOB", [DAILY.name])
    assert "name" not in entry


def test_statements_are_shapes_in_their_order_and_plans_are_none() -> None:
    query = runs("load", "COMPLETE")[0]["job"]["facets"]["sql"]
    assert query["query"].split(";\n") == [
        "TRUNCATE TABLE dbo.Orders",
        "INSERT INTO dbo.Orders (id, amount) SELECT id, amount FROM #stage WHERE day = ?",
    ]
    assert query["dialect"] == "tsql"


def test_a_run_names_its_parent_and_the_root() -> None:
    parent = pick(runs("load", "COMPLETE")[0]["run"]["facets"]["parent"])
    assert parent == {
        "run": {"runId": TASK_INSTANCE},
        "job": {"namespace": "airflow-shop", "name": "shop.load"},
        "root": {
            "run": {"runId": DAG_RUN},
            "job": {"namespace": "airflow-shop", "name": "shop"},
        },
    }


def test_a_run_of_another_producer_keeps_its_job_and_id() -> None:
    event = runs("shop.copy", "COMPLETE")[0]
    assert event["run"]["runId"] == COPY_RUN
    assert event["job"]["namespace"] == "airflow-shop"
    facets = event["run"]["facets"]
    assert pick(facets["nominalTime"]) == {
        "nominalStartTime": "2026-11-21T02:00:00Z",
        "nominalEndTime": "2026-11-22T02:00:00Z",
    }
    assert pick(facets["processing_engine"])["name"] == "airflow"
    assert {tag["key"]: tag["value"] for tag in facets["tags"]["tags"]} == {
        "attempt": "2",
        "url": "http://airflow/dags/shop/copy?try_number=2",
    }
    assert job("shop.copy")["job"]["namespace"] == "airflow-shop"


@pytest.mark.parametrize(
    ("before", "named"),
    [
        ("", {"namespace": "graft", "name": "load"}),
        ("etl/shop.load/", {"namespace": "etl", "name": "shop.load"}),
    ],
)
def test_a_parent_that_no_log_shows_is_named_by_its_id(before: str, named: dict[str, str]) -> None:
    known = snapshot()
    lineage = known.lineage
    load = lineage.tasks["load"]
    runs_of = tuple(replace(run, parent_run_id=f"{before}{UUID(int=5)}") for run in load.runs)
    tasks = {"load": replace(load, runs=runs_of)}
    made = replace(known, lineage=replace(lineage, tasks=tasks))
    event = next(one.event for one in events(made, EventSelection((ExportedKind.RUN,))))
    assert pick(event["run"]["facets"]["parent"]) == {
        "run": {"runId": str(UUID(int=5))},
        "job": named,
    }


def test_a_renamed_table_has_its_name_of_today_and_the_former_one() -> None:
    [event] = runs("daily", "COMPLETE")
    [target] = event["outputs"]
    assert target["name"] == "Shop.dbo.Daily"
    assert pick(target["facets"]["lifecycleStateChange"]) == {
        "lifecycleStateChange": "RENAME",
        "previousIdentifier": {"namespace": "mssql://crm:1433", "name": "Shop.dbo.Daily_new"},
    }


def test_a_task_is_a_job_with_all_that_people_say_of_it() -> None:
    facets = job("load")["job"]["facets"]
    assert pick(facets["jobType"]) == {
        "processingType": "BATCH",
        "integration": "MSSQL",
        "jobType": "TASK",
    }
    assert facets["documentation"]["description"] == "Loads **orders**."
    assert facets["ownership"]["owners"] == [{"name": "data-platform"}]
    assert facets["tags"]["tags"] == [{"key": "critical", "value": "critical", "source": "USER"}]
    assert pick(facets["sourceCodeLocation"]) == {
        "type": "git",
        "url": "https://github.com/shop/etl/blob/HEAD/jobs/load%20orders.py",
        "repoUrl": "https://github.com/shop/etl",
        "path": "jobs/load orders.py",
    }


def test_a_view_is_a_job_that_nobody_runs() -> None:
    name = "view.mssql://crm:1433/Shop.dbo.Current"
    event = job(name)
    assert [one["name"] for one in event["inputs"]] == ["Shop.dbo.Orders"]
    assert event["job"]["facets"]["jobType"]["jobType"] == "VIEW"
    assert runs(name) == []


def test_a_dbt_model_runs_in_each_invocation_that_did_not_skip_it() -> None:
    start, end = runs(f"dbt.{DBT_MODEL}")
    assert (start["eventType"], end["eventType"]) == ("START", "COMPLETE")
    [target] = end["outputs"]
    assert target["outputFacets"]["outputStatistics"]["rowCount"] == 5
    [total] = target["facets"]["columnLineage"]["fields"]["total"]["inputFields"]
    assert total["transformations"][0]["description"] == "declared, not observed"
    assert pick(end["run"]["facets"]["parent"]) == {
        "run": {"runId": INVOCATION},
        "job": {"namespace": "graft", "name": "dbt.shop"},
    }
    assert end["job"]["facets"]["ownership"]["owners"] == [{"name": "finance"}]


def test_a_dataset_has_what_dbt_says_of_it() -> None:
    facets = dataset(MART.name)
    assert facets["schema"]["fields"] == [{"name": "total", "description": "Of all orders."}]
    assert facets["documentation"]["description"] == "Totals."
    assert [(tag["key"], tag["value"], tag.get("field")) for tag in facets["tags"]["tags"]] == [
        ("nightly", "nightly", None),
        ("sensitivity", "confidential", None),
        ("sensitivity", "PII", "total"),
    ]
    assert facets["columnLineage"]["fields"].keys() == {"total"}
    assert dataset(FILES.name)["datasetType"]["datasetType"] == "FILE"


@pytest.mark.parametrize(
    ("selection", "jobs", "datasets"),
    [
        (EventSelection(tasks=["daily"]), {"daily"}, {ORDERS.name, DAILY.name}),
        (EventSelection(tasks=[DBT_MODEL]), {f"dbt.{DBT_MODEL}"}, {ORDERS.name, MART.name}),
        (EventSelection(since=NIGHT + timedelta(days=1)), set(), set()),
        (
            EventSelection(tasks=["load", "daily"], since=NIGHT + timedelta(minutes=3)),
            {"load"},
            {ORDERS.name, FILES.name},
        ),
    ],
)
def test_a_selection_has_its_tasks_and_their_datasets(
    selection: EventSelection, jobs: set[str], datasets: set[str]
) -> None:
    found = all_events(selection)
    assert {event["job"]["name"] for event in found if "job" in event} == jobs
    assert {event["dataset"]["name"] for event in found if "dataset" in event} == datasets


def test_since_takes_only_the_later_runs() -> None:
    selection = EventSelection((ExportedKind.RUN,), since=NIGHT + timedelta(minutes=3))
    assert {event["run"]["runId"] for event in all_events(selection)} == {_id("load-3")}


def test_what_is_no_news_has_the_key_that_it_had() -> None:
    before = [event_key(event) for event in all_events()]
    later = [event_key(event) for event in all_events(at=COLLECTED + timedelta(days=1))]
    assert before == later
    assert len(set(before)) == len(before)


def test_a_new_column_is_news_of_its_table_and_of_no_past_run() -> None:
    before = {event_key(event.event) for event in events(snapshot())}
    known = snapshot()
    orders = known.lineage.datasets[ORDERS]
    wider = replace(orders, columns=(*orders.columns, Column("currency")))
    lineage = replace(known.lineage, datasets={**known.lineage.datasets, ORDERS: wider})
    after = [event.event for event in events(replace(known, lineage=lineage))]
    [news] = [event for event in after if event_key(event) not in before]
    assert news["dataset"]["name"] == ORDERS.name


def test_another_namespace_makes_other_jobs_and_runs() -> None:
    mine = {event["run"]["runId"] for event in all_events() if "run" in event}
    other = all_events(namespace="prod")
    assert {one["job"]["namespace"] for one in other if "job" in one} == {"prod", "airflow-shop"}
    assert mine & {one["run"]["runId"] for one in other if "run" in one} == {COPY_RUN}
