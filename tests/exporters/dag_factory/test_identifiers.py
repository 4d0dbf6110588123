"""Ids that Airflow accepts."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_graft.exporters.dag_factory.identifiers import GROUP_LENGTH, unique_identifiers


@given(st.sets(st.text(min_size=1), max_size=20), st.sets(st.text(max_size=5), max_size=5))
def test_ids_are_valid_and_no_two_alike(names: set[str], taken: set[str]) -> None:
    ids = unique_identifiers(names, taken)
    assert set(ids) == names
    assert len({one.casefold() for one in ids.values()} | {t.casefold() for t in taken}) == len(
        names
    ) + len({t.casefold() for t in taken})
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,180}", one) for one in ids.values())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("load_orders", "load_orders"),
        ("shop.load orders", "shop_load_orders"),
        ("default", "default_dag"),
        ("task_groups", "task_groups_dag"),
        ("загрузка заказов", "zagruzka_zakazov"),
        ("größe", "grosse"),
        ("订单 加载", "DingDan_JiaZai"),
        ("🚀 launch", "rocket_launch"),
    ],
)
def test_a_name_becomes_an_id(name: str, expected: str) -> None:
    assert unique_identifiers([name]) == {name: expected}


def test_names_that_sound_alike_differ_by_a_digest() -> None:
    ids = unique_identifiers(["grosse", "größe", "große"])
    assert ids["grosse"] == "grosse"
    assert [ids[name].rpartition("_")[0] for name in ("größe", "große")] == ["grosse", "grosse"]


def test_a_name_that_is_an_id_has_it_whatever_the_others_are() -> None:
    alone = unique_identifiers(["a_b"])
    assert unique_identifiers(["a b", "a_b", "a.b"])["a_b"] == alone["a_b"] == "a_b"


def test_the_id_of_a_group_leaves_room_for_those_of_its_tasks() -> None:
    ids = unique_identifiers(["g" * 500, f"{'g' * 500}h"], longest=GROUP_LENGTH)
    assert all(len(group) + 1 + 180 <= 250 for group in ids.values())
    assert len({*ids.values()}) == 2
