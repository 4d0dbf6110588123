"""The worked examples of docs/query.md: each answer is that of the demo."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from dbt_graft.graft.commands.cli import main
from tests.cases import for_each

pytestmark = pytest.mark.demo

_TEXT = (
    (Path(__file__).parents[2] / "docs/query.md")
    .read_text("utf-8")
    .partition("## Examples of the demo")[2]
)
EXAMPLES = re.findall(r"### (.*?)\n\n```sql\n(.*?)```\n\n```text\n(.*?)```", _TEXT, re.DOTALL)


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def test_there_are_ten() -> None:
    assert len(EXAMPLES) == 10


@for_each("query, answer", [pytest.param(*e[1:], id=e[0]) for e in EXAMPLES])
def test_the_example_is_the_answer_of_the_demo(root: Path, query: str, answer: str) -> None:
    config = str(root / "dbt_project/graft.yml")
    done = CliRunner().invoke(main, ["query", "-c", config, query])
    assert done.exit_code == 0, done.output
    assert [line for line in lines(done.stdout) if line] == [line for line in lines(answer) if line]
