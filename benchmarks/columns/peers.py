"""The peers' columns of queries; runs where they are installed, with nothing of ours.

Reads `{"peers": […], "cases": [[dialect, sql, schema], …], "models": {title: [[…], …]}}` from
standard input, where a schema is table -> its columns. Writes for each peer `{"version": …,
"answers": [{column: [inputs]} or null, …], "rates": {title: models a second}}`.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from importlib.metadata import version

Schema = dict[str, list[str]]
Answer = dict[str, list[str]]
# A slow peer gets fewer models: its cost is the same for each.
SECONDS = 10.0


def sqlglot_lineage(dialect: str, sql: str, schema: Schema) -> Answer:
    """sqlglot.lineage of all columns; the query is parsed and qualified once."""
    from sqlglot import exp, maybe_parse
    from sqlglot.lineage import lineage
    from sqlglot.optimizer import build_scope, qualify

    nested: dict[str, object] = {}
    for table, columns in schema.items():
        *parents, name = table.split(".")
        inside: dict[str, object] = nested
        for parent in parents:
            inside = inside.setdefault(parent, {})  # type: ignore[assignment]
        inside[name] = dict.fromkeys(columns, "text")
    tree = qualify.qualify(
        maybe_parse(sql, dialect=dialect),
        dialect=dialect,
        schema=nested,
        validate_qualify_columns=False,
        identify=False,
    )
    scope = build_scope(tree)
    roots = lineage(None, tree, schema=nested, dialect=dialect, scope=scope, copy=False)
    return {
        column: [
            f"{_table(leaf.source)}.{exp.to_column(leaf.name).name}"
            for leaf in root.walk()
            if isinstance(leaf.source, exp.Table) and not leaf.downstream
        ]
        for column, root in roots.items()
    }


def _table(table: object) -> str:
    return ".".join(part.name for part in table.parts)  # type: ignore[attr-defined]


def dbt_col_lineage(dialect: str, sql: str, schema: Schema) -> Answer:
    """dbt-col-lineage's parser; stars are spelled out from the schema, as its registry does."""
    from dbt_column_lineage.parser import SQLColumnParser

    found = SQLColumnParser(dialect=dialect).parse_column_lineage(sql)
    answer = {
        column: [source for lineage in lineages for source in lineage.source_columns]
        for column, lineages in found.column_lineage.items()
    }
    for table in found.star_sources:
        for column in schema.get(table, schema.get(table.rpartition(".")[2], [])):
            answer.setdefault(column, [f"{table}.{column}"])
    return answer


def sqllineage(dialect: str, sql: str, schema: Schema) -> Answer:
    """sqllineage, of a table that is created as the query."""
    from sqllineage.core.metadata.dummy import DummyMetaDataProvider
    from sqllineage.runner import LineageRunner

    tables = {t if "." in t else f"<default>.{t}": columns for t, columns in schema.items()}
    runner = LineageRunner(
        f"CREATE TABLE made AS {sql}",
        dialect={"spark": "sparksql"}.get(dialect, dialect),
        metadata_provider=DummyMetaDataProvider(tables),
    )
    answer: dict[str, list[str]] = defaultdict(list)
    for path in runner.get_column_lineage():
        answer[path[-1].raw_name].append(str(path[0]).replace("<default>.", ""))
    return dict(answer)


PEERS: dict[str, tuple[str, Callable[[str, str, Schema], Answer]]] = {
    "sqlglot.lineage": ("sqlglot", sqlglot_lineage),
    "dbt-col-lineage": ("dbt-col-lineage", dbt_col_lineage),
    "sqllineage": ("sqllineage", sqllineage),
}


def asked(
    peer: Callable[[str, str, Schema], Answer], dialect: str, sql: str, schema: Schema
) -> Answer | None:
    """A peer's answer; None where it gives up, in whatever way."""
    try:
        return peer(dialect, sql, schema)
    except Exception:
        return None


def rate(
    peer: Callable[[str, str, Schema], Answer], models: list[tuple[str, str, Schema]]
) -> float:
    """Models a second of the processor, one by one."""
    done, start = 0, time.process_time()
    for dialect, sql, schema in models:
        asked(peer, dialect, sql, schema)
        done += 1
        if time.process_time() - start > SECONDS:
            break
    return done / (time.process_time() - start)


def main() -> None:
    """Ask the peers everything."""
    logging.disable()
    work = json.load(sys.stdin)
    results = {}
    for name in work["peers"]:
        package, peer = PEERS[name]
        answers = [asked(peer, *case) for case in work["cases"]]
        results[name] = {
            "version": version(package),
            "answers": answers,
            "rates": {title: rate(peer, models) for title, models in work["models"].items()},
        }
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
