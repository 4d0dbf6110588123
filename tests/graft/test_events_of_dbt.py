"""dbt's models in OpenLineage events, with and without a dbt project beside graft.yml."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from dbt_graft.graft.commands.cli import main
from tests.collectors.openlineage.events import event, written

CONFIG = "engine: local\ncollect: [{openlineage: {path: events.jsonl}}]\n"


def edges(folder: Path) -> list[str]:
    query = "select task || ': ' || from_dataset || ' > ' || to_dataset as edge from edges"
    options = ["-c", str(folder / "graft.yml"), "--format", "json"]
    result = CliRunner().invoke(main, ["query", query, *options], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return [row["edge"] for row in json.loads(result.stdout)]


def test_models_are_tasks_as_long_as_there_is_no_dbt_project(tmp_path: Path) -> None:
    (tmp_path / "graft.yml").write_text(CONFIG, "utf-8")
    model = event(
        job="dw.shop.orders",
        by="dbt",
        inputs=["spark raw.orders"],
        outputs=["spark marts.orders"],
        job_facets={"jobType": {"jobType": "MODEL"}},
    )
    written(tmp_path / "events.jsonl", model)
    collect = ["collect", "-c", str(tmp_path / "graft.yml")]
    assert CliRunner().invoke(main, collect).exit_code == 0
    assert edges(tmp_path) == ["dw.shop.orders: spark/raw.orders > spark/marts.orders"]
    # Its artifacts are to come, and know more.
    (tmp_path / "dbt_project.yml").write_text("name: shop\n", "utf-8")
    assert edges(tmp_path) == []
