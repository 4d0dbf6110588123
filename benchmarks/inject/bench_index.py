"""Grafting an index of dbt 2 against reading and writing the same files with pyarrow, in one run.

30,000 models with ten columns each, a million column edges, 2,000 tasks: each writes a source of
the project, or a new table, in turns. The time is that of reading the index, grafting it and
writing all its files; beside it that of reading the grafted files and writing them again. Bars: at
most 2.5 times the time, and a peak of 1.5 GB.

Each measure is a process of its own, the best of three; the processor's own time stands beside it,
since other work on the machine shows in the first. What the graft is given (the manifests, the
edges) is made before, and counts as memory.
"""

from __future__ import annotations

import gc
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.report import Report

MODELS, COLUMNS, EDGES, TASKS = 30_000, 10, 1_000_000, 2_000
BUILD = Path("build/bench/index")
AT = datetime(2026, 11, 20, 1, tzinfo=UTC)
SLOWEST, LARGEST = 2.5, 1.5e9
TEXTS = pa.list_(pa.string())
Json = dict[str, Any]
_WORDS = [f"{stem}_{n}" for n in range(400) for stem in ("order", "amount", "join", "select")]


def main() -> int:
    """Measure and report; 1 where a bar is missed."""
    report = Report("Grafting an index of dbt 2", "benchmarks/inject/bench_index.py")
    index = BUILD / "target/index"
    if not index.exists():
        _make(index)
    grafted, busy, peak = _best("graft")
    plain, plain_busy, _ = _best("pyarrow")
    out = sum(path.stat().st_size for path in (BUILD / "grafted").iterdir())
    report.say(
        f"{MODELS:,} models, {MODELS * COLUMNS:,} columns, {EDGES:,} column edges, {TASKS:,} "
        "tasks; the grafted files read and written with pyarrow beside it; peak in GB."
    )
    report.table(
        *("", "MB", "s", "pyarrow s", f"x (bar {SLOWEST})", "CPU s", "pyarrow CPU s", "x"),
        f"peak (bar {LARGEST / 1e9})",
    )
    figures = (grafted, plain, grafted / plain, busy, plain_busy, busy / plain_busy, peak / 1e9)
    report.row("index", f"{out / 1e6:,.0f}", *(f"{figure:.2f}" for figure in figures))
    report.write()
    return int(grafted > SLOWEST * plain or peak > LARGEST)


def _best(what: str) -> tuple[float, float, float]:
    """Seconds, seconds of the processor, and bytes: of three processes the least of each."""
    measured = []
    for _ in range(3):
        command = [sys.executable, __file__, what]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        measured.append(json.loads(done.stdout.splitlines()[-1]))
    seconds, busy, memory = (min(values) for values in zip(*measured, strict=True))
    return seconds, busy, memory


def measure(what: str) -> None:
    """Run one of the two in this process and print what it took."""
    work = _pyarrow if what == "pyarrow" else _grafting()
    gc.collect()
    gc.freeze()  # as after a graft
    started, ran = time.perf_counter(), time.process_time()
    work()
    seconds, busy = time.perf_counter() - started, time.process_time() - ran
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps([seconds, busy, peak]))


def _pyarrow() -> None:
    tables = {path: pq.read_table(path) for path in sorted((BUILD / "grafted").iterdir())}
    for path, table in tables.items():
        copy = BUILD / f"copy-of-{path.name}"
        pq.write_table(table, copy, compression="zstd", row_group_size=max(table.num_rows, 1))


def _grafting() -> Any:
    from dbt_graft.injector.index.graft import IndexGraft, LastRun, graft_index
    from dbt_graft.injector.index.tables import read_index, table_content
    from dbt_graft.lineage.records import Run, Status

    before, after, catalog, replaced = _manifests()
    nodes = {_dataset(n): f"model.shop.model_{n:05}" for n in range(MODELS)}
    runs = {
        node_id: LastRun(Run("1", "task", "spark", AT, AT, Status.OK), 5)
        for node_id in after["nodes"]
        if ".python_tasks." in node_id
    }
    edges = list(_edges())

    def work() -> None:
        index = read_index(BUILD / "target")
        assert index
        graft = IndexGraft(before, after, catalog, replaced, edges, nodes, runs, "Grafted", at=AT)
        tables = graft_index(index, graft)
        out = BUILD / "grafted"
        out.mkdir(exist_ok=True)
        for name, table in {**index.tables, **tables}.items():
            (out / f"{name}.parquet").write_bytes(table_content(table))

    return work


def _dataset(number: int) -> Any:
    from dbt_graft.lineage.dataset import DatasetId

    return DatasetId("spark", f"analytics.model_{number:05}")


def _edges() -> Iterator[Any]:
    from dbt_graft.lineage.records import ColumnEdge, EdgeType, Subtype

    datasets = [_dataset(n) for n in range(MODELS)]
    columns = [f"column_{n}" for n in range(COLUMNS)]
    kinds = (Subtype.IDENTITY, Subtype.TRANSFORMATION, Subtype.FILTER, Subtype.AGGREGATION)
    for n in range(EDGES):
        target = n * MODELS // EDGES
        at = n - target * EDGES // MODELS
        kind = kinds[at % 4]
        yield ColumnEdge(
            *(f"model.shop.model_{target:05}", datasets[target], columns[at % COLUMNS]),
            *(datasets[(target * 7 + at // COLUMNS + 1) % MODELS], columns[(at * 3) % COLUMNS]),
            EdgeType.INDIRECT if kind is Subtype.FILTER else EdgeType.DIRECT,
            *(kind, False, f"shape_{target}"),
        )


def _text(number: int, words: int) -> str:
    """Words in the place of code and of prose: dbt's own take 2 KB of a model's row, and more."""
    draw = random.Random(number)
    return " ".join(draw.choices(_WORDS, k=words))


def _node(kind: str, number: int, package: str = "shop") -> Json:
    name = f"{kind}_{number:05}"
    columns = {
        f"column_{n}": {"name": f"column_{n}", "description": _text(number * 10 + n, 8)}
        for n in range(COLUMNS)
    }
    return {
        "unique_id": f"{'source' if kind == 'source' else 'model'}.{package}.{name}",
        "name": name,
        "resource_type": "source" if kind == "source" else "model",
        "package_name": package,
        "path": f"marts/{name}.sql",
        "original_file_path": f"models/marts/{name}.sql",
        "fqn": [package, "marts", name],
        "schema": "analytics",
        "description": _text(number, 30),
        "tags": ["daily", f"team_{number % 30}"],
        "config": {"materialized": "table", "enabled": True, "tags": ["daily"], "grants": {}},
        "columns": columns,
        "depends_on": {"nodes": []},
    }


def _entry(node: Json) -> Json:
    return {
        "unique_id": node["unique_id"],
        "metadata": {"type": "table", "schema": "analytics", "name": node["name"]},
        "columns": {name: {"type": "bigint", "index": 1, "name": name} for name in node["columns"]},
        "stats": {},
    }


def _manifests() -> tuple[Json, Json, Json, dict[str, str]]:
    """The manifest, the grafted one, the grafted catalog, and what became of sources."""
    nodes = [_node("model", n) for n in range(MODELS)]
    sources = [_node("source", n) for n in range(TASKS)]
    parts: Json = {"exposures": {}, "groups": {}, "docs": {}}
    before: Json = {**parts, "nodes": {node["unique_id"]: node for node in nodes}}
    before["sources"] = {node["unique_id"]: node for node in sources}
    before["parent_map"] = {
        node["unique_id"]: [f"model.shop.model_{(n * 7 + at) % MODELS:05}" for at in range(1, 4)]
        for n, node in enumerate(nodes)
    }
    written = [_node("written", n, "python_tasks") for n in range(TASKS)]
    promoted = TASKS // 2
    replaced = {sources[n]["unique_id"]: written[n]["unique_id"] for n in range(promoted)}
    # As in a graft: every model of dbt says where its columns come from.
    told = {
        key: {**node, "meta": {"graft": {"columns": {}}}} for key, node in before["nodes"].items()
    }
    after: Json = {**parts, "nodes": told | {node["unique_id"]: node for node in written}}
    after["sources"] = {node["unique_id"]: node for node in sources[promoted:]}
    after["parent_map"] = before["parent_map"] | {
        node["unique_id"]: [f"model.shop.model_{n:05}"] for n, node in enumerate(written)
    }
    entries = {key: _entry(node) for key, node in after["nodes"].items()}
    return before, after, {"nodes": entries, "sources": {}}, replaced


def _make(index: Path) -> None:
    """An index with the columns that a graft changes, and text as long as dbt's."""
    from dbt_graft.injector.index.rows import column_rows, node_row

    before, _, catalog, _ = _manifests()
    index.mkdir(parents=True)
    all_nodes = [*before["nodes"].values(), *before["sources"].values()]
    rows = {
        "dbt.nodes": [
            {**node_row(node), "classifiers": []}
            | {"raw_code": _text(number, 250), "compiled_code": _text(number + 1, 350)}
            for number, node in enumerate(all_nodes)
        ],
        "dbt.node_columns": [
            row
            for node in all_nodes
            for row in column_rows(node, catalog["nodes"].get(node["unique_id"]))
        ],
        "dbt.edges": [
            {"parent_unique_id": parent, "child_unique_id": child, "edge_type": "ref"}
            for child, parents in before["parent_map"].items()
            for parent in parents
        ],
        "dbt.generation": [{}],
    }
    lists = dict.fromkeys(("fqn", "tags", "classifiers"), TEXTS)
    for name, listed in rows.items():
        table = pa.Table.from_pylist([{**row, "ingested_at": AT} for row in listed])
        schema = pa.schema(
            pa.field(item.name, lists.get(item.name, _not_null(item.type))) for item in table.schema
        )
        pq.write_table(table.cast(schema), index / f"{name}.parquet", compression="zstd")


def _not_null(kind: pa.DataType) -> pa.DataType:
    return pa.string() if pa.types.is_null(kind) else kind


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(sys.argv[1])
    else:
        sys.exit(main())
