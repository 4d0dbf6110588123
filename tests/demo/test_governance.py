"""The demo's contract, deadline, drift and sensitive columns, worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dbt_graft.graft.commands.cli import main

pytestmark = pytest.mark.demo

Expected = dict[str, Any]


def document(root: Path, *command: str) -> Any:
    config = str(root / "dbt_project/graft.yml")
    done = CliRunner().invoke(main, [*command, "-c", config, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def check(root: Path, name: str, *options: str) -> Any:
    return document(root, "check", "--only", name, *options)["data"][name]


@pytest.fixture(scope="module", autouse=True)
def _complete(demo: Path) -> None:
    """Skip without a complete run of the demo."""


def test_what_purchasing_wrote_down_has_drifted(root: Path, expected: Expected) -> None:
    purchasing = {line.split()[0] for line in expected["drift"]}
    edges = [
        f"{edge['task']} {edge['direction']}s {edge['dataset']} {edge['status']}"
        for edge in check(root, "drift")["edges"]
        if edge["task"] in purchasing
    ]
    assert sorted(edges) == expected["drift"]


def test_all_that_the_manifest_says_of_models_was_read_by_their_runs(root: Path) -> None:
    edges = check(root, "drift")["edges"]
    statuses = {edge["status"] for edge in edges if edge["task"].startswith("model.")}
    assert statuses == {"VERIFIED"}


def test_every_sensitive_column_and_no_other(root: Path, expected: Expected) -> None:
    columns = {
        f"{column['dataset']}.{column['column']}": ", ".join(
            [
                column["classification"],
                *(step["masked_by"] for step in column["path"] if step["masked_by"]),
            ]
        )
        for column in check(root, "privacy")["columns"]
    }
    assert columns == expected["sensitive"]


def test_the_night_of_the_doubled_customers(root: Path, expected: Expected) -> None:
    night = expected["promises"]
    found = check(root, "quality", "--at", night["at"])
    faults: dict[str, list[str]] = {name: [] for name in night["faults"]}
    for dataset, reached in found["datasets"].items():
        for one in reached:
            faults[_name(one)].append(dataset)
    assert {_name(fault) for fault in found["faults"]} == set(night["faults"])
    assert faults == night["faults"]
    deadlines = {
        deadline["consumer"]: deadline["status"]
        for deadline in found["deadlines"]
        if deadline["deadline"]
    }
    assert deadlines == night["deadlines"]


def _name(fault: Expected) -> str:
    table = fault["dataset"].partition("/")[2]
    if fault["test"]:
        return f"{fault['test']} of {table}.{fault['column']}"
    return f"the last {fault['kind']} of {table}"


def test_a_catalog_that_is_not_as_the_logs_show_has_drifted(
    root: Path, demo: Path, tmp_path: Path
) -> None:
    """The example of docs/check.md, on the demo with three faults in dbt's artifacts."""
    (tmp_path / "target").mkdir()
    orders = "source.shop.raw.orders"
    for name in ("manifest.json", "catalog.json"):
        document = json.loads((demo / "target" / name).read_text())
        columns = document["sources"][orders]["columns"]
        if name == "catalog.json":
            del columns["currency"]
            columns["quantity"]["type"] = "string"
        else:
            columns["colour"] = {"name": "colour", "description": "", "meta": {}, "tags": []}
        (tmp_path / "target" / name).write_text(json.dumps(document))
    (tmp_path / "dbt_project.yml").write_text("name: shop\n")
    (tmp_path / "graft.yml").write_text(f"dbt: {{target_dir: target}}\nstore: {demo / 'store'}\n")
    command = ["check", "--only", "drift", "-c", str(tmp_path / "graft.yml")]
    done = CliRunner().invoke(main, command)
    text = (root / "docs/check.md").read_text()
    example = text.partition("warning: COLUMN_DRIFT")[2].partition("```")[0].splitlines()[1:]
    # The day is that of the demo's last run.
    subjects = {" ".join(line.split()[:3]) for line in example}
    assert subjects == {
        " ".join(line.split()[:3])
        for line in done.stdout.splitlines()
        if line.startswith("  spark/raw.orders: ")
    }
