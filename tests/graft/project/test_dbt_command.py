"""The dbt that is run, and the arguments of its generation."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dbt_graft.graft.project.config import Config, load
from dbt_graft.graft.project.dbt_command import dbt_command, docs_arguments
from dbt_graft.lineage.errors import GraftError


def program(path: Path, text: str = "") -> Path:
    """A program that prints a text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{text}'\n")
    path.chmod(0o755)
    return path


def config(folder: Path, text: str = "{}") -> Config:
    (folder / "graft.yml").write_text(text)
    return load(folder / "graft.yml")


def test_it_is_that_of_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dbt = program(tmp_path / "bin/dbt")
    monkeypatch.setenv("PATH", str(dbt.parent))
    assert dbt_command(config(tmp_path)) == [str(dbt)]


def test_without_one_on_the_path_it_is_that_beside_us(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dbt = program(tmp_path / "environment/bin/dbt")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(dbt.parent / "python"))
    assert dbt_command(config(tmp_path)) == [str(dbt)]
    dbt.unlink()
    with pytest.raises(GraftError, match="there is no dbt"):
        dbt_command(config(tmp_path))


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("uv run dbt", ["uv", "run", "dbt"]),
        ("/opt/dbt/bin/dbt", ["/opt/dbt/bin/dbt"]),
        ("env/bin/dbt --debug", ["{folder}/env/bin/dbt", "--debug"]),
    ],
)
def test_graft_yml_names_it(tmp_path: Path, written: str, expected: list[str]) -> None:
    command = dbt_command(config(tmp_path, f"dbt: {{command: {written}}}\n"))
    assert command == [word.format(folder=tmp_path.resolve()) for word in expected]


@pytest.mark.parametrize(
    ("help_text", "expected"),
    [
        ("--compile / --no-compile", "docs generate"),  # dbt 1
        ("--write-index --write-catalog --no-compile", "docs generate --write-catalog"),  # dbt 2
        ("--write-index --write-catalog", "compile --write-index --write-catalog"),  # its previews
    ],
)
def test_arguments_are_those_of_its_generation(
    tmp_path: Path, help_text: str, expected: str
) -> None:
    dbt = program(tmp_path / "dbt", help_text)
    assert " ".join(docs_arguments([str(dbt)], tmp_path)) == expected


def test_one_that_cannot_be_started_is_named(tmp_path: Path) -> None:
    with pytest.raises(GraftError, match=r"gone: dbt cannot be started"):
        docs_arguments([str(tmp_path / "gone")], tmp_path)
