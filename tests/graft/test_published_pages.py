"""`graft site` again: what did not change stays as it is, and the summary counts the rest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jinja2 import Template as Renderer

from dbt_graft.graft.commands.cli import main
from tests.graft.small_project import declare, small_project


@pytest.fixture
def project(tmp_path: Path) -> Path:
    small_project(tmp_path)
    run(tmp_path, "build")
    return tmp_path


def run(project: Path, *command: str) -> dict[str, Any]:
    options = ["--config", str(project / "graft.yml"), "--json", "--quiet"]
    done = CliRunner().invoke(main, [*command, *options])
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.output)["data"]
    return found


def dates(project: Path) -> dict[str, int]:
    site = project / "build/site"
    return {
        file.relative_to(site).as_posix(): file.stat().st_mtime_ns
        for file in site.rglob("*")
        if file.is_file() and file.name != ".dbt-graft.json"
    }


def test_a_second_build_writes_what_changed_and_nothing_else(project: Path) -> None:
    before = dates(project)
    assert run(project, "site")["pages_changed"] == 0
    assert {file for file, date in dates(project).items() if before[file] != date} == set()

    declare(project, "raw.orders", "raw.returns")
    built = run(project, "build")
    assert 0 < built["pages_changed"] < built["pages"]
    rewritten = {file for file, date in dates(project).items() if before.get(file) != date}
    assert "datasets/spark/raw/returns/index.html" in rewritten
    assert "datasets/spark/raw/index.html" in rewritten
    assert "styles/catalog.css" not in rewritten


def test_full_makes_every_page_again(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    original = Renderer.render

    def render(template: Renderer, *values: Any, **more: Any) -> str:
        made.append(template.name or "")
        return original(template, *values, **more)

    monkeypatch.setattr(Renderer, "render", render)
    assert run(project, "site")["pages_changed"] == 0
    assert "dataset.html.j2" not in made
    assert run(project, "site", "--full")["pages_changed"] == 0, "they come out the same"
    assert made.count("dataset.html.j2") == 2


def test_the_summary_counts_changed_pages(project: Path) -> None:
    options = ["--config", str(project / "graft.yml")]
    done = CliRunner().invoke(main, ["site", *options])
    assert "pages     0 of " in done.output
