"""Metadata of datasets in events: used where neither dbt nor a task's metadata has any."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dbt_graft.injector.inherited import graft_meta
from dbt_graft.injector.report import Grafted
from dbt_graft.lineage.dataset import parse_dataset_id
from tests.injector.conftest import Log, Project

Run = Callable[[Project, Log], Grafted]

WORDS = {
    "description": "All that *came back*.\n\n<script>alert(1)</script>",
    "owner": "returns-team",
    "tags": ("gold",),
    "columns": {"reason": ("Why, in <b>words</b>.", ("pii",)), "id": ("The key.", ())},
}


def node_of(grafted: Grafted, dataset: str) -> dict[str, Any]:
    node_id = grafted.descriptions[parse_dataset_id(dataset)].node_id
    found: dict[str, Any] = {**grafted.manifest["nodes"], **grafted.manifest["sources"]}[node_id]
    return found


@pytest.mark.parametrize("name", ["spark/raw.returns", "landing/returns"])
def test_a_dataset_that_dbt_does_not_know_has_the_texts_of_events(
    project: Project, log: Log, run: Run, name: str
) -> None:
    log.columns("landing/returns", id="int", reason="string")
    log.metadata(name, **WORDS)
    grafted = run(project, log)
    node, shown = node_of(grafted, name), grafted.descriptions[parse_dataset_id(name)]
    assert node["description"].startswith(
        "All that \\*came back\\*.\n\n\\<script\\>alert(1)\\</script\\>\n\n"
    )
    assert node["columns"]["reason"]["description"].startswith("Why, in \\<b\\>words\\</b\\>.")
    assert node["columns"]["reason"]["tags"] == ["pii"]
    assert node["columns"]["id"]["tags"] == []
    assert "gold" in node["tags"]
    assert "gold" in node["config"]["tags"]
    assert node["meta"]["graft"]["owners"] == ["returns-team"]
    # Pages show Markdown without its dangers.
    assert shown.text == WORDS["description"]
    assert (shown.owner, shown.tags[-1]) == ("returns-team", "gold")
    assert shown.columns["reason"] == "Why, in <b>words</b>."
    assert (shown.sensitivity, shown.column_sensitivity) == ("", {"reason": "PII"})


def test_an_event_s_description_of_a_task_is_no_markup(
    project: Project, log: Log, run: Run
) -> None:
    log.task_metadata("rebuild_returns", description="Rebuilds *all*.\n\n<img src=x>")
    node = node_of(run(project, log), "spark/raw.returns")
    assert "\n\nRebuilds \\*all\\*.\n\n\\<img src=x\\>\n\n" in node["description"]


def test_the_owner_has_a_group_and_stands_in_the_catalog(
    project: Project, log: Log, run: Run
) -> None:
    log.metadata("spark/raw.returns", owner="returns-team")
    grafted = run(project, log)
    node = node_of(grafted, "spark/raw.returns")
    groups = grafted.manifest["groups"].values()
    [group] = [one for one in groups if one["name"] == node["group"]]
    assert group["owner"]["name"] == "returns-team"
    assert grafted.catalog["nodes"][node["unique_id"]]["metadata"]["owner"] == "returns-team"


def test_dbt_and_a_task_come_before_events(project: Project, log: Log, run: Run) -> None:
    log.metadata("spark/raw.orders", **WORDS)
    grafted = run(project, log)
    node = node_of(grafted, "spark/raw.orders")
    shown = grafted.descriptions[parse_dataset_id("spark/raw.orders")]
    assert "came back" not in node["description"]
    assert "gold" not in node["tags"]
    assert node["meta"]["graft"]["owners"] == ["platform"]
    assert node["columns"]["id"]["description"] == "The **key**."
    assert shown.text == "orders as they arrive."
    assert shown.owner == "platform"
    assert "gold" not in shown.tags
    # Of what dbt says nothing about, the events' word is there.
    assert shown.columns == {"id": "The **key**.", "reason": "Why, in <b>words</b>."}


def test_a_model_of_dbt_is_described_on_pages_only(project: Project, log: Log, run: Run) -> None:
    before = run(project, log).manifest["nodes"]["model.shop.customers"]
    project.manifest["nodes"]["model.shop.customers"]["description"] = ""
    log.metadata("spark/analytics.customers", **WORDS)
    grafted = run(project, log)
    node = grafted.manifest["nodes"]["model.shop.customers"]
    shown = grafted.descriptions[parse_dataset_id("spark/analytics.customers")]
    assert "came back" not in node["description"]
    assert node["tags"] == before["tags"]
    assert (shown.text, shown.owner) == (WORDS["description"], "returns-team")
    assert shown.tags == ("gold",)


def test_tags_of_events_follow_the_setting_for_tags_of_teams(project: Project, log: Log) -> None:
    from dbt_graft.injector.graft import graft
    from dbt_graft.injector.options import GraftOptions

    log.metadata("spark/raw.returns", tags=("gold",))
    options = GraftOptions("spark", "", tags=("task",))
    grafted = graft(project.artifacts(), log.lineage(), options)
    assert node_of(grafted, "spark/raw.returns")["tags"] == ["task:rebuild_returns"]


def test_a_source_without_rows_has_no_newest_record() -> None:
    checked = {"status": "error", "max_loaded_at": "0001-01-01T00:00:00+00:00"}
    meta = graft_meta([{"unique_id": "source.shop.raw.a"}], {"source.shop.raw.a": checked})
    assert meta["freshness"] == {"status": "error"}
