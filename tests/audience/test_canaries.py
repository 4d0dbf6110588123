"""The canaries themselves: in every string of a schema, and found in every encoding."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.audience.canaries import HIDDEN_WORD, Canaries, SchemaWalk, strings
from tests.audience.canary_artifacts import resource_kinds
from tests.audience.published import canaries_in
from tests.cases import for_each

WORD = Canaries("test").name("field")
RAW = WORD.encode()


@for_each(
    "part, texts",
    [
        ({"type": "string"}, 1),
        ({"anyOf": [{"type": "null"}, {"type": "string"}]}, 1),
        ({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}, 1),
        ({"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "object"}]}}, 8),
        ({"type": "array", "prefixItems": [{"type": "string"}, {"type": "string"}]}, 2),
        ({"type": "object", "additionalProperties": {"type": "string"}}, 2),
        ({"type": "object"}, 7),
        ({"$ref": "#/$defs/name"}, 1),
        ({"$ref": "other#/$defs/name"}, 1),
        ({"allOf": [{"$ref": "#/$defs/loop"}, {"properties": {"b": {"type": "string"}}}]}, 2),
        ({"type": "string", "format": "uri"}, 1),
        ({"type": "string", "pattern": "^[^/]+/.+$"}, 1),
        ({"type": "integer"}, 0),
        ({"enum": ["a", "b"]}, 0),
    ],
)
def test_a_new_field_of_a_schema_has_canaries_by_itself(part: dict[str, Any], texts: int) -> None:
    names = {"$defs": {"name": {"type": "string"}}}
    loop = {"properties": {"a": {"type": "string"}, "c": {"$ref": "#/$defs/loop"}}}
    walk = SchemaWalk({"$defs": {**names["$defs"], "loop": loop}}, {"other": names})
    schema = {"type": "object", "properties": {"new": part}}
    content = walk.filled(schema, Canaries("test"), "resource")
    assert len([text for text in strings(content) if HIDDEN_WORD.search(text)]) == texts


def test_all_strings_of_a_thing_in_dbt_differ() -> None:
    for kind in resource_kinds():
        resource = SchemaWalk(kind.schema).filled(kind.schema, Canaries("test"), kind.title)
        words = [word for text in strings(resource) for word in HIDDEN_WORD.findall(text)]
        assert len(words) > 5, kind.title
        assert len(set(words)) == len(words), kind.title


@for_each(
    "content",
    [
        RAW,
        WORD.upper().encode(),
        "".join(f"%{code:02X}" for code in RAW).encode(),
        "".join(f"&#{code};" for code in RAW).encode(),
        "".join(f"&#x{code:x};" for code in RAW).encode(),
        "".join(f"\\u{code:04x}" for code in RAW).encode(),
        "".join(f"\\\\u{code:04x}" for code in RAW).encode(),
        RAW.hex().encode(),
        *(base64.b64encode(b"x" * before + RAW) for before in range(3)),
        base64.urlsafe_b64encode(b"\xff\xfe" + RAW),
        gzip.compress(RAW),
        gzip.compress(gzip.compress(RAW)),
        base64.b64encode(gzip.compress(json.dumps({"a": WORD}).encode())),
        quote(f"/{WORD}?a").encode(),
    ],
)
def test_a_canary_is_found_in_each_encoding(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(b"first " + content if content[:1] != b"\x1f" else content)
    assert canaries_in(tmp_path, re.compile(WORD)) == {WORD: {"file"}}


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"a": [[{"b": WORD}]]}),
        pa.table({WORD: [1]}),
        pa.table({"a": [1]}).replace_schema_metadata({"about": WORD}),
        pa.table({"a": pa.array([WORD]).dictionary_encode()}),
        pa.table({"a": [RAW]}),
    ],
)
def test_a_canary_is_found_in_parquet(tmp_path: Path, table: pa.Table) -> None:
    pq.write_table(table, tmp_path / "a.parquet")
    assert canaries_in(tmp_path, re.compile(WORD)) == {WORD: {"a.parquet"}}


def test_a_canary_is_found_in_the_names_of_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / f"a-{WORD}").mkdir()
    (tmp_path / f"a-{WORD}" / "b").touch()
    assert canaries_in(tmp_path, re.compile(WORD)) == {WORD: {f"a-{WORD}", f"a-{WORD}/b"}}
