"""Whether the blocks of the scripts are true: each is run, again and again, on small tables.

One input column at a time gets other values. What changes in a target must be in the block, and
what the block calls a part of a value must change it. A process of its own, which has other drivers
from then on; it writes a line for each thing that is not so.
"""

from __future__ import annotations

import contextlib
import csv
import io
import logging
import os
import sqlite3
import sys
import tempfile
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import CodeType

import pyarrow.parquet as pq

from dbt_graft.lineage.frozen import frozen
from tests.collectors.python_code.blocks import SCRIPTS, Block, Edge, list_scripts, read_block
from tests.collectors.python_code.fake_drivers import Connection, connect, drivers_played_by
from tests.collectors.python_code.small_tables import TABLES, draw_column, draw_file_column

SEEDS = 6
# After so many seeds a column is changed again only where its edges have not been seen.
FULL_SEEDS = 2

ColumnKey = tuple[str, str]
# By target and column, the values from the first row to the last.
Outcome = dict[str, dict[str, list[object]]]


@frozen
class Program:
    """A script, ready to run."""

    path: Path
    code: CodeType
    block: Block


@frozen
class Change:
    """The column that has other values in a run; None for none."""

    seed: int
    column: ColumnKey | None = None

    def version(self, table: str, column: str) -> int:
        """The version of the values that the column has."""
        return int((table, column) == self.column)


def check_script(path: Path) -> list[str]:
    """The lines of a script's block that are not true, and what it leaves out."""
    block = read_block(path)
    if block.runs_not:
        return []
    program = Program(path, compile(path.read_text("utf-8"), str(path), "exec"), block)
    edges = [plain for edge in block.edges for plain in _plain_edges(edge)]
    reachable = _reachable(edges, block.targets)
    expected = {
        (edge.source, edge.from_column, edge.target, edge.column)
        for edge in edges
        if edge.is_direct and not edge.may and not edge.unseen
    }
    problems: list[str] = []
    seen: set[tuple[str, str, str, str]] = set()
    reads: set[ColumnKey] = set()
    volatile: set[ColumnKey] = set()
    empty = set(block.targets)
    arrange: Callable[[Outcome], Outcome] = dict
    for seed in range(SEEDS):
        before = run(program, Change(seed), reads if seed == 0 else None)
        empty -= {target for target, columns in before.items() if any(columns.values())}
        if seed == 0:
            again = run(program, Change(seed))
            if before != again and _sorted_outcome(before) == _sorted_outcome(again):
                arrange = _sorted_outcome
            volatile = _changed(before, again)[0] if arrange is not _sorted_outcome else set()
            problems += _other_columns(block, before, edges)
        for table, column in sorted(reads):
            wanted = {edge for edge in expected if edge[:2] == (table, column)} - seen
            if seed >= FULL_SEEDS and not wanted:
                continue
            after = run(program, Change(seed, (table, column)))
            values, rows = _changed(arrange(before), arrange(after))
            seen |= {(table, column, *key) for key in values - volatile}
            problems += _untold(block, (table, column), values - volatile, rows, reachable)
        if seed >= FULL_SEEDS - 1 and not expected - seen:
            break
    problems += [f"no rows in {target}" for target in empty]
    for source, name, target, column in expected - seen:
        if source not in block.targets and source not in block.exists:
            problems.append(f"no effect: {target}.{column} <- {source}.{name}")
    return sorted(set(problems))


def run(program: Program, change: Change, reads: set[ColumnKey] | None = None) -> Outcome:
    """Run a script in a folder of its own, on tables of a seed; says what it read."""
    connection = connect(lambda name: _make_target(connection, name, program.block))
    if reads is not None:
        files = program.block.files.items()
        reads |= {(file, column) for file, columns in files for column in columns}
    _fill(connection, change, program.block)
    if reads is not None:
        connection.set_authorizer(_authorizer(reads))
    home = Path.cwd()
    modules = set(sys.modules)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        _write_files(program.block, change)
        sys.path.insert(0, str(program.path.parent))
        try:
            with drivers_played_by(connection), contextlib.redirect_stdout(io.StringIO()):
                warnings.simplefilter("ignore")
                exec(program.code, {"__name__": "__main__", "__file__": str(program.path)})  # noqa: S102
            connection.set_authorizer(None)
            return {
                target: _read_target(connection, target)
                for target in _targets(connection, program.block)
            }
        finally:
            os.chdir(home)
            sys.path.remove(str(program.path.parent))
            for name in set(sys.modules) - modules:
                file = getattr(sys.modules[name], "__file__", None) or ""
                if Path(file).is_relative_to(program.path.parent):
                    del sys.modules[name]
            connection.end()


def _fill(connection: Connection, change: Change, block: Block) -> None:
    cursor = connection.cursor()
    for table, columns in TABLES.items():
        values = {
            column: draw_column(table, column, change.seed, change.version(table, column))
            for column in columns
        }
        rows = list(zip(*values.values(), strict=False))  # as many as the shortest has
        types = ", ".join(
            f'"{name}" {"timestamp" if how.startswith("time") else ""}'
            for name, how in columns.items()
        )
        cursor.execute(f"CREATE TABLE {table} ({types})")
        cursor.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", rows)
    for table, names in block.exists.items():
        _make_target(connection, table, block)
        old = [tuple(_old_value(name, row) for name in names) for row in range(1, 9)]
        cursor.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(names))})", old)


def _old_value(name: str, row: int) -> object:
    if name.endswith("_id"):
        return row
    return f"2025-03-0{row} 00:00:00" if name.endswith(("_at", "_on")) else f"old{row}"


def _make_target(connection: Connection, name: str, block: Block) -> bool:
    columns = block.exists.get(name) or sorted(c for target, c in block.columns if target == name)
    if not columns:
        return False
    names = ", ".join(f'"{column}"' for column in columns)
    sqlite3.Connection.execute(connection, f"CREATE TABLE {name} ({names})")
    return True


def _write_files(block: Block, change: Change) -> None:
    for name in (*block.files, *block.targets):
        if "/" in name:
            Path(name).parent.mkdir(parents=True, exist_ok=True)
    for name, columns in block.files.items():
        values = [
            draw_file_column(column, change.seed, change.version(name, column))
            for column in columns
        ]
        with Path(name).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([columns, *zip(*values, strict=True)])


def _authorizer(reads: set[ColumnKey]) -> object:
    def note(action: int, table: str, column: str, schema: str, _: str) -> int:
        if action == sqlite3.SQLITE_READ and column and f"{schema}.{table}" in TABLES:
            reads.add((f"{schema}.{table}", column))
        return sqlite3.SQLITE_OK

    return note


def _targets(connection: Connection, block: Block) -> Iterator[str]:
    for schema in ("main", "dbo", "crm", "erp", "dw", "mart", "stage"):
        for (table,) in connection.execute(f"SELECT name FROM {schema}.sqlite_master").fetchall():
            name = table if schema == "main" else f"{schema}.{table}"
            if name not in TABLES:
                yield name
    yield from (
        str(path)
        for path in sorted(Path().rglob("*"))
        if path.is_file() and str(path) not in block.files
    )


def _read_target(connection: Connection, target: str) -> dict[str, list[object]]:
    if target.endswith(".parquet"):
        return pq.read_table(target).to_pydict()
    if Path(target).is_file():
        with Path(target).open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        return {name: [row[place] for row in rows] for place, name in enumerate(header)}
    cursor = connection.execute(f"SELECT * FROM {target}")
    rows = cursor.fetchall()
    return {c[0]: [str(row[place]) for row in rows] for place, c in enumerate(cursor.description)}


def _changed(before: Outcome, after: Outcome) -> tuple[set[ColumnKey], set[str]]:
    """The columns with other values, and the targets with more or fewer rows."""
    values: set[ColumnKey] = set()
    rows: set[str] = set()
    for target in before.keys() | after.keys():
        old, new = before.get(target, {}), after.get(target, {})
        values |= {
            (target, name) for name in old.keys() | new.keys() if old.get(name) != new.get(name)
        }
        counts = [{len(column) for column in table.values()} for table in (old, new)]
        if counts[0] != counts[1]:
            rows.add(target)
    return values, rows


def _sorted_outcome(outcome: Outcome) -> Outcome:
    """Without the order of rows, which Polars' groups have by chance."""
    return {
        target: {name: sorted(values, key=str) for name, values in columns.items()}
        for target, columns in outcome.items()
    }


def _untold(
    block: Block,
    source: ColumnKey,
    values: set[ColumnKey],
    rows: set[str],
    reachable: dict[ColumnKey, set[ColumnKey]],
) -> Iterator[str]:
    told = reachable[source]
    for target in rows:
        if (target, "*") not in told | block.gaps:
            yield f"rows of {target} change with {'.'.join(source)}"
    for key in values:
        if not told & {key, (key[0], "*")} and not block.gaps & {key, (key[0], "*")}:
            yield f"{'.'.join(key)} changes with {'.'.join(source)}"


def _plain_edges(edge: Edge) -> Iterator[Edge]:
    """An edge; of all further columns those that the table has."""
    if (edge.column, edge.from_column) == ("*", "*") and edge.source in TABLES:
        for column in TABLES[edge.source].keys() - edge.without:
            yield replace(edge, column=column, from_column=column)
    else:
        yield edge


def _reachable(edges: list[Edge], targets: frozenset[str]) -> dict[ColumnKey, set[ColumnKey]]:
    """The columns that a column may change, also by way of a target that is read again."""
    steps: dict[ColumnKey, set[ColumnKey]] = defaultdict(set)
    for edge in edges:
        key = (edge.source, edge.from_column)
        steps[key].add((edge.target, edge.column))
        if edge.source in targets:
            steps[(edge.source, "*")] |= {(edge.target, edge.column), (edge.target, "*")}
    for source in list(steps):
        new = set(steps[source])
        while new:
            further = {key for step in new for key in steps.get(step, ())} - steps[source]
            steps[source] |= further
            new = further
    return steps


def _other_columns(block: Block, outcome: Outcome, edges: list[Edge]) -> Iterator[str]:
    told = set(block.columns) | {
        (edge.target, edge.column) for edge in edges if edge.column != "*" and not edge.may
    }
    there = {(target, name) for target, columns in outcome.items() for name in columns}
    yield from (f"no column {'.'.join(key)}" for key in sorted(told - there))
    for key in sorted(there - told):
        if (key[0], "*") not in block.gaps and key[0] not in block.exists:
            yield f"not in the block: {'.'.join(key)}"


def main() -> None:
    """Write all that is not so of each script of some folders, or of single ones."""
    logging.disable()
    for path in [Path(name).resolve() for name in sys.argv[1:]] or [SCRIPTS]:
        for script in [path] if path.is_file() else list_scripts(path):
            try:
                problems = check_script(script)
            except Exception as error:  # a script's own
                problems = [f"{type(error).__name__}: {error}"]
            for problem in problems:
                print(f"{script.name}: {problem}", flush=True)


if __name__ == "__main__":
    main()
