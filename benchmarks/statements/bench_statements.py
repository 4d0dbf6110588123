"""Tables out of SQL text: accuracy and speed beside the peers, in one run.

The cases are those of our tests; speed is measured on a day of statements of real length, the same
again and again with other values. The peers come from PyPI into
an environment of their own. Writes sections of `benchmarks/results.md`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

from cases import Case, cases, same_name  # noqa: E402
from day import SHAPES, STATEMENTS, statements  # noqa: E402

from benchmarks.report import Report  # noqa: E402
from dbt_graft.collectors.statements.normalise import normalise  # noqa: E402
from dbt_graft.collectors.statements.parse import parse  # noqa: E402
from dbt_graft.collectors.statements.tables.scan import scan  # noqa: E402
from dbt_graft.collectors.statements.text.dialect import Dialect  # noqa: E402
from dbt_graft.collectors.statements.text.split import split  # noqa: E402
from dbt_graft.collectors.statements.text.tokens import tokenise  # noqa: E402

ENVIRONMENT = Path("build/bench-venv")
SCRIPT = "benchmarks/statements/bench_statements.py"
Answer = tuple[frozenset[str], frozenset[str]]
Work = Callable[[str, Dialect], object]
Day = dict[Dialect, list[str]]
Rates = dict[Any, float]


def tables(text: str, dialect: Dialect) -> int:
    """The number of tables in a text, without the columns."""
    tokens = tokenise(normalise(text, dialect), dialect)
    return sum(len(scan(token, dialect)[1]) for token in split(tokens, dialect))


def by_shapes(texts: list[str], dialect: Dialect, work: Work) -> None:
    """Normalise each text, do the rest once for each shape."""
    for text in {normalise(text, dialect) for text in texts}:
        work(text, dialect)


def each(texts: list[str], dialect: Dialect, work: Work) -> None:
    """Do all of it for each text."""
    for text in texts:
        work(text, dialect)


def rate(
    how: Callable[[list[str], Dialect, Work], None], work: Work, texts: list[str], dialect: Dialect
) -> float:
    """Statements a second of the processor, whatever else runs beside it."""
    start = time.process_time()
    how(texts, dialect, work)
    return len(texts) / (time.process_time() - start)


def ours(case: Case) -> Answer:
    """Our tables of a case."""
    shapes = parse(case.sql, Dialect(case.dialect))
    return (
        _names(name for shape in shapes for name in shape.reads),
        _names(name for shape in shapes for name in shape.writes),
    )


def ask_peers(found: list[Case], texts: Day) -> dict[str, Any]:
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


def row(report: Report, name: str, found: list[Case], answers: list[Any], rates: Rates) -> None:
    """One line of the table."""
    rights = [_right(case, answer) for case, answer in zip(found, answers, strict=True)]

    def share(dialect: str) -> str:
        chosen = [r for c, r in zip(found, rights, strict=True) if dialect in ("", c.dialect)]
        return f"{100 * sum(chosen) / len(chosen):.1f}" if chosen else "–"

    speeds = [f"{rates[dialect]:,.0f}" for dialect in Dialect]
    report.row(name, share("tsql"), share("spark"), share(""), *speeds)


def compare(found: list[Case], day: Day, others: list[Day]) -> None:
    """Report our tables and those of peers."""
    report = Report("Tables of a statement", SCRIPT)
    peers = ask_peers(found, day)
    mine: list[Any] = [ours(case) for case in found]
    counts = {dialect: sum(case.dialect == dialect for case in found) for dialect in Dialect}
    report.say(
        f"Share of cases, in %, for which exactly the tables read and exactly the tables written "
        f"come out: {counts['tsql']:,} of T-SQL and {counts['spark']:,} of Spark. **The cases are "
        "our own tests, so our rows show only that these pass**; the finding is how the others "
        "differ. Names are compared without case, quotes, omitted parts and the signs of temporary "
        "tables. Statements a second are of the time of one processor, ours with columns; peers "
        "parse each statement, because they know no shapes. Of our rates, the first is of few "
        "shapes with ever new values; then no two statements are alike, but for the names of "
        "their tables, or of these and their columns; in the last they differ in structure."
    )
    report.table("parser", "T-SQL", "Spark", "all", "T-SQL statements/s", "Spark SQL statements/s")
    rates = [{dialect: rate(by_shapes, parse, day[dialect], dialect) for dialect in Dialect}]
    rates += [
        {dialect: rate(each, parse, texts[dialect], dialect) for dialect in Dialect}
        for texts in others
    ]
    names = ("each shape once", "each of other tables", "each of other tables and columns")
    for name, rates_of_ours in zip((*names, "each of another structure"), rates, strict=True):
        row(report, f"dbt-graft, {name}", found, mine, rates_of_ours)
    for name, peer in peers.items():
        row(report, f"{name} {peer['version']}", found, peer["answers"], peer["rates"])
    fastest = peers["openlineage-sql"]["rates"]
    report.say()
    report.say(
        "dbt-graft / openlineage-sql: "
        + "; ".join(
            f"{dialect} {', '.join(f'{ours[dialect] / fastest[dialect]:.2f}' for ours in rates)}"
            for dialect in Dialect
        )
        + "."
    )
    for number, (case, answer) in enumerate(zip(found, mine, strict=True)):
        right = [name for name, peer in peers.items() if _right(case, peer["answers"][number])]
        if right and not _right(case, answer):
            report.say(f"- We miss `{case.sql.replace('`', '')[:110]}`: {', '.join(right)} do not")
    report.write()


def measure_parts(day: Day, shapes: Day) -> None:
    """Report what each part of our work takes."""
    report = Report("Statements in parts", SCRIPT)
    lengths = [len(text) for texts in day.values() for text in texts]
    report.say(
        f"{STATEMENTS:,} statements of {SHAPES} shapes, {min(lengths):,} to {max(lengths):,} "
        "characters long, a second:"
    )
    report.table("", *Dialect)
    for name, how, work, texts in (
        ("tables and columns, each shape once", by_shapes, parse, day),
        ("tables alone, each shape once", by_shapes, tables, day),
        ("normalising alone", each, normalise, day),
        ("tables alone, each shape anew", each, tables, shapes),
        ("tables and columns, each shape anew", each, parse, shapes),
    ):
        rates = [rate(how, work, texts[dialect], dialect) for dialect in Dialect]
        report.row(name, *(f"{speed:,.0f}" for speed in rates))
    report.write()


def _renamed(texts: list[str]) -> list[str]:
    """Statements of other tables, so that no two are alike."""
    return [text.replace(".dbo.", f".dbo{n}.") for n in range(10) for text in texts[:SHAPES]]


def _of_other_columns(texts: list[str]) -> list[str]:
    """Statements of other columns too, so that no two are alike whatever their tables are."""
    return [
        text.replace("order_id", f"order_id{n}_{at}")
        for n in range(5)
        for at, text in enumerate(texts[:SHAPES])
    ]


def _restructured(texts: list[str]) -> list[str]:
    """Statements of other conditions, so that no two are alike whatever their names are."""
    return [
        _with_conditions(text, number)
        for number, text in enumerate(text for _ in range(5) for text in texts[:SHAPES])
    ]


def _with_conditions(text: str, number: int) -> str:
    signs = ["amount_net > 1" if bit == "1" else "NOT amount_tax < 1" for bit in f"{number:010b}"]
    where = f"WHERE {' AND '.join(signs)}"
    if "WHERE" in text:
        return text.replace("WHERE", f"{where} AND", 1)
    columns = "order_id, order_date, amount_net, amount_tax, currency_code, status_code, city"
    return f"{text.replace('VALUES', 'SELECT * FROM (VALUES')}) AS v ({columns}) {where}"


def main() -> None:
    """Write both sections."""
    day = {dialect: statements(dialect) for dialect in Dialect}
    renamed = {dialect: _renamed(texts) for dialect, texts in day.items()}
    restructured = {dialect: _restructured(texts) for dialect, texts in day.items()}
    recolumned = {dialect: _of_other_columns(texts) for dialect, texts in day.items()}
    compare(cases(), day, [renamed, recolumned, restructured])
    measure_parts(day, restructured)


if __name__ == "__main__":
    main()
