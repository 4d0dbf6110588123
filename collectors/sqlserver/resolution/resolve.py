"""Statements in Arrow batches, on the executors: each distinct text is parsed once.

Parsing happens in a child process (`workers`), so that a text can cost itself and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import pyarrow as pa

from dbt_graft.collectors.sqlserver.resolution.lookup import NameResolver
from dbt_graft.collectors.sqlserver.resolution.procedures import Parse, ProcedureExpander
from dbt_graft.collectors.sqlserver.resolution.statement import STATEMENT, Row, statement
from dbt_graft.collectors.sqlserver.server.snapshot import Snapshot
from dbt_graft.collectors.statements.parse import ParsedShape, failure, parse
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.collectors.statements.workers import SECONDS, Worker

# `inferred` is what the procedures do that the text calls, by their texts.
PARSED = (
    f"text string, database string, statements array<struct<{STATEMENT}>>, "
    f"inferred array<struct<{STATEMENT}>>"
)

Batches = Iterator[pa.RecordBatch]


def parse_texts(
    server: str,
    schema: pa.Schema,
    snapshot: Snapshot | None = None,
    parse: Parse = parse,
    seconds: float = SECONDS,
) -> Callable[[Batches], Batches]:
    """Texts with their databases -> `PARSED`, tables by their full names on a server.

    Args:
        snapshot: What the server holds: columns, kinds, synonyms and procedures.
        parse: What gives the shapes of a text.
        seconds: The longest that one text may take.
    """

    def run(batches: Batches) -> Batches:
        bodies = ProcedureExpander(NameResolver(server, snapshot), parse)

        def work(row: Row) -> Row:
            def columns(used: str | None, table: Name) -> Sequence[str]:
                return bodies.lookup.columns(used or row["database"], table)

            return row | resolve_statements(
                parse(row["text"], Dialect.TSQL, columns), row["database"], bodies
            )

        def failed(row: Row, reason: str) -> Row:
            shape = failure(row["text"], Dialect.TSQL, reason)
            return row | resolve_statements((shape,), row["database"], bodies)

        with Worker(work, failed, seconds) as worker:
            for batch in batches:
                rows = worker.map(batch.to_pylist())
                yield pa.RecordBatch.from_pylist(rows, schema=schema)

    return run


def resolve_statements(
    shapes: Iterable[ParsedShape], database: str, bodies: ProcedureExpander
) -> dict[str, list[Row]]:
    """The statements of a text that touch a dataset or could not be read, equal ones once.

    Returns:
        `statements`, those of the text, and `inferred`, those of the procedures that it calls;
        one `ordinal` tells the order of all.
    """
    seen: dict[tuple[str, ...], Row] = {}
    inferred: dict[tuple[str, ...], Row] = {}
    ordinal = 0
    for shape in shapes:
        if shape.module is not None:
            continue  # it was defined, not run
        used = shape.database or database
        for inside in bodies.inside(shape.calls, used):  # first: INSERT t EXEC p
            _add(inferred, (inside["shape_id"], inside["procedure"]), inside, ordinal)
            ordinal += 1
        row = statement(shape, used, bodies.lookup)
        _add(seen, (shape.shape_id, used), row, ordinal)
        ordinal += 1
    told = [one for one in seen.values() if one["accesses"] or one["outcome"] == "failed"]
    alone = sum(one["times"] for one in told) == 1
    return {
        "statements": [{**one, "alone": alone} for one in told],
        "inferred": list(inferred.values()),
    }


def _add(found: dict[tuple[str, ...], Row], key: tuple[str, ...], row: Row, ordinal: int) -> None:
    if key in found:
        found[key]["times"] += 1
    else:
        found[key] = {**row, "ordinal": ordinal}
