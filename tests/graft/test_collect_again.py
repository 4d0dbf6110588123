"""`graft collect --again` replaces the store with what the logs hold now."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.graft.test_command import graft
from tests.graft.test_faults import EXPECTED, project, reads


def test_with_a_source_that_cannot_be_read_nothing_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "lineage").mkdir()
    (tmp_path / "graft.yml").write_text(
        "collect: [{declared: {path: lineage}}, {spark: {path: gone}}]\nstore: store"
    )
    (tmp_path / "lineage/a.yml").write_text("version: 1")
    done = graft(tmp_path, "collect", "--again")
    assert done.returncode == 1
    assert "error: gone: there is nothing at this path" in done.stderr
    assert not (tmp_path / "store").exists()


@pytest.mark.spark
def test_all_logs_are_read_into_the_one_batch_of_the_store(tmp_path: Path) -> None:
    folder = project(tmp_path)
    first = graft(folder, "collect", "--quiet")
    assert first.returncode == 0, first.stderr
    assert reads(folder / "store") == EXPECTED
    (folder / "logs/b.xel").unlink()

    again = graft(folder, "collect", "--again", "--quiet")
    assert again.returncode == 0, again.stderr
    assert reads(folder / "store") == {
        name: count for name, count in EXPECTED.items() if not name.startswith("dbo.b")
    }
    tables = [table for table in (folder / "store").iterdir() if table.is_dir()]
    assert {len([*table.glob("batch_id=*")]) for table in tables} == {1}

    once_more = graft(folder, "collect", "--json")
    assert '"new_logs": 0' in once_more.stdout
