"""Reasons why nothing is known of a column's upstream or downstream, and the next step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dbt_graft.graft.questions.show.column_tree import ColumnView
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.graphs.column_path import ColumnId
from dbt_graft.lineage.records import Outcome


def reasons(view: ColumnView, column: ColumnId, *, upstream: bool) -> Iterator[str]:
    """Yield the reasons why a column has no edge in a direction; at least one."""
    graph, lineage, dataset = view.graph, view.lineage, column.dataset
    name = view.dataset(dataset)
    into, out = graph.unmatched(dataset)
    for edge in into if upstream else out:
        far = edge.from_dataset if upstream else edge.to_dataset
        verb = "come from" if upstream else "go into"
        yield (
            f"columns of {name} {verb} {view.dataset(far)} by {view.maker(edge.task)}; "
            "it is not known which"
        )
    flows = [f for f in lineage.flows if (f.target if upstream else f.source) == dataset]
    if not flows:
        verb = "writes it from another dataset" if upstream else "takes data from it"
        yield (f"nothing that was read {verb}: `graft explain {name}` lists what is known")
        return
    steps = [
        step
        for table_column in graph.columns(dataset)
        for step in (graph.parents(table_column) if upstream else graph.children(table_column))
    ]
    with_columns = {step.source.dataset if upstream else step.target.dataset for step in steps}
    gaps = list(dict.fromkeys(_gaps(view, flows)))
    yield from gaps
    if with_columns and not gaps:
        yield (
            "no other column's value goes into it: a constant, a count or a new value"
            if upstream
            else "no statement that was read passes its values on"
        )
    elif not gaps:
        yield (
            "its tables are connected, but no statement that was read shows their columns: "
            f"`graft explain {name}` lists the statements"
        )


def _gaps(view: ColumnView, flows: Iterable[Flow]) -> Iterator[str]:
    for flow in flows:
        name = view.maker(flow.task)
        definition = view.lineage.definitions.get(flow.task)
        if definition and definition.gap:
            yield f"columns of {name} could not all be followed: {definition.gap}"
        if flow.through_memory:
            yield f"{name} carries the data in its memory: no log shows what it does to columns"
        for shape in map(view.lineage.shapes.get, flow.shapes):
            if shape and shape.outcome is not Outcome.PARSED:
                yield (
                    f"a statement of {name} was not parsed, or only in part: "
                    f"{shape.reason or shape.outcome}"
                )
