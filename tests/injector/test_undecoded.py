"""Tests and columns of a manifest that stay text, and which do not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from dbt_graft.injector.artifacts import dump, read
from dbt_graft.injector.undecoded import Undecoded
from dbt_graft.lineage.errors import GraftError
from tests.cases import for_each

TEST = "test.shop.not_null_orders_id"
MART = "model.shop.orders"
SOURCE = "source.shop.raw.orders"


def _read_test(project: Any, target: Path, fields: dict[str, Any]) -> Any:
    nodes = project.manifest["nodes"]
    expected = {**project.manifest, "nodes": {**nodes, TEST: {**nodes[TEST], **fields}}}
    (target / "manifest.json").write_bytes(dump(expected))
    manifest = read(target).manifest
    assert manifest == expected
    return manifest["nodes"][TEST]


def test_a_test_of_a_model_stays_the_text_that_dbt_wrote(project: Any, tmp_path: Path) -> None:
    node = _read_test(project, tmp_path, {"odd": [1, {"a": None}]})

    assert isinstance(node, Undecoded)
    assert orjson.loads(dump({"node": node})) == {"node": dict(node)}


@for_each(
    "fields",
    [
        pytest.param({"depends_on": {"nodes": [SOURCE]}}, id="it reads a source"),
        pytest.param({"attached_node": SOURCE}, id="it is a source's"),
        pytest.param({"file_key_name": "sources.raw"}, id="its file is a source's"),
        pytest.param({"sources": [["raw", "orders"]]}, id="it names a source"),
        pytest.param(
            {"given": [{"input": "source('raw', 'orders')"}]}, id="its rows are a source's"
        ),
        pytest.param({"raw_code": "select * from {{ source('a', 'b') }}"}, id="its code names one"),
        pytest.param({"description": "gepr\u00fcft"}, id="it is not ASCII"),
        pytest.param({"resource_type": "analysis"}, id="it is no test"),
    ],
)
def test_a_node_is_decoded(project: Any, fields: dict[str, Any], tmp_path: Path) -> None:
    assert isinstance(_read_test(project, tmp_path, fields), dict)


COLUMN = {"name": "ID", "description": 'gepr\u00fcft: "x": 1', "tags": [], "meta": {"a": None}}


def _read_columns(project: Any, target: Path, dumps: Callable[[Any], bytes], **fields: Any) -> Any:
    """The columns of a model that has these fields besides."""
    node = project.manifest["nodes"][MART] = {**project.manifest["nodes"][MART], **fields}
    (target / "manifest.json").write_bytes(dumps(project.manifest))
    manifest = read(target).manifest
    assert manifest == project.manifest
    assert dump(manifest["nodes"][MART]) == dump(node)
    return manifest["nodes"][MART]["columns"]


@for_each(
    "dumps",
    [
        pytest.param(orjson.dumps, id="as dbt 2 writes it"),
        pytest.param(lambda d: json.dumps(d, ensure_ascii=False).encode(), id="with blanks"),
        pytest.param(lambda d: json.dumps(d, ensure_ascii=False, indent=2).encode(), id="lines"),
    ],
)
def test_columns_of_a_model_stay_text_and_are_written_without_blanks(
    project: Any, dumps: Callable[[Any], bytes], tmp_path: Path
) -> None:
    columns = _read_columns(project, tmp_path, dumps, columns={"ID": COLUMN, "B": {}})

    assert isinstance(columns, Undecoded)
    assert [*columns] == [*columns.keys()] == ["ID", "B"]
    assert (len(columns), columns["ID"], columns.get("gone", 7)) == (2, COLUMN, 7)
    assert dict(columns.items()) == dict(columns) == {"ID": COLUMN, "B": {}}
    assert [*columns.values()] == [COLUMN, {}]


@pytest.mark.parametrize("columns", [None, {}])
def test_a_model_without_columns_is_decoded(
    project: Any, columns: dict[str, Any] | None, tmp_path: Path
) -> None:
    assert _read_columns(project, tmp_path, orjson.dumps, columns=columns) == columns


@pytest.mark.parametrize("first", [True, False])
def test_columns_are_those_of_the_node_though_another_field_has_the_same_text(
    project: Any, first: bool, tmp_path: Path
) -> None:
    node = project.manifest["nodes"].pop(MART)
    twins = {"config": {"meta": {"columns": {"ID": COLUMN}}}, "columns": {"ID": COLUMN}}
    order = twins if first else {key: twins[key] for key in reversed(twins)}
    project.manifest["nodes"][MART] = order | {k: v for k, v in node.items() if k not in twins}

    columns = _read_columns(project, tmp_path, orjson.dumps)

    assert columns == {"ID": COLUMN}
    assert isinstance(columns, Undecoded) is not first


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (b'"\xff"', "the file is not JSON"),
        (b'"\\x"', "the file is not JSON"),
        (b"01", "the file is not JSON"),
        (b'"\n"', "the file is not JSON"),
    ],
)
def test_damage_in_columns_is_refused(
    project: Any, damage: bytes, problem: str, tmp_path: Path
) -> None:
    project.manifest["nodes"][MART]["columns"] = {"ID": {"name": "DAMAGED"}}
    content = dump(project.manifest).replace(b'"DAMAGED"', damage)
    (tmp_path / "manifest.json").write_bytes(content)

    with pytest.raises(GraftError, match=problem):
        read(tmp_path)


def test_a_column_that_is_no_object_is_left_out_with_a_notice(project: Any, tmp_path: Path) -> None:
    project.manifest["nodes"][MART]["columns"] = {"ID": COLUMN, "B": 7}
    (tmp_path / "manifest.json").write_bytes(dump(project.manifest))

    artifacts = read(tmp_path)

    assert artifacts.manifest["nodes"][MART]["columns"] == {"ID": COLUMN}
    assert f"{MART} > columns > B is a number, not an object" in artifacts.notices[0]


def test_an_undecoded_test_is_written_beside_text_that_orjson_does_not_write(
    project: Any, tmp_path: Path
) -> None:
    node = _read_test(project, tmp_path, {"odd": 1})

    content = dump({"node": node, "text": "\ud800"})
    assert orjson.loads(content.replace(b"\\ud800", b"")) == {"node": dict(node), "text": ""}


def test_a_number_in_a_test_is_written_with_all_its_digits(project: Any, tmp_path: Path) -> None:
    number = 123456789012345678901234567890
    content = dump(project.manifest).replace(b'"not_null"', b"%d" % number)
    (tmp_path / "manifest.json").write_bytes(content)

    node = read(tmp_path).manifest["nodes"][TEST]
    assert b"%d" % number in dump({"node": node})
