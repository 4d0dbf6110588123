"""The grafted index as files: those that a graft changed, and the others as dbt wrote them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import chain
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from dbt_graft.analysis.history.presence import newest_of
from dbt_graft.injector.index.graft import IndexGraft, LastRun, graft_index
from dbt_graft.injector.index.tables import DbtIndex, table_content
from dbt_graft.injector.report import Grafted
from dbt_graft.lineage.records import Direction, Run
from dbt_graft.lineage.redaction import redact_code, redact_json

# Tables that dbt's page does not show, with values of data and of variables; of what dbt knows of
# its runs it shows their results.
_UNPUBLISHED = frozenset(
    ("dbt.project_vars", "dbt.project_env_vars", "dbt.sample_data", "dbt.column_stats")
)
_RUNS, _RESULTS = "dbt_rt.", "dbt_rt.run_results"


def index_files(index: DbtIndex, grafted: Grafted) -> dict[str, bytes]:
    """Name -> content of each file of the grafted index; the same inputs give the same bytes."""
    files = {path.name: path.read_bytes() for path in sorted(index.folder.glob("*.parquet"))}
    tables = _grafted_tables(index, grafted, grafted.manifest)
    files |= {f"{name}.parquet": table_content(table) for name, table in sorted(tables.items())}
    views = index.folder / "views.sql"
    return files | ({views.name: views.read_bytes()} if views.is_file() else {})


def published_files(
    index: DbtIndex, grafted: Grafted, manifest: Mapping[str, Any], head: str
) -> dict[str, bytes]:
    """The files of the grafted index for a site: what dbt's page shows, without secrets.

    Args:
        manifest: The grafted manifest, with links to the site.
        head: Markdown with which the page's first text begins.
    """
    changed = _grafted_tables(index, grafted, manifest, head)
    files = {}
    for name in sorted({*index.tables, *index.others, *changed} - _UNPUBLISHED):
        if name == _RESULTS or not name.startswith(_RUNS):
            table = changed[name] if name in changed else index.table(name)
            files[f"{name}.parquet"] = table_content(redact_table(table))
    return files


def redact_table(table: pa.Table) -> pa.Table:
    """The same table without passwords and keys in its texts."""
    for position, item in enumerate(table.schema):
        column = table.column(position)
        if pa.types.is_list(item.type):
            values: Any = pc.list_flatten(column)
        else:
            values = column
        if not pa.types.is_string(values.type):
            continue
        texts = values.unique().to_pylist()
        redacted = {text: _redact(text, item.name) for text in texts if text is not None}
        if all(text == value for text, value in redacted.items()):
            continue
        rows = [
            [redacted.get(text) for text in value]
            if isinstance(value, list)
            else redacted.get(value)
            for value in column.to_pylist()
        ]
        table = table.set_column(position, item, pa.array(rows, item.type))
    return table


def _redact(text: str, column: str) -> str:
    """A text, or a value in JSON, without secrets; the same object if it has none."""
    try:
        value = orjson.loads(text) if text.startswith(("{", "[", '"')) else None
    except orjson.JSONDecodeError:
        value = None
    if value is None:
        return str(redact_json(text, column))
    # dbt encodes some values twice.
    redacted = _redact(value, column) if isinstance(value, str) else redact_json(value, column)
    return redact_code(text if redacted == value else orjson.dumps(redacted).decode())


def _grafted_tables(
    index: DbtIndex, grafted: Grafted, manifest: Mapping[str, Any], head: str = ""
) -> dict[str, pa.Table]:
    """The tables that a graft changes, by name."""
    report, touched = grafted.report, grafted.touched
    runs = dict(_last_runs(grafted))
    newest = newest_of(run.started_at for task in touched.tasks.values() for run in task.runs)
    graft = IndexGraft(
        before=grafted.before,
        after=manifest,
        catalog=grafted.catalog,
        replaced=grafted.redirects,
        edges=chain(*grafted.followed.edges.values(), touched.column_edges),
        nodes={dataset: text.node_id for dataset, text in grafted.descriptions.items()},
        runs=runs,
        overview=_overview(len(report.promoted), len(report.added), len(touched.tasks), newest),
        head=head,
        at=newest,
    )
    return graft_index(index, graft)


def _last_runs(grafted: Grafted) -> Iterator[tuple[str, LastRun]]:
    """The newest run of the tasks behind each node of ours, and the rows that it wrote."""
    for built in (*grafted.report.promoted, *grafted.report.added):
        tasks = [task for name in built.tasks if (task := grafted.touched.tasks.get(name))]
        writes = [(task, task.usages_of(built.dataset, Direction.WRITE)) for task in tasks]
        runs = [run for task, usages in writes for run in task.runs_of(*usages)]
        written = [
            usage.rows
            for _, usages in writes
            for usage in usages
            if usage.rows is not None and not usage.repeats
        ]
        if runs:
            yield built.node_id, LastRun(max(runs, key=_start), sum(written) if written else None)


def _start(run: Run) -> datetime:
    return run.started_at or datetime.min.replace(tzinfo=UTC)


def _overview(promoted: int, added: int, tasks: int, newest: datetime | None) -> str:
    until = f", as of {newest:%d %b %Y, %H:%M} UTC" if newest else ""
    return (
        "### Python tasks in this project\n\n"
        f"dbt-graft added what {tasks:,} tasks read and wrote by the logs of their engines, or as "
        f"it is declared{until}: {promoted:,} sources became models, because tasks write them, and "
        f"{added:,} models are new. They stand in the package `python_tasks`, with the tag "
        "`python_task`.\n"
    )
