"""Tests of a manifest that stay text, and which do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from dbt_graft.injector.artifacts import dump, read
from dbt_graft.injector.undecoded import Undecoded
from tests.cases import for_each

TEST = "test.shop.not_null_orders_id"
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
