"""What the page of a task or a consumer shows."""

from __future__ import annotations

from dbt_graft.catalog.dataset_page import shapes
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.neighbourhood import around_task
from dbt_graft.catalog.page import Page, prose
from dbt_graft.catalog.picture import picture, run_bars
from dbt_graft.lineage.graph import Graph
from dbt_graft.lineage.records import Direction
from dbt_graft.lineage.urls import task_path


def task_page(index: Index, name: str, order: Graph[str]) -> Page:
    """The page of a task, of a consumer, or of what is both.

    Args:
        order: Which task feeds which (`Lineage.task_graph`).
    """
    task, consumer = index.tasks.get(name), index.consumers.get(name)
    path = task_path(name)
    root = "../" * path.count("/")
    usages = task.usages if task else ()
    text = (task.info.description if task else "") or (consumer.text if consumer else "")
    return Page(
        path=path,
        template="task",
        title=name,
        searched=True,
        sidebars=("toc",),
        context={
            "name": name,
            "task": task,
            "consumer": consumer,
            "text": prose(text, root, has_dbt_docs=index.has_dbt_docs),
            "owner": index.task_owner(name),
            "tags": index.task_tags(name),
            "dbt_link": index.dbt_link(consumer.node_id) if consumer else "",
            "picture": picture(around_task(index, name), root),
            "reads": [usage for usage in usages if usage.direction is Direction.READ],
            "also_reads": [] if task or not consumer else sorted(set(consumer.reads)),
            "writes": [usage for usage in usages if usage.direction is Direction.WRITE],
            "before": [other for other in order.parents(name) if other in index.tasks],
            "after": [other for other in order.children(name) if other in index.tasks],
            "runs": task.runs if task else (),
            "bars": run_bars(task.runs if task else ()),
            "shapes": shapes(index, usages),
        },
    )
