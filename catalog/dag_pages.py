"""The page of a DAG with its runs, each with its tasks, and the list of all DAGs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from dbt_graft.analysis.history.dag_runs import DagRun
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.late_notes import LateNote
from dbt_graft.catalog.page import MAX_ROWS, Page
from dbt_graft.catalog.run_history import SHOWN
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Status
from dbt_graft.lineage.urls import dag_path


@frozen(kw_only=True)
class DagPage(Page):
    """The context of `dag.html.j2`.

    Attributes:
        runs: The newest, newest first; `omitted` older ones are not shown.
        late: What the tasks of the newest run should have written.
    """

    template: ClassVar[str] = "dag"
    sidebars: ClassVar[tuple[str, ...]] = ("toc",)

    index: Index
    runs: Sequence[DagRun]
    omitted: int
    late: Sequence[LateNote]


@frozen(kw_only=True)
class DagListPage(Page):
    """The context of `dags.html.j2`: the newest run of each DAG, failed ones first."""

    template: ClassVar[str] = "dags"

    runs: Sequence[DagRun]
    omitted: int


def dag_pages(index: Index) -> list[Page]:
    """The pages of all DAGs, and the list of them; none where no event shows a DAG."""
    if not index.dags:
        return []
    newest = sorted(
        (runs[0] for runs in index.dags.values()),
        key=lambda run: (run.status is not Status.FAILED, run.dag),
    )
    shown = newest[:MAX_ROWS]
    return [
        DagListPage(path="dags/", title="DAGs", runs=shown, omitted=len(newest) - len(shown)),
        *(_dag_page(index, dag, runs) for dag, runs in index.dags.items()),
    ]


def _dag_page(index: Index, dag: str, runs: Sequence[DagRun]) -> DagPage:
    newest = runs[0]
    tasks = {run.task for run in newest.tries.values()} if newest.status is Status.FAILED else ()
    return DagPage(
        path=dag_path(dag),
        title=dag,
        index=index,
        runs=runs[:SHOWN],
        omitted=len(runs) - len(runs[:SHOWN]),
        late=[note for notes in index.late.values() for note in notes if note.task in tasks],
    )
