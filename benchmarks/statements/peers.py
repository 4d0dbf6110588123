"""The peers' answers; runs in an environment of its own, which has them and nothing of ours.

Reads `{"cases": [[dialect, sql], …], "speed": {dialect: [sql, …]}}` from standard input, writes for
each peer `{"version": …, "answers": [[reads, writes] or null, …], "rates": {dialect: …}}`, which
are statements a second.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import time
from collections.abc import Callable
from importlib.metadata import version

import openlineage_sql
import sqlglot
from sql_metadata import Parser
from sqlglot import exp
from sqllineage.runner import LineageRunner

Answer = tuple[list[str], list[str]]
# A slow peer gets fewer statements: its cost is the same for each.
SECONDS = 10.0


def openlineage(dialect: str, sql: str) -> Answer:
    """openlineage-sql, with its own name for T-SQL."""
    found = openlineage_sql.parse([sql], dialect={"tsql": "mssql"}.get(dialect, dialect))
    return [t.qualified_name for t in found.in_tables], [t.qualified_name for t in found.out_tables]


def sqllineage(dialect: str, sql: str) -> Answer:
    """sqllineage; a table in the middle of a script is both."""
    found = LineageRunner(sql, dialect={"spark": "sparksql"}.get(dialect, dialect))
    middle = [str(table) for table in found.intermediate_tables]
    reads, writes = found.source_tables, found.target_tables
    return [*map(str, reads), *middle], [*map(str, writes), *middle]


def tree(dialect: str, sql: str) -> Answer:
    """sqlglot's syntax tree: what DML and DDL stand on is written, all other tables are read."""
    reads: list[str] = []
    writes: list[str] = []
    for statement in sqlglot.parse(sql, read=dialect):
        if statement is None:
            continue
        if isinstance(statement, exp.Command):
            raise ValueError("not known")
        tables = list(statement.find_all(exp.Table))
        aliases = {table.alias: table for table in tables if table.alias}
        ctes = {cte.alias for cte in statement.find_all(exp.CTE)}
        targets = []
        if isinstance(
            statement, (exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Create, exp.Drop)
        ):
            target = statement.this
            targets.append(target.this if isinstance(target, exp.Schema) else target)
        elif isinstance(statement, exp.TruncateTable):
            targets += statement.expressions
        targets += [into.this for into in statement.find_all(exp.Into)]
        written = [t for t in targets if isinstance(t, exp.Table)]
        writes += [_name(aliases.get(table.name, table)) for table in written]
        reads += [_name(t) for t in tables if t not in written and t.name not in ctes]
    return reads, writes


def _name(table: exp.Table) -> str:
    return ".".join(part.name for part in table.parts)


_KEYWORD = re.compile(
    r"\b(SELECT|INSERT|REPLACE|UPDATE|DELETE|MERGE|TRUNCATE|DROP|CREATE|ALTER)\b", re.IGNORECASE
)


def last_keyword(dialect: str, sql: str) -> Answer:
    """sql-metadata's tables; the last keyword before one decides whether it is read or written."""
    answer: Answer = ([], [])
    for table in Parser(sql, disable_logging=True).tables:
        before = _KEYWORD.findall(sql[: max(sql.casefold().find(table.casefold()), 0)])
        answer[bool(before and before[-1].upper() != "SELECT")].append(table)
    return answer


PEERS: dict[str, tuple[str, Callable[[str, str], Answer]]] = {
    "openlineage-sql": ("openlineage-sql", openlineage),
    "plain sqlglot tree": ("sqlglot", tree),
    "sqllineage (sqlfluff)": ("sqllineage", sqllineage),
    "sql-metadata, last keyword": ("sql-metadata", last_keyword),
}


def asked(peer: Callable[[str, str], Answer], dialect: str, sql: str) -> Answer | None:
    """A peer's answer; None where it gives up, in whatever way."""
    try:
        return peer(dialect, sql)
    except Exception:
        return None
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return None  # openlineage-sql panics


def rate(peer: Callable[[str, str], Answer], dialect: str, texts: list[str]) -> float:
    """Statements a second of the processor, one by one."""
    done, start = 0, time.process_time()
    for text in texts:
        asked(peer, dialect, text)
        done += 1
        if done % 20 == 0 and time.process_time() - start > SECONDS:
            break
    return done / (time.process_time() - start)


def main() -> None:
    """Ask all peers everything."""
    logging.disable()
    work = json.load(sys.stdin)
    results = {}
    for name, (package, peer) in PEERS.items():
        answers = [asked(peer, dialect, sql) for dialect, sql in work["cases"]]
        results[name] = {
            "version": version(package),
            "answers": answers,
            "rates": {
                dialect: rate(peer, dialect, texts) for dialect, texts in work["speed"].items()
            },
        }
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
