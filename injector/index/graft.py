"""The grafted index: what a graft made of the manifest and the catalog, in the tables of dbt 2.

Every rule of the graft is in `injector.graft`. Here the difference between dbt's manifest and the
grafted one is written into the index, and nothing that dbt wrote of its own nodes is another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from dbt_graft.injector.index.column_lineage import NodeColumns, edge_rows
from dbt_graft.injector.index.rows import (
    catalog_rows,
    changed_values,
    column_rows,
    column_texts,
    entry_row,
    exposure_row,
    group_row,
    node_row,
    test_row,
)
from dbt_graft.injector.index.tables import PROJECT, DbtIndex, Edit, Row, edit_table
from dbt_graft.injector.manifest import all_nodes
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import ColumnEdge, Run, Status

Document = Mapping[str, Any]
_NODES = ("nodes", "sources")
_OF_DBT = "doc.dbt.__overview__"  # which dbt's page has in its own words
# Parts of the manifest to which a graft adds nothing, and their tables.
_OTHERS = {
    "macros": "dbt.macros",
    "metrics": "dbt.metrics",
    "semantic_models": "dbt.semantic_models",
    "saved_queries": "dbt.saved_queries",
    "unit_tests": "dbt.unit_tests",
}
# A time, which new rows must have, where neither dbt nor a run has any.
_UNKNOWN = datetime.fromtimestamp(0, UTC)
_STATUS = {Status.OK: "success", Status.FAILED: "error"}


@frozen
class LastRun:
    """The newest run behind a node of ours, and the rows that it wrote."""

    run: Run
    rows: int | None = None


@frozen
class IndexGraft:
    """The parts of a graft onto an index.

    Attributes:
        before, after: The manifest as dbt wrote it, and the grafted one.
        catalog: The grafted catalog.
        replaced: Source -> the model that it became.
        edges: All column edges, of dbt's models and of tasks.
        nodes: Dataset -> the id of its node.
        runs: Node -> its last run.
        overview: What the start page says of the graft where the project has none; may be empty.
        head: What the start page begins with; may be empty.
        at: When the lineage ends; None where no run has a time.
    """

    before: Document
    after: Document
    catalog: Document
    replaced: Mapping[str, str]
    edges: Iterable[ColumnEdge]
    nodes: Mapping[DatasetId, str]
    runs: Mapping[str, LastRun]
    overview: str = ""
    head: str = ""
    at: datetime | None = None


# The statistics that dbt's lists read -> the same in the catalog.
_SAME_STATS = {"row_count": "graft_rows_written", "last_modified": "graft_last_run"}


def graft_index(index: DbtIndex, graft: IndexGraft) -> dict[str, pa.Table]:
    """The tables that are other than in the index, by name."""
    at = index.ingested_at or graft.at or _UNKNOWN
    added = [
        node
        for part in _NODES
        for node_id, node in graft.after[part].items()
        if node_id not in graft.before[part]
    ]
    entries = {**graft.catalog["sources"], **graft.catalog["nodes"]}
    ours = [entries[node["unique_id"]] for node in added if node["unique_id"] in entries]
    described = list(map(catalog_rows, ours))
    page_stats = list(_page_stats(graft))
    repeated = {(stat["unique_id"], _SAME_STATS[stat["stat_id"]]) for stat in page_stats}
    stats = (
        stat
        for _, entry_stats in described
        for stat in entry_stats
        if (stat["unique_id"], stat["stat_id"]) not in repeated
    )
    listed = _listed(index, graft)
    columns = _columns(index, graft, added, entries, listed)
    edges = edge_rows(graft.edges, graft.nodes, listed, _answered(index, graft))
    unlisted = [
        {"unique_id": node_id, "column_name": column, "column_index": position}
        for node_id, column, position in edges.unlisted
    ]
    renamed = _renamed(
        index, graft, "dbt.column_lineage", ("from_node_unique_id", "to_node_unique_id")
    )
    edits = {
        "dbt.nodes": _nodes(index, graft, added),
        "dbt.edges": _edges(index, graft),
        "dbt.node_columns": replace(columns, added=[*columns.added, *unlisted]),
        "dbt.exposures": _exposures(index, graft),
        "dbt.groups": Edit(added=_new_entries(index, graft, "dbt.groups", "groups", group_row)),
        "dbt.test_metadata": Edit(
            changes=_renamed(index, graft, "dbt.test_metadata") | dict(_attached(index, graft)),
            added=[test_row(node) for node in added if node.get("test_metadata")],
        ),
        "dbt.docs": _docs(index, graft),
        **{
            name: Edit(added=_new_entries(index, graft, name, part, entry_row))
            for part, name in _OTHERS.items()
        },
        "dbt.catalog_tables": Edit(
            _remaining(index, graft, "dbt.catalog_tables"), {}, [table for table, _ in described]
        ),
        "dbt.catalog_stats": Edit(
            _remaining(index, graft, "dbt.catalog_stats"), {}, [*stats, *page_stats]
        ),
        "dbt.column_lineage": Edit(changes=renamed, columns=edges.columns),
        "dbt_rt.run_results": Edit(added=list(_run_results(graft))),
        "dbt_rt.invocations": Edit(added=list(_invocations(graft))),
        **{name: Edit(changes=_stamp(index, graft, name)) for name in PROJECT},
    }
    tables = {}
    for name, edit in edits.items():
        table = edit_table(index.tables.get(name), name, edit, at)
        if table is not None:
            tables[name] = table
    return tables


def _stamp(index: DbtIndex, graft: IndexGraft, name: str) -> dict[int, Row]:
    """The time at which the page calls its data made: that of the newest run, if it is later."""
    return {
        number: {"ingested_at": graft.at}
        for number, at in enumerate(index.column(name, "ingested_at"))
        if graft.at and at and graft.at > at
    }


def _remaining(index: DbtIndex, graft: IndexGraft, name: str) -> list[bool] | None:
    """Whether each row of a table is of no source that became a model."""
    if not graft.replaced or name not in index.tables:
        return None
    return [node_id not in graft.replaced for node_id in index.column(name, "unique_id")]


def _renamed(
    index: DbtIndex, graft: IndexGraft, name: str, columns: Iterable[str] = ("attached_node",)
) -> dict[int, Row]:
    """The rows that name a source which became a model, with the model's id."""
    changes: dict[int, Row] = {}
    for column in columns if graft.replaced else ():
        for number, node_id in enumerate(index.column(name, column)):
            if model := graft.replaced.get(node_id):
                changes.setdefault(number, {})[column] = model
    return changes


def _attached(index: DbtIndex, graft: IndexGraft) -> Iterator[tuple[int, Row]]:
    """Tests whose node dbt does not name, as it names none that is a source: that of the graft."""
    columns = (index.column("dbt.test_metadata", key) for key in ("unique_id", "attached_node"))
    before, after = graft.before["nodes"], graft.after["nodes"]
    for number, (node_id, attached) in enumerate(zip(*columns, strict=True)):
        if not attached and after.get(node_id) is not before.get(node_id):
            yield number, {"attached_node": after[node_id].get("attached_node")}


def _nodes(index: DbtIndex, graft: IndexGraft, added: Iterable[Document]) -> Edit:
    before, after = all_nodes(graft.before), all_nodes(graft.after)
    changes: dict[int, Row] = {}
    for number, node_id in enumerate(index.column("dbt.nodes", "unique_id")):
        old, new = before.get(node_id), after.get(node_id)
        if old is not None and new is not None and old is not new:
            changes[number] = changed_values(old, new)
    return Edit(_remaining(index, graft, "dbt.nodes"), changes, list(map(node_row, added)))


def _edges(index: DbtIndex, graft: IndexGraft) -> Edit:
    """dbt's edges, those of replaced sources at the model, and the new ones."""
    ends = ("parent_unique_id", "child_unique_id")
    changes = _renamed(index, graft, "dbt.edges", ends)
    seen: set[tuple[str, str]] = set()
    keep = []
    pairs = zip(*(index.column("dbt.edges", column) for column in ends), strict=True)
    for number, pair in enumerate(pairs):
        row = changes.get(number, {})
        edge = (row.get(ends[0], pair[0]), row.get(ends[1], pair[1]))
        keep.append(edge not in seen)
        seen.add(edge)
    before: Mapping[str, Iterable[str]] = graft.before["parent_map"]
    added = []
    for child, parents in graft.after["parent_map"].items():
        old = before.get(child, ())
        if old is parents:
            continue
        known = {graft.replaced.get(parent, parent) for parent in old}
        added += [
            {ends[0]: parent, ends[1]: child, "edge_type": "ref"}
            for parent in sorted(set(parents) - known)
            if (parent, child) not in seen
        ]
    return Edit(keep, changes, added)


def _columns(
    index: DbtIndex,
    graft: IndexGraft,
    added: Iterable[Document],
    entries: Document,
    listed: Mapping[str, NodeColumns],
) -> Edit:
    """The columns of our nodes, and those of dbt's that only the catalog or YAML has.

    Args:
        listed: Node -> the columns that the index has; it gets all of them.
    """
    name = "dbt.node_columns"
    changed = dict(_changed_columns(graft))
    changes: dict[int, Row] = {}
    columns = (index.column(name, key) for key in ("unique_id", "column_name", "catalog_type"))
    for number, (node_id, column, known_type) in enumerate(zip(*columns, strict=True)):
        row = changed[node_id].get(_key(column), {}) if node_id in changed else {}
        if not known_type and (kind := _type(entries.get(node_id), column)):
            row = {**row, "catalog_type": kind, "data_type": kind}
        if row:
            changes[number] = row
    rows = []
    for node in (*added, *(node for part in _NODES for node in graft.after[part].values())):
        entry, known = entries.get(node["unique_id"]) or {}, listed[node["unique_id"]]
        names = {**(entry.get("columns") or {}), **(node.get("columns") or {})}
        if not names.keys() <= known.keys():
            rows += [row for row in column_rows(node, entry) if known.add(row["column_name"])]
    return Edit(_remaining(index, graft, name), changes, rows)


def _listed(index: DbtIndex, graft: IndexGraft) -> dict[str, NodeColumns]:
    """Node -> its columns in the index."""
    names: dict[str, list[str]] = {node_id: [] for part in _NODES for node_id in graft.after[part]}
    columns = (index.column("dbt.node_columns", key) for key in ("unique_id", "column_name"))
    for node_id, column in zip(*columns, strict=True):
        if node_id in names:
            names[node_id].append(column)
    return {node_id: NodeColumns(listed) for node_id, listed in names.items()}


def _type(entry: Document | None, column: str) -> str | None:
    """The type of a column in the catalog."""
    columns = (entry or {}).get("columns") or {}
    entries = (value for name, value in columns.items() if _key(name) == _key(column))
    found: Row = columns.get(column) or next(entries, {})
    return found.get("type") or None


def _changed_columns(graft: IndexGraft) -> Iterator[tuple[str, dict[str, Row]]]:
    """Node of dbt -> texts of its columns that the graft changed."""
    before = all_nodes(graft.before)
    for node_id, node in all_nodes(graft.after).items():
        new, old = node.get("columns") or {}, (before.get(node_id) or {}).get("columns") or {}
        if new is not old and node_id in before:
            yield (
                node_id,
                {
                    _key(name): column_texts(column)
                    for name, column in new.items()
                    if column is not old.get(name)
                },
            )


def _key(column: Any) -> str:
    return str(column).casefold()


def _exposures(index: DbtIndex, graft: IndexGraft) -> Edit:
    changes: dict[int, Row] = {}
    for number, row in enumerate(index.rows("dbt.exposures") if graft.replaced else ()):
        above = row.get("depends_on_nodes") or []
        renamed = [graft.replaced.get(node_id, node_id) for node_id in above]
        if renamed != above:
            changes[number] = {"depends_on_nodes": renamed}
    new = _new_entries(index, graft, "dbt.exposures", "exposures", exposure_row)
    return Edit(None, changes, new)


def _new_entries(
    index: DbtIndex, graft: IndexGraft, name: str, part: str, make_row: Callable[[Document], Row]
) -> list[Row]:
    """The rows of what the graft added to a part of the manifest."""
    known = {*index.column(name, "unique_id"), *(graft.before.get(part) or {})}
    entries = graft.after.get(part) or {}
    return [make_row(entry) for key, entry in entries.items() if key not in known]


def _docs(index: DbtIndex, graft: IndexGraft) -> Edit:
    """The start page: the project's own, or ours; dbt's page prefers both to the one of dbt."""
    name = "dbt.docs"
    new = [
        row
        for row in _new_entries(index, graft, name, "docs", entry_row)
        if row["unique_id"] != _OF_DBT
    ]
    own = {number: row for number, row in enumerate(index.rows(name)) if _is_overview(row)}
    changes = {number: {"block_contents": _with_head(graft, row)} for number, row in own.items()}
    added = [
        {**row, "block_contents": _with_head(graft, row)} if _is_overview(row) else row
        for row in new
    ]
    if not own and not any(map(_is_overview, new)) and (graft.head or graft.overview):
        overview = {"block_contents": graft.overview}
        added.append(
            {
                "unique_id": "doc.python_tasks.__overview__",
                "name": "__overview__",
                "package_name": "python_tasks",
                "block_contents": _with_head(graft, overview),
            }
        )
    return Edit(None, changes if graft.head else {}, added)


def _is_overview(row: Row) -> bool:
    return bool(row["name"] == "__overview__" and row["unique_id"] != _OF_DBT)


def _with_head(graft: IndexGraft, row: Row) -> str:
    return "\n\n".join(filter(None, (graft.head, row.get("block_contents"))))


def _page_stats(graft: IndexGraft) -> Iterator[Row]:
    """Rows and the last write of our nodes, under the ids that dbt's lists read."""
    for node_id, last in sorted(graft.runs.items()):
        if last.rows is not None:
            yield _stat(node_id, "row_count", "Rows written", str(last.rows))
        if at := last.run.ended_at or last.run.started_at:
            yield _stat(node_id, "last_modified", "Last run", at.isoformat())


def _stat(node_id: str, stat_id: str, label: str, value: str) -> Row:
    return {
        "unique_id": node_id,
        "stat_id": stat_id,
        "stat_label": label,
        "stat_value": value,
        "description": "From the log of the newest run",
        "include_in_stats": True,
    }


def _run_results(graft: IndexGraft) -> Iterator[Row]:
    nodes = graft.after["nodes"]
    for node_id, last in sorted(graft.runs.items()):
        run = last.run
        yield {
            "unique_id": node_id,
            "invocation_id": run.run_id,
            "status": _STATUS.get(run.status, str(run.status.value)),
            "execution_time": _seconds(run),
            "message": run.error,
            "relation_name": nodes[node_id].get("relation_name") if node_id in nodes else None,
            "rows_affected": last.rows,
            "created_at": run.ended_at or run.started_at,
        }


def _invocations(graft: IndexGraft) -> Iterator[Row]:
    """The runs behind the results, each once: views of dbt join the two."""
    runs = {last.run.run_id: last.run for last in graft.runs.values()}
    for run_id, run in sorted(runs.items()):
        yield {
            "invocation_id": run_id,
            "command": run.task,
            "generated_at": run.ended_at or run.started_at,
            "elapsed_time": _seconds(run),
            "target_type": run.engine,
        }


def _seconds(run: Run) -> float | None:
    if not (run.ended_at and run.started_at):
        return None
    return (run.ended_at - run.started_at).total_seconds()


def _answered(index: DbtIndex, graft: IndexGraft) -> Iterator[tuple[str, str]]:
    """The columns of which dbt itself says where they come from."""
    ends = ("to_node_unique_id", "to_column_name")
    columns = (index.column("dbt.column_lineage", end) for end in ends)
    for node_id, column in zip(*columns, strict=True):
        yield graft.replaced.get(node_id, node_id), column
