"""All that `graft doctor` says of dbt's artifacts and its docs page."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt_graft.graft.doctor.dbt_artifacts import docs_page
from dbt_graft.graft.project.config import load
from dbt_graft.lineage.errors import GraftError
from tests.injector.page_of_dbt_2 import write_duckdb, write_page


def problems(folder: Path, docs: str = "{}") -> list[str]:
    (folder / "graft.yml").write_text(f"dbt: {{project_dir: .}}\ndocs: {docs}\n")
    return [finding.problem for finding in docs_page(load(folder / "graft.yml"))]


def test_it_says_which_hosts_the_page_of_dbt_2_will_ask(tmp_path: Path) -> None:
    write_page(tmp_path / "target")
    [problem] = problems(tmp_path)
    assert "cdn.jsdelivr.net" in problem
    assert "extensions.duckdb.org" in problem


def test_it_is_silent_where_the_site_has_duckdb(tmp_path: Path) -> None:
    write_page(tmp_path / "target")
    write_duckdb(tmp_path / "duckdb")
    assert problems(tmp_path, "{duckdb: duckdb}") == []


def test_it_is_silent_without_a_page_of_dbt_2(tmp_path: Path) -> None:
    assert problems(tmp_path) == []


def test_it_names_what_the_folder_of_duckdb_lacks(tmp_path: Path) -> None:
    write_page(tmp_path / "target")
    with pytest.raises(GraftError, match=r"there is no duckdb-browser\.js"):
        problems(tmp_path, "{duckdb: nowhere}")
