"""A graft is taken back: dbt's values, in dbt's order."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_graft.injector import artifacts
from dbt_graft.injector.artifacts import dump
from dbt_graft.injector.report import Grafted
from dbt_graft.injector.undo import changes, restore
from dbt_graft.lineage.errors import GraftError

_keys = st.text("abc", max_size=2)
_values = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.just(1.0),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_keys, inner, max_size=4),
    max_leaves=12,
)
_documents = st.dictionaries(_keys, _values, max_size=5)


@given(_documents, _documents)
def test_changes_lead_back_from_any_document(before: Any, after: Any) -> None:
    found = orjson.loads(orjson.dumps(changes(before, after)))
    document = copy.deepcopy(after)

    restore(document, found)

    assert document == before


def test_undo_gives_the_bytes_back(project: Any, grafted: Grafted, tmp_path: Path) -> None:
    artifacts.write(grafted, tmp_path)

    artifacts.undo(tmp_path)

    assert (tmp_path / "manifest.json").read_bytes() == dump(project.manifest)
    assert (tmp_path / "catalog.json").read_bytes() == dump(project.catalog)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["catalog.json", "manifest.json"]


@pytest.mark.parametrize("name", ["manifest.json", "catalog.json", "graft_undo.json"])
def test_what_was_changed_since_is_not_touched(grafted: Grafted, tmp_path: Path, name: str) -> None:
    artifacts.write(grafted, tmp_path)
    if name == "graft_undo.json":
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_bytes(b"{}")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    with pytest.raises(GraftError):
        artifacts.undo(tmp_path)

    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
