"""Artifacts are read with clear errors and written atomically."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

import orjson
import pytest

from dbt_graft.injector.artifacts import dump, read, write
from dbt_graft.injector.report import Grafted
from dbt_graft.lineage.errors import GraftError


def _target(folder: Path, manifest: bytes | None, catalog: bytes | None) -> Path:
    for name, content in (("manifest.json", manifest), ("catalog.json", catalog)):
        if content is not None:
            (folder / name).write_bytes(content)
    return folder


def test_manifest_and_catalog_are_read_with_their_metadata(project: Any, tmp_path: Path) -> None:
    target = _target(tmp_path, dump(project.manifest), dump(project.catalog))

    artifacts = read(target)

    assert artifacts.manifest == project.manifest
    assert artifacts.catalog == project.catalog
    assert (artifacts.adapter, artifacts.dbt_version) == ("spark", "1.11.16")
    assert artifacts.notices == ()


def test_without_a_catalog_an_empty_one_stands_in_with_a_notice(
    project: Any, tmp_path: Path
) -> None:
    artifacts = read(_target(tmp_path, dump(project.manifest), None))

    assert artifacts.catalog["nodes"] == {}
    assert artifacts.catalog["sources"] == {}
    assert "dbt docs generate" in artifacts.notices[0]


def test_a_catalog_without_nodes_gets_empty_ones_and_a_notice(project: Any, tmp_path: Path) -> None:
    artifacts = read(_target(tmp_path, dump(project.manifest), b'{"metadata": {}}'))

    assert artifacts.catalog == {"metadata": {}, "nodes": {}, "sources": {}}
    assert len(artifacts.notices) == 2


@pytest.mark.parametrize(
    ("manifest", "catalog", "problem", "place"),
    [
        (None, None, "no manifest.json", ""),
        (b"<html>", None, "not JSON", "manifest.json, line 1, byte 0"),
        (b'{"metadata": {},\n "nodes": {"a', None, "truncated", "manifest.json, line 2, byte"),
        (b'{"\xc3\xa4": 1,,}', None, "not JSON", "manifest.json, line 1, byte 9"),
        (b"[]", None, "not a JSON object", "manifest.json"),
        (b"{}", None, "has no version", "manifest.json"),
        (b'{"metadata": {"dbt_schema_version": "x/v8.json"}}', None, "version v8", ""),
        (b'{"metadata": {"dbt_schema_version": "x/v12.json"}}', None, "no `nodes`", ""),
        ("good", b'{"nodes": {', "truncated", "catalog.json, line 1, byte"),
    ],
)
def test_what_cannot_be_read_is_reported_with_its_place(
    project: Any,
    tmp_path: Path,
    manifest: bytes | str | None,
    catalog: bytes | None,
    problem: str,
    place: str,
) -> None:
    content = dump(project.manifest) if isinstance(manifest, str) else manifest

    with pytest.raises(GraftError) as error:
        read(_target(tmp_path, content, catalog))

    assert problem in error.value.problem
    assert place in error.value.place
    assert error.value.remedy


@pytest.mark.parametrize(
    ("text", "value"),
    [('"\\ud800"', "\ud800"), ("NaN", None), ("Infinity", None)],
    ids=["lone surrogate", "NaN", "Infinity"],
)
def test_what_python_writes_and_strict_readers_refuse_is_read(
    project: Any, tmp_path: Path, text: str, value: Any
) -> None:
    content = dump(project.manifest)[:-1] + f', "fusion": {text}}}'.encode()

    assert read(_target(tmp_path, content, None)).manifest["fusion"] == value


def test_a_byte_order_mark_is_read(project: Any, tmp_path: Path) -> None:
    content = b"\xef\xbb\xbf" + dump(project.manifest)

    assert read(_target(tmp_path, content, None)).manifest == project.manifest


def test_a_lone_surrogate_is_written_as_json() -> None:
    assert json.loads(dump({"text": "\ud800"})) == {"text": "\ud800"}


def test_a_large_manifest_is_written_as_the_bytes_of_all_of_it(
    grafted: Grafted, tmp_path: Path
) -> None:
    nodes = {f"model.shop.m{number}": {"name": number} for number in range(1_001)}
    manifest = {**grafted.manifest, "nodes": nodes, "docs": {}, "\u00e9": "\u00e9"}

    write(replace(grafted, manifest=manifest), tmp_path)

    written = (tmp_path / "manifest.json").read_bytes()
    assert written == dump(manifest)
    undo = orjson.loads((tmp_path / "graft_undo.json").read_bytes())
    assert undo["manifest.json"]["crc32"] == crc32(written)


def test_the_four_files_are_written_and_nothing_else_is_left(
    grafted: Grafted, tmp_path: Path
) -> None:
    write(grafted, tmp_path / "graft")
    write(grafted, tmp_path / "graft")

    written = {path.name: path for path in (tmp_path / "graft").iterdir()}
    assert set(written) == {
        "manifest.json",
        "catalog.json",
        "graft_report.json",
        "graft_undo.json",
    }
    assert orjson.loads(written["manifest.json"].read_bytes()) == grafted.manifest
    assert orjson.loads(written["catalog.json"].read_bytes()) == grafted.catalog
    report = orjson.loads(written["graft_report.json"].read_bytes())
    assert report["added"][0]["dataset"] == "spark/raw.returns"
