"""Labels in the grafted artifacts: what is written where, and what stays."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from dbt_graft.injector.column_labels import ColumnLabel, with_labels
from dbt_graft.injector.options import LabelPlace

MART = "model.shop.orders"
BOTH = tuple(LabelPlace)
Json = dict[str, Any]


def node(columns: Json, places: tuple[LabelPlace, ...], *labels: ColumnLabel) -> Json:
    manifest = {"nodes": {MART: {"tags": ["daily"], "columns": columns}}, "sources": {}}
    catalog = {"nodes": {MART: {"columns": {"MAIL": {}}}}, "sources": {}}
    before = copy.deepcopy(manifest)
    document: Json = with_labels(manifest, catalog, {MART: labels}, places)["nodes"][MART]
    assert manifest == before
    return document


FOLLOWS = ColumnLabel("mail", "pii", "spark/raw.orders.mail")
META = {"classification": "pii", "classification_from": "spark/raw.orders.mail"}


@pytest.mark.parametrize(
    ("column", "places", "meta", "tags"),
    [
        ({}, BOTH, META, ["pii"]),
        ({"tags": ["key"]}, (LabelPlace.TAGS,), {}, ["key", "pii"]),
        ({"tags": ["pii"]}, (LabelPlace.TAGS,), {}, ["pii"]),
        ({"meta": {"a": 1}}, BOTH, {"a": 1, **META}, ["pii"]),
        ({"meta": None, "tags": None}, (LabelPlace.META,), META, None),
    ],
)
def test_a_column_gets(column: Json, places: Any, meta: Json, tags: list[str] | None) -> None:
    found = node({"Mail": {"name": "Mail", **column}}, places, FOLLOWS)["columns"]["Mail"]
    assert (found["meta"], found["tags"]) == (meta, tags)


def test_a_column_that_only_the_catalog_knows_is_added_in_its_spelling() -> None:
    assert list(node({}, BOTH, FOLLOWS)["columns"]) == ["MAIL"]


def test_what_dbt_labels_stays_and_tags_its_node() -> None:
    columns = {"mail": {"name": "mail", "meta": {"pii": True}, "tags": []}}
    document = node(columns, BOTH, ColumnLabel("mail", "pii", in_dbt=True))
    assert document["columns"] == columns
    assert document["tags"] == ["daily", "pii"]


def test_newer_dbt_has_them_in_the_configuration_of_the_column_too() -> None:
    column = {"name": "mail", "config": {"meta": {"a": 1}, "tags": []}}
    found = node({"mail": column}, BOTH, ColumnLabel("mail", "secret"))["columns"]["mail"]
    assert found["config"] == {"meta": {"a": 1, "classification": "secret"}, "tags": ["secret"]}


def test_without_tags_the_node_has_its_own_alone() -> None:
    assert node({}, (LabelPlace.META,), FOLLOWS)["tags"] == ["daily"]
