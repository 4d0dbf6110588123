"""Tables out of SQL text: accuracy and speed beside the peers, in one run.

The cases are those of our tests; speed is measured on a day of statements of real length, the same
again and again with other values. The peers come from PyPI into
an environment of their own. Writes `docs/benchmarks.md`.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
import venv
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

from cases import Case, cases, same_name  # noqa: E402
from day import SHAPES, STATEMENTS, statements  # noqa: E402

from benchmarks.report import with_other_sections  # noqa: E402
from dbt_graft.collectors.statements.normalise import normalise  # noqa: E402
from dbt_graft.collectors.statements.parse import parse  # noqa: E402
from dbt_graft.collectors.statements.tables.scan import scan  # noqa: E402
from dbt_graft.collectors.statements.text.dialect import Dialect  # noqa: E402
from dbt_graft.collectors.statements.text.split import split  # noqa: E402
from dbt_graft.collectors.statements.text.tokens import tokenise  # noqa: E402

ENVIRONMENT = Path("build/bench-venv")
PAGE = Path("docs/benchmarks.md")
Answer = tuple[frozenset[str], frozenset[str]]


def tables(text: str) -> int:
    """The number of tables in a normalised text, without the columns."""
    tokens = tokenise(text, Dialect.TSQL)
    return sum(len(scan(one, Dialect.TSQL)[1]) for one in split(tokens, Dialect.TSQL))


def by_shapes(texts: list[str], work: Callable[[str], object]) -> None:
    """Normalise each text, do the rest once for each shape."""
    for text in {normalise(text, Dialect.TSQL) for text in texts}:
        work(text)


def each(texts: list[str], work: Callable[[str], object]) -> None:
    """Do all of it for each text."""
    for text in texts:
        work(normalise(text, Dialect.TSQL))


def complete(text: str) -> object:
    """The tables that `parse` finds."""
    return parse(text, Dialect.TSQL)


def rate(
    how: Callable[[list[str], Callable[[str], object]], None],
    work: Callable[[str], object],
    texts: list[str],
) -> float:
    """Statements a second."""
    start = time.perf_counter()
    how(texts, work)
    return len(texts) / (time.perf_counter() - start)


def ours(case: Case) -> Answer:
    """Our tables of a case."""
    shapes = parse(case.sql, Dialect(case.dialect))
    return (
        _names(name for shape in shapes for name in shape.reads),
        _names(name for shape in shapes for name in shape.writes),
    )


def ask_peers(found: list[Case], texts: list[str]) -> dict[str, Any]:
    """The peers' answers and rates, from their own environment, which is made if need be."""
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        venv.create(ENVIRONMENT, with_pip=True)
        quiet = ["--quiet", "--disable-pip-version-check"]
        install = [str(python), "-m", "pip", "install", *quiet, "-r", HERE / "requirements.txt"]
        subprocess.run(install, check=True)
    work = {"cases": [[case.dialect, case.sql] for case in found], "speed": texts}
    peers = subprocess.run(
        [str(python), HERE / "peers.py"],
        input=json.dumps(work),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    answers: dict[str, Any] = json.loads(peers.stdout)
    return answers


def _names(names: Any) -> frozenset[str]:
    return frozenset(map(same_name, names))


def _right(case: Case, answer: Any) -> bool:
    return answer is not None and (_names(answer[0]), _names(answer[1])) == (
        case.reads,
        case.writes,
    )


def row(name: str, found: list[Case], answers: list[Any], speed: float) -> str:
    """One line of the table."""
    rights = [_right(case, answer) for case, answer in zip(found, answers, strict=True)]

    def share(dialect: str) -> str:
        chosen = [r for c, r in zip(found, rights, strict=True) if dialect in ("", c.dialect)]
        return f"{100 * sum(chosen) / len(chosen):.1f}" if chosen else "–"

    return f"| {name} | {share('tsql')} | {share('spark')} | {share('')} | {speed:,.0f} |"


def page() -> str:
    """Run everything; return the page."""
    busy = os.getloadavg()[0]
    found, texts = cases(), statements()
    lengths = [len(text) for text in texts]
    peers = ask_peers(found, texts)
    mine: list[Any] = [ours(case) for case in found]
    shapes = [text for n in range(10) for text in _renamed(texts[:SHAPES], n)]
    rows = [
        row("dbt-graft, each shape once", found, mine, rate(by_shapes, complete, texts)),
        row("dbt-graft, each statement", found, mine, rate(each, complete, shapes)),
        *(
            row(f"{name} {peer['version']}", found, peer["answers"], peer["rate"])
            for name, peer in peers.items()
        ),
    ]
    wrong = [case for case, answer in zip(found, mine, strict=True) if not _right(case, answer)]
    better = [
        f"- `{case.sql.replace('`', '')[:110]}`: {', '.join(right)}"
        for case in wrong
        if (
            right := [
                name
                for name, peer in peers.items()
                if _right(case, peer["answers"][found.index(case)])
            ]
        )
    ]
    counts = {dialect: sum(case.dialect == dialect for case in found) for dialect in Dialect}
    return f"""# Benchmarks

Written by `make bench` on {datetime.now(UTC):%Y-%m-%d}: {os.cpu_count()} cores, \
{platform.machine()}, Python {platform.python_version()}; the load before was {busy:.1f}\
{", so other work ran beside it" if busy > 0.5 else ""}. Everything in one run, on one core.

## Tables of a statement

Share of cases, in %, for which exactly the tables read and exactly the tables written come out: \
{counts["tsql"]:,} of T-SQL and {counts["spark"]:,} of Spark. **The cases are our own tests, so \
our rows show only that these pass**; the finding is how the others differ. \
Names are compared without case, quotes, omitted parts and the signs of temporary tables. \
Statements a second are T-SQL; peers parse each statement, because they know no shapes.

| parser | T-SQL | Spark | all | statements/s |
|---|---|---|---|---|
{chr(10).join(rows)}

{f"Cases that we miss and a peer gets:{chr(10)}{chr(10)}" + chr(10).join(better) if better else ""}\
{"" if better else "No peer gets a case that we miss."}

## Speed in parts

{STATEMENTS:,} statements of {SHAPES} shapes, {min(lengths):,} to {max(lengths):,} characters \
long, a second:

| | statements/s |
|---|---|
| tables and columns, each shape once | {rate(by_shapes, complete, texts):,.0f} |
| tables alone, each shape once | {rate(by_shapes, tables, texts):,.0f} |
| normalising alone | {rate(each, len, texts):,.0f} |
| tables alone, each statement anew | {rate(each, tables, shapes):,.0f} |
| tables and columns, each statement anew | {rate(each, complete, shapes):,.0f} |
"""


def _renamed(texts: list[str], number: int) -> list[str]:
    """Statements of other tables, so that no two are alike."""
    return [text.replace(".dbo.", f".dbo{number}.") for text in texts]


def main() -> None:
    """Write the page and show it."""
    result = page()
    PAGE.write_text(with_other_sections(result, PAGE.read_text()))
    print(result)


if __name__ == "__main__":
    main()
