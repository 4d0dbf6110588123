"""`graft check --only privacy`: labels of dbt and graft.yml, ways, findings, the docs' example."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dbt_graft.graft.commands.cli import main
from dbt_graft.graft.project.config import load
from tests.graft.commands.answers import read_answer
from tests.graft.commands.test_impact import board, everything, listed, node
from tests.graft.small_project import small_project

# `raw.orders.mail -> orders_x.domain -> mart.last_domain`, and a script behind.
LINEAGE = """\
version: 1
tasks:
  load:
    flows: [{from: [sftp/files], to: [spark/raw.orders]}]
  mart_to_mail:
    flows: [{from: [spark/db.mart], to: [sftp/mail]}]
"""
MODELS = {
    "orders_x": ("raw.orders", "select id, split_part(mail, '@', 2) as domain from raw.orders"),
    "mart": (
        "db.orders_x",
        "select max(domain) as last_domain, count(domain) as n from db.orders_x group by domain",
    ),
}
COLUMNS = {"raw.orders": "id mail", "db.orders_x": "id domain", "db.mart": "last_domain n"}
PUBLISHED = "SENSITIVE_COLUMN_PUBLISHED"
UNCLASSIFIED = "SENSITIVE_COLUMN_UNCLASSIFIED"
# The script that writes it names no columns.
RAW = ("SENSITIVE_ASSET_MISSING_PRIVACY_LINEAGE", "spark/raw.orders.mail")
MART = ("spark/db.mart.last_domain", "spark/db.mart.n")
BOTH = "spark/db.mart.last_domain, n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tests.graft.commands.test_impact.COLUMNS", COLUMNS)
    small_project(tmp_path)
    (tmp_path / "lineage.yml").write_text(LINEAGE)
    manifest = json.loads((tmp_path / "target/manifest.json").read_text())
    catalog = json.loads((tmp_path / "target/catalog.json").read_text())
    manifest["sources"]["source.shop.raw.orders"] = node("source", "raw.orders") | {
        "columns": {
            "mail": {"name": "mail", "meta": {"pii": True}, "tags": []},
            "id": {"name": "id", "meta": {"classification": "keys"}, "tags": []},
        }
    }
    for name, (parent, sql) in MODELS.items():
        parents = [key for key, known in everything(manifest) if known["graft_name"] == parent]
        manifest["nodes"][f"model.shop.{name}"] = node("model", f"db.{name}") | {
            "compiled_code": sql,
            "depends_on": {"nodes": parents, "macros": []},
        }
    manifest["exposures"]["exposure.shop.board"] = board("model.shop.mart") | {"label": "Board"}
    for key, one in everything(manifest):
        part = "sources" if key.startswith("source") else "nodes"
        catalog[part][key] = listed(key, one.pop("graft_name"))
    (tmp_path / "target/manifest.json").write_text(json.dumps(manifest))
    (tmp_path / "target/catalog.json").write_text(json.dumps(catalog))
    assert CliRunner().invoke(main, ["collect", "-c", str(tmp_path / "graft.yml")]).exit_code == 0
    return tmp_path


def report(folder: Path, *arguments: str) -> Result:
    command = ["check", "--only", "privacy", "-c", str(folder / "graft.yml"), *arguments]
    return CliRunner().invoke(main, command)


def labels(answer: dict[str, Any]) -> dict[str, str]:
    columns = answer["data"]["privacy"]["columns"]
    return {
        f"{column['dataset']}.{column['column']}": column["classification"] for column in columns
    }


def findings(answer: dict[str, Any]) -> set[tuple[str, str]]:
    """The code and the columns of each finding."""
    return {
        (finding["code"], f"{finding['subject']}.{match[1]}")
        for finding in answer["findings"]
        if (match := re.search(r"its columns? (.+?) (?:is|are) ", finding["problem"]))
    }


def with_rules(folder: Path, text: str) -> None:
    with (folder / "graft.yml").open("a") as config:
        config.write(f"\nprivacy: {text}\n")


def test_the_example_of_the_docs(project: Path, root: Path) -> None:
    shown = report(project).stdout.splitlines()
    text = (root / "docs/check.md").read_text()
    example = text.partition("$ graft check --only privacy\n")[2].partition("```")[0]
    assert example.splitlines() == shown


def test_json_has_each_way_and_labels_that_say_nothing(project: Path) -> None:
    found = read_answer(report(project, "--json").stdout)
    assert labels(found) == {
        "spark/raw.orders.mail": "pii",
        "spark/db.orders_x.domain": "pii",
        "spark/db.mart.last_domain": "pii",
        "spark/db.mart.n": "pii",
    }
    data = found["data"]["privacy"]
    assert data["labels_without_classification"] == {"keys": 1}
    [last] = [column for column in data["columns"] if column["column"] == "last_domain"]
    assert [one["column"] for one in last["path"]] == ["mail", "domain", "last_domain"]


def test_findings_end_it_with_3_where_they_are_asked_for(project: Path) -> None:
    assert report(project).exit_code == 0
    assert report(project, "--fail-on", "warning").exit_code == 3


@pytest.mark.parametrize(
    ("rules", "expected", "codes"),
    [
        pytest.param(
            "{aggregated: internal}",
            {"spark/raw.orders.mail", "spark/db.orders_x.domain"},
            {(UNCLASSIFIED, "spark/db.orders_x.domain"), RAW},
            id="what an aggregation leaves",
        ),
        pytest.param(
            "{aggregated: internal, smallest_group: 20, "
            'columns: [{columns: "*.mart.n", group_size: 25}, '
            '{columns: "*.mart.last_domain", group_size: 3}]}',
            {"spark/raw.orders.mail", "spark/db.orders_x.domain", "spark/db.mart.last_domain"},
            {
                RAW,
                (UNCLASSIFIED, "spark/db.orders_x.domain"),
                (PUBLISHED, "spark/db.mart.last_domain"),
            },
            id="what an aggregation of large groups leaves",
        ),
        pytest.param(
            '{columns: [{columns: "DB.orders_x.domain", is: internal, reason: agreed}]}',
            {"spark/raw.orders.mail"},
            {RAW},
            id="a lower label with a reason",
        ),
        pytest.param(
            '{columns: [{columns: "spark/db.orders_x.domain", is: internal}]}',
            {"spark/raw.orders.mail", "spark/db.orders_x.domain", *MART},
            {
                RAW,
                ("LOWERED_WITHOUT_REASON", "spark/db.orders_x.domain"),
                *((code, BOTH) for code in (UNCLASSIFIED, PUBLISHED)),
            },
            id="a lower label without",
        ),
    ],
)
def test_rules_of_graft_yml(
    project: Path, rules: str, expected: set[str], codes: set[tuple[str, str]]
) -> None:
    with_rules(project, rules)
    found = read_answer(report(project, "--json").stdout)
    assert set(labels(found)) == expected
    assert findings(found) == codes


def test_a_column_of_graft_yml_says_what_it_is_or_its_groups(project: Path) -> None:
    with_rules(project, '{columns: [{columns: "*.mail"}]}')
    done = report(project)
    assert done.exit_code == 2
    assert "group_size" in done.stderr


def test_patterns_that_nothing_has_the_name_of_are_noted(project: Path) -> None:
    with_rules(project, "{columns: [{columns: 'rw.*', is: pii}], tables: [{tables: h, is: pii}]}")
    noted = report(project).output
    assert "note: `privacy` in graft.yml has patterns that name nothing: rw.*, h\n" in noted


def test_a_word_that_is_no_classification_is_an_error(project: Path) -> None:
    with_rules(project, "{sensitive: loud}")
    done = report(project)
    assert done.exit_code == 2
    assert "is not a classification: write one of public, internal" in done.stderr


def inject(folder: Path, *arguments: str) -> dict[str, Any]:
    """The manifest that `graft inject` leaves."""
    config = folder / "graft.yml"
    done = CliRunner().invoke(main, ["inject", "-c", str(config), *arguments])
    assert done.exit_code == 0, done.output
    artifacts = load(config)
    found: dict[str, Any] = json.loads(
        (Path(artifacts.path(artifacts.artifacts)) / "manifest.json").read_text()
    )
    return found


def test_labels_are_written_into_dbt_s_artifacts_where_it_is_asked_for(project: Path) -> None:
    assert "classification_from" not in json.dumps(inject(project))
    with_rules(project, "{in_dbt: [meta, tags]}")
    mart = inject(project)["nodes"]["model.shop.mart"]
    assert mart["columns"]["n"]["meta"]["classification_from"] == "spark/raw.orders.mail"
    assert mart["tags"] == ["pii"]
    original = json.loads((project / "target/manifest.json").read_text())
    assert inject(project, "--undo") == original
