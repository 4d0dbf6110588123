"""The comparison of faces sees a difference where there is one."""

from __future__ import annotations

import pytest

from dbt_graft.lineage.building.build import build
from tests.faces import differences
from tests.lineage.building.test_renames import BUILT, records


def test_faces_that_agree_have_no_differences() -> None:
    assert differences(build(records(BUILT))) == []


def test_a_face_that_names_nobody_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.faces.task_metadata", lambda _: {})
    assert differences(build(records(BUILT))) == [
        "db/final: task_metadata",
        "db/src: task_metadata's inputs",
    ]
