"""Addresses: permanent for plain names, possible on every file system for all others."""

from __future__ import annotations

import re
from pathlib import PureWindowsPath

from hypothesis import given
from hypothesis import strategies as st

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.urls import (
    column_anchor,
    columns_path,
    dataset_path,
    owner_path,
    tag_path,
    task_path,
)
from tests.cases import for_each

# What Windows reserves, with and without an extension, and names that end in a dot or a space.
DEVICES = ["con", "prn", "aux", "nul", "com0", "com1", "com9", "lpt1", "lpt9"]
HOSTILE = [
    *DEVICES,
    *(f"{device}.txt" for device in DEVICES),
    *(device.upper() for device in DEVICES),
    "aux.orders.v2",
    "orders.",
    "orders..",
    "orders ",
    "orders .",
    "...",
    " ",
    "index.html",
    "index.md",
    "INDEX.HTML",
    ".git",
    ".hidden",
    "a:b",
    "a|b",
    'a"b',
    "a<b>",
    "a?b*",
    "a\\b",
    "x" * 300,
    "\x00",
    "名前",
]
# Published addresses: none of them may ever change.
PLAIN = [
    "orders",
    "orders_2024",
    "orders-eu",
    "v1.orders",
    "_tmp",
    "-x",
    "x-",
    "x_",
    "console",
    "auxiliary",
    "null",
    "nul1",
    "com10",
    "com",
    "lpt",
    "common.con",
    "my.aux.table",
    "index",
    "index.htm",
    "html.index",
    "0",
    "x" * 80,
]


def _paths(name: str) -> list[str]:
    return [
        dataset_path(DatasetId(name, "raw/orders")),
        dataset_path(DatasetId(f"s3://{name}", "raw/orders")),
        dataset_path(DatasetId("file", name)),
        dataset_path(DatasetId("file", f"landing/{name}/orders")),
        task_path(name),
        tag_path(name),
        owner_path(name),
    ]


def _fits_everywhere(segment: str) -> bool:
    return (
        re.fullmatch(r"[a-z0-9_.-]{1,80}", segment) is not None
        and segment[0] != "."
        and segment[-1] not in ". "
        and segment not in ("index.html", "index.md")
        and not PureWindowsPath(segment).is_reserved()
        and segment.partition(".")[0] not in DEVICES
    )


@for_each("name", HOSTILE)
def test_every_file_system_holds_the_address(name: str) -> None:
    for path in _paths(name):
        assert path.endswith("/")
        assert [part for part in path[:-1].split("/") if not _fits_everywhere(part)] == []


@given(st.text(min_size=1))
def test_every_file_system_holds_the_address_of_any_text(name: str) -> None:
    for path in _paths(name):
        assert [part for part in path[:-1].split("/") if not _fits_everywhere(part)] == []


def test_hostile_names_share_no_address() -> None:
    assert len({task_path(name) for name in HOSTILE}) == len(HOSTILE)
    tables = {dataset_path(DatasetId("file", f"x/{name}")) for name in HOSTILE}
    assert len(tables) == len({DatasetId("file", f"x/{name}").parts for name in HOSTILE})


@for_each("name", PLAIN)
def test_a_plain_name_is_its_own_address(name: str) -> None:
    assert task_path(name) == f"tasks/{name}/"
    assert tag_path(name) == f"tags/{name}/"
    assert owner_path(name) == f"owners/{name}/"
    assert dataset_path(DatasetId("file", f"landing/{name}")) == f"datasets/file/landing/{name}/"


@for_each(
    "namespace, name, path",
    [
        ("spark", "raw.Orders", "datasets/spark/raw/orders/"),
        ("mssql://CRM:1433", "Shop.dbo.Orders", "datasets/mssql-crm-1433/shop/dbo/orders/"),
        ("my_ns.v2", "a.b", "datasets/my_ns.v2/a/b/"),
        ("hdfs://nn.example.com:8020", "/x/y", "datasets/hdfs-nn.example.com-8020/x/y/"),
        ("my-ns", "a.b", "datasets/my-ns-477601ef/a/b/"),
        ("spark", "raw.a b", "datasets/spark/raw/a-b-c8687a08/"),
        ("file", "landing/Orders", "datasets/file/landing/orders-b7e8acdd/"),
        ("spark", "raw.con", "datasets/spark/raw/con-1143da2b/"),
        ("file", "landing/nul.txt", "datasets/file/landing/nul-txt-7f3cbdd5/"),
    ],
)
def test_a_published_address_never_changes(namespace: str, name: str, path: str) -> None:
    assert dataset_path(DatasetId(namespace, name)) == path


@for_each(
    "name, anchor, path",
    [
        ("amount", "column-amount", "columns/am/"),
        ("Amount", "column-amount", "columns/am/"),
        ("_id", "column-_id", "columns/id/"),
        ("2024", "column-2024", "columns/20/"),
        ("_", "column-_", "columns/_/"),
        ("x", "column-x", "columns/x/"),
        ("con", "column-con", "columns/co/"),
        ("Net amount", "column-net-amount-7c9c447d", "columns/ne/"),
        ("net-amount", "column-net-amount-5d32c3d4", "columns/ne/"),
        ("💶", "column--f895897c", "columns/f8/"),
        ("Straße", "column-strasse", "columns/st/"),
    ],
)
def test_the_address_of_a_column_never_changes(name: str, anchor: str, path: str) -> None:
    assert (column_anchor(name), columns_path(name)) == (anchor, path)


@given(st.text(min_size=1))
def test_every_column_has_an_address(name: str) -> None:
    assert re.fullmatch(r"column-[a-z0-9_-]{1,80}", column_anchor(name))
    assert re.fullmatch(r"columns/([a-z0-9]{1,2}|_)/", columns_path(name))


def test_columns_share_an_anchor_only_if_their_names_differ_in_case() -> None:
    assert len({column_anchor(name) for name in HOSTILE}) == len({n.casefold() for n in HOSTILE})
