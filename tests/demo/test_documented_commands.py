"""Each command that README and the documentation show is run on the demo, and does what it says."""

from __future__ import annotations

import shlex
import shutil
from itertools import takewhile
from pathlib import Path

import pytest
from click.testing import CliRunner

from dbt_graft.graft.commands.cli import main
from tests.collectors.sqlserver.runs.test_fold import event
from tests.collectors.sqlserver.xel_writer import write_events

# What a reader puts in the place of a word of ours, where the demo has it under another name.
NAMES = {
    "raw.orders.unit_price": "raw.orders.status",
    "mart.weekly": "web.weekly_visitors",
    "load_orders": "load_products",
    "load": "load_products",
    "LOG": "../build/demo/spark-events",
    "FILE": "logs/shop_lineage.xml",
    "PATH": "../copy",
    "/opt/airflow/graft-lineage.json": "graft-lineage.json",
    "xe/": "logs/",
    "logs/spark-events/": "../build/demo/spark-events",
}
# Commands that need what no demo has -> the words of the error that names it.
MISSING = {
    "init": "already exists",
    "doctor --sqlserver env:GRAFT_MSSQL": "GRAFT_MSSQL",
    "logs sqlserver-snapshot": "connection",
    "logs openlineage events.jsonl": "expected.json",
    "check --only audience": "there is no site for an audience",
    "check --only dags": "no DAGs are named",
    "incident open raw.orders": "name the bad run",
    "export openlineage --send": "name the endpoint",
    "export openlineage --airflow": "name the endpoint",
    "export run-manifest application_": "there is no such run",
    "store purge": "has no `keep`",
    "store forget": "nothing in the store came from",
    "review": "",
    "incident show": "",
    "incident close 1": "",
    "check --only links": "",
}
# They end with Ctrl-C, or wait for a server.
NOT_RUN = ("serve", "export openlineage --url")


def documented(root: Path) -> list[list[str]]:
    """The commands in the documents, each once, without comments and what follows them."""
    lines = {
        line
        for path in (root / "README.md", *sorted((root / "docs").glob("*.md")))
        for line in path.read_text().replace("\\\n", " ").splitlines()
        if line.startswith("$ graft ")
    }
    return sorted(map(_words, lines))


def _words(line: str) -> list[str]:
    lexer = shlex.shlex(line.removeprefix("$ graft "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    return [*takewhile(lambda word: word not in ("|", ">", "||", "&&"), lexer)]


@pytest.fixture
def shop(root: Path, demo: Path, tmp_path: Path) -> Path:
    """A copy of the demo, with a log as SQL Server writes it beside the one in XML."""
    shutil.copytree(demo, tmp_path / "build/demo")
    shop = Path(shutil.copytree(root / "dbt_project", tmp_path / "dbt_project"))
    write_events(shop / "lineage_0_1337.xel", [event("batch", "DELETE FROM Shop.dbo.Orders")])
    return shop


def test_every_documented_command_runs_on_the_demo(
    root: Path, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shop)
    commands = documented(root)
    assert len(commands) > 60
    wrong = []
    for words in commands:
        line = " ".join(words)
        if line.startswith(NOT_RUN):
            continue
        done = CliRunner().invoke(main, [NAMES.get(word, word) for word in words])
        expected = next((text for start, text in MISSING.items() if line.startswith(start)), None)
        is_missing = expected is not None and done.exit_code in (1, 2) and expected in done.output
        if "unexpected" in done.output or not (done.exit_code in (0, 3) or is_missing):
            wrong.append((line, done.exit_code, done.output[-400:]))
    assert wrong == [], "\n".join(map(str, wrong))
