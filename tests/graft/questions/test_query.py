"""Ten questions of docs/query.md: each answer is that of a project of which it is known."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from dbt_graft.graft.commands.cli import main
from tests.graft.steward_project import NOW, steward_project

_TEXT = (Path(__file__).parents[3] / "docs/query.md").read_text("utf-8")
_SECTION = _TEXT.partition("## Ten questions of a steward's day")[2].partition("\n## ")[0]
QUESTIONS = re.findall(r"### (.*?)\n.*?```sql\n(.*?)```\n\n```text\n(.*?)```", _SECTION, re.DOTALL)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("steward")
    steward_project(folder)
    return folder / "graft.yml"


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def test_there_are_ten() -> None:
    assert len(QUESTIONS) == 10


@pytest.mark.parametrize(("query", "answer"), [pytest.param(*q[1:], id=q[0]) for q in QUESTIONS])
def test_the_answer_of_the_docs_is_that_of_the_project(
    project: Path, query: str, answer: str
) -> None:
    command = ["query", "-c", str(project), "--as-of", NOW, query]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    assert lines(done.stdout) == lines(answer)


def test_checks_that_cannot_run_are_among_the_findings(project: Path) -> None:
    query = (
        'select "check", problem, remedy from findings'
        " where code = 'CHECK_LEFT_OUT' and subject = 'freshness'"
    )
    command = ["query", "-c", str(project), "--format", "csv", query]
    assert CliRunner().invoke(main, command).stdout.splitlines() == [
        "check,problem,remedy",
        'freshness,"it looks for logs, which may be far",give a --max-age',
    ]
