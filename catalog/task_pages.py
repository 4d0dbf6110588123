"""The pages of tasks, consumers and DAGs, and the lists of all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from markupsafe import Markup

from dbt_graft.analysis.history.dag_runs import DagRun
from dbt_graft.analysis.quality.words import forecast_text
from dbt_graft.catalog.badges import HealthBadge, task_badges
from dbt_graft.catalog.columns import WrittenColumns, written_columns
from dbt_graft.catalog.dataset_writes import statements
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.late_notes import LateNote
from dbt_graft.catalog.markup import prose
from dbt_graft.catalog.neighbourhood import around_task
from dbt_graft.catalog.page import MAX_ROWS, Page, path_to_root
from dbt_graft.catalog.picture import picture
from dbt_graft.catalog.picture_columns import picture_columns
from dbt_graft.catalog.rows import Rows, TaskRow
from dbt_graft.catalog.run_history import SHOWN, RunHistory, task_history
from dbt_graft.lineage.code import CodeMatch
from dbt_graft.lineage.code_lines import CodeLine, code_gaps
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.gaps import Gap, gaps, gaps_of_task
from dbt_graft.lineage.graph import Graph
from dbt_graft.lineage.model import Task
from dbt_graft.lineage.records import Direction, Run, Shape, Status
from dbt_graft.lineage.urls import dag_path, task_path
from dbt_graft.lineage.usage import Usage


@frozen(kw_only=True)
class TaskPage(Page):
    """The context of `task.html.j2`; `task`, `consumer` or both are set.

    Attributes:
        text: The description as HTML.
        dbt_link: The exposure's focused graph in dbt docs, relative to the site's root, or empty.
        badges: What is wrong with it, the worst first.
        picture: SVG, or empty.
        consumer_reads: The datasets of a consumer that is no task.
        upstream_tasks: Tasks that write what this one reads.
        downstream_tasks: Tasks that read what this one writes.
        columns: The columns that it writes, by dataset.
        code: Its code, and how far that agrees with its logs; None where it is not known.
        code_gaps: The lines that could not be followed, and why.
        runs: Newest first.
        history: The runs as the page shows them.
        late: What the newest run should have written.
        may_touch_more: It may read or write more than is known.
        gaps: What parsing left out of its statements, by reason.
        rejects: Reason -> number of rejected records in the logs of its runs.
        forecasts: Of its deadline and its SLO, in words.
    """

    template: ClassVar[str] = "task"
    sidebars: ClassVar[tuple[str, ...]] = ("toc",)

    index: Index
    task: Task | None
    consumer: Consumer | None
    text: Markup
    owner: str
    tags: Sequence[str]
    dbt_link: str
    badges: Sequence[HealthBadge]
    picture: Markup
    reads: Sequence[Usage]
    consumer_reads: Sequence[DatasetId]
    writes: Sequence[Usage]
    upstream_tasks: Sequence[str]
    downstream_tasks: Sequence[str]
    columns: Sequence[WrittenColumns]
    code: CodeMatch | None
    code_gaps: Sequence[tuple[CodeLine, str]]
    runs: Sequence[Run]
    history: RunHistory
    late: Sequence[LateNote]
    statements: Sequence[Shape]
    may_touch_more: bool
    gaps: Sequence[Gap]
    rejects: Mapping[str, int]
    forecasts: Sequence[str]


@frozen(kw_only=True)
class TaskListPage(Page):
    """The context of `tasks.html.j2`; `rows` are those of tasks and consumers."""

    template: ClassVar[str] = "tasks"

    index: Index
    rows: Sequence[TaskRow]


def task_page(index: Index, name: str, order: Graph[str]) -> TaskPage:
    """The page of a task, of a consumer, or of a task that dbt knows as an exposure.

    Args:
        order: Which task feeds which (`Lineage.task_graph`).
    """
    task, consumer = index.tasks.get(name), index.consumers.get(name)
    path = task_path(name)
    root = path_to_root(path)
    around = around_task(index, name)
    usages = task.usages if task else ()
    writes = [usage for usage in usages if usage.direction is Direction.WRITE]
    shown = statements(index, (*usages, task) if task else ())
    text = (task.info.description if task else "") or (consumer.text if consumer else "")
    return TaskPage(
        path=path,
        title=name,
        index=index,
        task=task,
        consumer=consumer,
        text=prose(text, root, index.dbt_docs),
        owner=index.task_owner(name),
        tags=index.task_tags(name),
        dbt_link=index.dbt_link(consumer.node_id) if consumer else "",
        badges=task_badges(index, name),
        picture=picture(around, root, picture_columns(index, around)),
        reads=[u for u in usages if u.direction is Direction.READ and not u.repeats],
        consumer_reads=sorted(set(consumer.reads)) if consumer and not task else [],
        writes=[usage for usage in writes if not usage.repeats],
        upstream_tasks=[parent for parent in order.parents(name) if parent in index.tasks],
        downstream_tasks=[child for child in order.children(name) if child in index.tasks],
        columns=written_columns(index, index.columns_by.get(name, ())),
        code=index.lineage.codes.get(name),
        code_gaps=code_gaps(index.lineage, name),
        runs=task.runs if task else (),
        history=index.run_dates.of_runs(
            task_history(index.lineage, task, writes, index.days.tasks.get(name, ())), name
        )
        if task
        else RunHistory(),
        late=[note for notes in index.late.values() for note in notes if note.task == name],
        statements=shown,
        may_touch_more=name in index.open_tasks,
        gaps=gaps(gaps_of_task(index.lineage, name)),
        rejects=index.rejects_of.get(name, {}),
        forecasts=[
            forecast_text(forecast, index.lineage.writer_names())
            for forecast in index.forecasts.get(name, ())
        ],
    )


def task_list_page(index: Index, rows: Rows) -> TaskListPage:
    """The list of all tasks and consumers."""
    listed = rows.tasks(index.task_names())
    return TaskListPage(path="tasks/", title="Tasks", index=index, rows=listed)


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
