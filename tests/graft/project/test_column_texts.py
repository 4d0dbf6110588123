"""The JSON of column edges that one build leaves to the next."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from dbt_graft.graft.project.column_texts import ColumnTexts


def _use(path: Path, *digests: str) -> list[str]:
    """Ask for texts, and return the digests of those that were made."""
    texts, made = ColumnTexts(path), []
    for digest in digests:

        def make(digest: str = digest) -> bytes:
            made.append(digest)
            return msgspec.json.encode({digest: ["\u00e9"]})

        assert msgspec.json.decode(texts(digest, make)) == {digest: ["\u00e9"]}
    texts.write()
    return made


def test_a_text_is_made_once_and_stays_while_each_build_uses_it(tmp_path: Path) -> None:
    path = tmp_path / "below" / "texts.json"
    assert _use(path, "a", "b") == ["a", "b"]
    assert _use(path, "a", "b", "c") == ["c"]
    assert _use(path, "b") == []
    assert _use(path, "a", "b") == ["a"]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'\n{"a": {}}', b"\xff\xfe"])
def test_a_damaged_file_counts_as_none(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "texts.json"
    _use(path, "a")
    path.write_bytes(content)
    assert _use(path, "a") == ["a"]


def test_a_file_is_not_written_again_where_nothing_is_new(tmp_path: Path) -> None:
    path = tmp_path / "texts.json"
    _use(path, "a")
    written = path.stat().st_mtime_ns
    _use(path, "a", "a")
    assert path.stat().st_mtime_ns == written
