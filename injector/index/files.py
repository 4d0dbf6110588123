"""The grafted index as files: those that a graft changed, and the others as dbt wrote them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from io import BytesIO
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dbt_graft.injector.index.graft import IndexGraft, LastRun, graft_index
from dbt_graft.injector.index.tables import Index
from dbt_graft.injector.report import Grafted
from dbt_graft.lineage.records import Direction, Run


def index_files(
    index: Index,
    before: Mapping[str, Any],
    grafted: Grafted,
    after: Mapping[str, Any] | None = None,
) -> dict[str, bytes]:
    """Name -> content of each file of the grafted index; the same inputs give the same bytes.

    Args:
        before: The manifest as dbt wrote it.
        after: The grafted manifest, if it is another than that of the graft.
    """
    report, touched = grafted.report, grafted.touched
    runs = dict(_last_runs(grafted))
    starts = (run.started_at for task in touched.tasks.values() for run in task.runs)
    newest = max((at for at in starts if at), default=None)
    graft = IndexGraft(
        before=before,
        after=after or grafted.manifest,
        catalog=grafted.catalog,
        replaced=grafted.redirects,
        edges=chain(*grafted.followed.edges.values(), touched.column_edges),
        nodes={dataset: text.node_id for dataset, text in grafted.descriptions.items()},
        runs=runs,
        overview=_overview(len(report.promoted), len(report.added), len(touched.tasks), newest),
        at=newest,
    )
    tables = graft_index(index, graft)
    files = {path.name: path.read_bytes() for path in sorted(index.folder.glob("*.parquet"))}
    files |= {f"{name}.parquet": _content(table) for name, table in sorted(tables.items())}
    views = index.folder / "views.sql"
    return files | ({views.name: views.read_bytes()} if views.is_file() else {})


def _content(table: pa.Table) -> bytes:
    """A table as dbt writes it: ZSTD, one row group."""
    content = BytesIO()
    pq.write_table(table, content, compression="zstd", row_group_size=max(table.num_rows, 1))
    return content.getvalue()


def _last_runs(grafted: Grafted) -> Iterator[tuple[str, LastRun]]:
    """The newest run of the tasks behind each node of ours, and the rows that it wrote."""
    for built in (*grafted.report.promoted, *grafted.report.added):
        tasks = [grafted.touched.tasks[name] for name in built.tasks]
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
        f"dbt-graft added what {tasks:,} Python tasks read and wrote by the logs of their "
        f"engines{until}: {promoted:,} sources became models, because tasks write them, and "
        f"{added:,} models are new. They stand in the package `python_tasks`, with the tag "
        "`python_task`.\n"
    )
