"""Labels and patterns that say nothing keep a site from being published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cases import for_each
from tests.collectors.openlineage.events import dataset, event, written
from tests.graft.audience_project import graft
from tests.graft.commands.test_impact import board, node
from tests.graft.small_project import declare, small_project


def project(folder: Path, privacy: str = "{}", site: str = "{audience: public}") -> None:
    """raw.orders flows into db.pay, and into s3://lake/pay, which is a link to it."""
    small_project(folder)
    declare(folder, "raw.orders", "db.pay")
    with (folder / "graft.yml").open("a") as config:
        config.write(f"privacy: {privacy}\nsite: {site}\n")
    assert graft(folder, "collect").exit_code == 0


def change(folder: Path, part: str, key: str, **fields: Any) -> None:
    path = folder / "target/manifest.json"
    manifest = json.loads(path.read_text())
    manifest[part].setdefault(key, node("model", "db.x") | {"unique_id": key, "name": "x"})
    manifest[part][key] |= fields
    path.write_text(json.dumps(manifest))


def label_of(kind: str, folder: Path, meta: dict[str, Any]) -> None:
    """Label something of a kind with `meta`."""
    if kind == "table":
        change(
            folder,
            "sources",
            "source.shop.raw.orders",
            **{**node("source", "raw.orders"), "meta": meta},
        )
    elif kind == "column":
        columns = {"id": {"name": "id", "meta": meta}}
        source = node("source", "raw.orders")
        change(folder, "sources", "source.shop.raw.orders", **source | {"columns": columns})
    elif kind == "ephemeral model":
        config = {"materialized": "ephemeral", "meta": meta}
        change(folder, "nodes", "model.shop.x", config=config, relation_name=None)
    elif kind == "exposure":
        change(
            folder,
            "exposures",
            "exposure.shop.board",
            **{**board("source.shop.raw.orders"), "meta": meta},
        )
    else:
        fields = {"resource_type": "macro", "macro_sql": "1", "package_name": "shop", "path": "m"}
        change(folder, "macros", "macro.shop.m", **fields, meta=meta)


@for_each(
    "kind, meta, label",
    [
        ("table", {"classification": "strictly_confidential"}, "strictly_confidential"),
        ("column", {"sensitivity": "strictly confidential"}, "strictly confidential"),
        ("column", {"pii": "masked"}, "pii: masked"),
        ("ephemeral model", {"classification": "strictly_confidential"}, "strictly_confidential"),
        ("exposure", {"pii": "masked"}, "pii: masked"),
        ("macro", {"sensitivity": "strictly confidential"}, "strictly confidential"),
    ],
)
def test_a_label_that_is_no_classification_stops_the_site(
    tmp_path: Path, kind: str, meta: dict[str, Any], label: str
) -> None:
    project(tmp_path)
    label_of(kind, tmp_path, meta)
    done = graft(tmp_path, "site")
    assert done.exit_code == 1
    assert f"`{label}` on " in done.output
    assert "map it under `privacy: {labels: …}`" in done.output
    assert not (tmp_path / "build/site/index.html").exists()


@pytest.mark.parametrize("sees", ["public, labels", "secret"])
def test_a_label_that_is_mapped_and_readers_who_see_all_stop_nothing(
    tmp_path: Path, sees: str
) -> None:
    mapped = "{labels: {Top Secret: secret}}" if sees == "public, labels" else "{}"
    project(tmp_path, mapped, f"{{audience: friends, sees: {sees.partition(',')[0]}}}")
    label_of("table", tmp_path, {"classification": "top  secret"})
    done = graft(tmp_path, "site")
    assert done.exit_code == 0, done.output
    is_shown = (tmp_path / "build/site/datasets/spark/raw/orders/index.html").exists()
    assert is_shown == (sees == "secret")


@pytest.mark.parametrize(
    "privacy",
    [
        "{tables: [{tables: 'hr.*', is: secret}]}",
        "{columns: [{columns: '*.iban', is: pii}]}",
        "{tables: [{tables: '*', is: public}, {tables: 'db.pay', is: secret}]}",
        "{columns: [{columns: '*.id', is: public}, {columns: 'raw.orders.id', is: pii}]}",
    ],
)
def test_a_pattern_that_names_nothing_stops_the_site(tmp_path: Path, privacy: str) -> None:
    project(tmp_path, privacy)
    label_of("column", tmp_path, {})
    done = graft(tmp_path, "site")
    assert done.exit_code == 1
    assert "no table or column has the name `" in done.output


@pytest.mark.parametrize(
    "privacy",
    [
        "{tables: [{tables: 'db.pay', is: secret}, {tables: '*', is: public}]}",
        "{tables: [{tables: 'db.*', is: secret}, {tables: '*.pay', is: secret}]}",
        "{columns: [{columns: '*.id', is: pii}, {columns: 'raw.orders.id', group_size: 20}]}",
    ],
)
def test_a_pattern_beside_one_that_hides_more_stops_nothing(tmp_path: Path, privacy: str) -> None:
    project(tmp_path, privacy)
    label_of("column", tmp_path, {})
    done = graft(tmp_path, "site")
    assert done.exit_code == 0, done.output


def test_the_team_s_site_is_published_all_the_same(tmp_path: Path) -> None:
    audiences = "{public: {out: build/public}, all: {out: build/all, sees: secret}}"
    project(tmp_path, site=f"{{audiences: {audiences}}}")
    label_of("table", tmp_path, {"classification": "strictly confidential"})
    done = graft(tmp_path, "site")
    assert done.exit_code == 1
    assert "the site for the audience public" in done.output
    published = {name for name in ("site", "public", "all") if (tmp_path / "build" / name).exists()}
    assert published == {"site", "all"}


@for_each(
    "tag, unlabelled, shown",
    [
        ("nightly", "show", {"load", "raw.orders", "db.pay", "mail"}),
        # It hides the task and what the task writes, but for what dbt builds.
        ("secret", "show", {"db.pay", "mail"}),
        ("nightly", "hide", set()),
        # It shows nothing: nobody looked at the columns.
        ("public", "hide", set()),
        ("secret", "hide", set()),
    ],
)
@pytest.mark.parametrize("in_dbt", ["[team]", "[]"])
def test_the_tag_of_a_task_hides_what_it_writes_and_shows_nothing_whatever_dbt_shows(
    tmp_path: Path, tag: str, unlabelled: str, shown: set[str], in_dbt: str
) -> None:
    small_project(tmp_path)
    flows = "{from: [sftp/files], to: [spark/raw.orders, spark/db.pay]}"
    (tmp_path / "lineage.yml").write_text(
        f"version: 1\ntasks:\n  load: {{tags: [{tag}], flows: [{flows}]}}\n"
        "  send: {flows: [{from: [spark/db.pay], to: [sftp/mail]}]}\n"
    )
    with (tmp_path / "graft.yml").open("a") as config:
        config.write(f"dbt: {{tags: {in_dbt}}}\nsite: {{audience: public, ")
        config.write(f"unlabelled: {unlabelled}}}\n")
    change(tmp_path, "nodes", "model.shop.pay", **node("model", "db.pay"))
    assert graft(tmp_path, "collect").exit_code == 0
    done = graft(tmp_path, "site")
    assert done.exit_code == 0, done.output
    site = tmp_path / "build/site"
    pages = {
        "load": "tasks/load",
        "raw.orders": "datasets/spark/raw/orders",
        "db.pay": "datasets/spark/db/pay",
        "mail": "datasets/sftp/mail",
    }
    assert {name for name, page in pages.items() if (site / page / "index.html").exists()} == shown


@for_each("tag, is_shown", [({"key": "team", "value": "shop"}, True), ({"key": "secret"}, False)])
def test_a_tag_in_an_event_labels_a_table_beside_the_tags_of_dbt(
    tmp_path: Path, tag: dict[str, str], *, is_shown: bool
) -> None:
    project(tmp_path, site="{audience: public, unlabelled: show}")
    source = node("source", "raw.orders") | {"tags": ["nightly"]}
    change(tmp_path, "sources", "source.shop.raw.orders", **source)
    orders = dataset("spark raw.orders", {"tags": {"tags": [tag]}})
    written(tmp_path / "events.jsonl", event("START"), event(outputs=[orders]))
    collected = "collect: [{declared: {path: lineage.yml}}, {openlineage: {path: events.jsonl}}]"
    config = (tmp_path / "graft.yml").read_text().partition("\n")[2]
    (tmp_path / "graft.yml").write_text(f"{collected}\n{config}")
    assert graft(tmp_path, "collect").exit_code == 0
    done = graft(tmp_path, "site")
    assert done.exit_code == 0, done.output
    page = tmp_path / "build/site/datasets/spark/raw/orders/index.html"
    assert page.exists() == is_shown
