"""Columns: all that one comes from and feeds, the paths between two, and those of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dbt_graft.analysis.answer import Answer, Cell, Table, Tree
from dbt_graft.analysis.render.phrases import count, join_names
from dbt_graft.graft.questions.show.facts import plain, plain_facts, readers_json, readers_text
from dbt_graft.graft.questions.show.trees import SIDES, Steps
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.gaps import followed_shapes
from dbt_graft.lineage.graphs.column_path import ColumnId, ColumnPaths, ColumnStep, Effect
from dbt_graft.lineage.records import ColumnEdge, Outcome

_SHOWN, _PATHS, _TEXT = 8, 1_000, 60


def column_answer(steps: Steps, column: ColumnId) -> Answer:
    """All that a column comes from and feeds, and the ends of its line."""
    graph, way = steps.described.column_graph, steps.way
    about = _facts(steps, column.dataset, [column])[column]
    data: dict[str, Any] = {"thing": "column", **_column(column), **about}
    is_gone = about["is_gone"]
    facts = plain_facts({name: value for name, value in about.items() if name != "is_gone"})
    notes = ["the table was made anew without it; its history names it"] if is_gone else []
    for upstream in way.sides:
        ask = graph.upstream if upstream else graph.downstream
        reached = ask(column, way.depth, indirect=way.indirect)
        data[SIDES[upstream]] = [
            {**_column(far), "depth": depth, **_effect(effect)} for far, depth, effect in reached
        ]
        if not reached:
            why = list(_reasons(steps, column, upstream=upstream))
            data.setdefault("reasons", []).extend(why)
            notes += [f"nothing {SIDES[upstream]}: {reason}" for reason in why]
    if False in way.sides:
        ends = graph.ends(column, indirect=way.indirect)
        consumers = graph.consumers(column, indirect=way.indirect)
        data["ends"] = [*map(_column, ends)]
        data["consumers"] = readers_json(consumers)
        facts |= _end_facts(steps, column, ends, consumers)
    trees = steps.trees(column, steps.of_column)
    kind = "column that is gone" if is_gone else "column"
    return Answer(str(column), kind, facts, trees, notes, question="show", data=data)


def paths_answer(steps: Steps, start: ColumnId, end: ColumnId) -> Answer:
    """The paths from a column to another, or back where there is none, the shortest first."""
    search = ColumnPaths((), True)
    for ends in ((start, end), (end, start)):
        search = steps.described.column_graph.paths(*ends, _PATHS, indirect=steps.way.indirect)
        if search.paths:
            start, end = ends
            break
    paths, notes = search.paths, []
    if not paths and not steps.way.indirect:
        notes = ["--indirect also follows what decides on values and rows"]
    trees = [
        Tree(
            count(len(path.steps), "step"),
            [
                Tree(steps.column(path.steps[0].source)),
                *(Tree(f"→ {steps.column(s.target)}  {steps.change(s.edges)}") for s in path.steps),
            ],
        )
        for path in paths
    ]
    number = f"{'' if search.is_complete else 'the shortest '}{count(len(paths), 'path')}"
    return Answer(
        f"{start} to {end}",
        number if paths else "no path",
        tables=[Tree("paths", trees)] if trees else [],
        notes=notes,
        question="show",
        data={
            "thing": "paths",
            "from": _column(start),
            "to": _column(end),
            "is_complete": search.is_complete,
            "paths": [
                {**_effect(path.effect), "steps": [*map(_step, path.steps)]} for path in paths
            ],
        },
    )


def column_rows(steps: Steps, dataset: DatasetId) -> list[dict[str, Any]]:
    """The columns of a dataset: what each is, comes from in a step, and feeds in the end."""
    graph, way = steps.described.columns_around(dataset), steps.way
    depth, indirect = way.depth, way.indirect
    columns = graph.columns(dataset)
    facts = _facts(steps, dataset, columns)
    return [
        {
            "name": column.name,
            **facts[column],
            "comes_from": [str(step.source) for step in graph.parents(column, indirect=indirect)],
            "upstream": len(graph.upstream(column, depth, indirect=indirect)),
            "downstream": len(graph.downstream(column, depth, indirect=indirect)),
        }
        for column in columns
    ]


def column_table(rows: Iterable[dict[str, Any]]) -> Table:
    """The columns of a dataset as a table."""
    head = ("", "type", "labels", "comes from", "upstream", "downstream", "description")
    cells = []
    for row in rows:
        kind = "gone" if row["is_gone"] else row["type"] or ""
        about = (row["name"], kind, ", ".join(row["labels"]))
        numbers = (row["upstream"], row["downstream"])
        text = plain(row["description"], _TEXT)
        cells.append((*about, join_names(row["comes_from"], 1), *numbers, text))
    return Table("columns", head, cells)


def _facts(
    steps: Steps, dataset: DatasetId, columns: Iterable[ColumnId]
) -> dict[ColumnId, dict[str, Any]]:
    """The types of a dataset's columns, and what people say of them."""
    facts = steps.described.lineage.datasets.get(dataset)
    described = steps.described.descriptions.get(dataset)
    types = {column.name.casefold(): column.type for column in facts.columns} if facts else {}
    is_listed_all = facts is not None and facts.has_all_columns
    texts, labels = (
        ({}, {})
        if described is None
        else (
            {name.casefold(): text for name, text in described.columns.items()},
            {name.casefold(): [*labels] for name, labels in described.column_labels.items()},
        )
    )
    return {
        column: {
            "type": types.get(column.name.casefold()) or None,
            "description": texts.get(column.name.casefold()) or None,
            "labels": labels.get(column.name.casefold(), []),
            "is_gone": is_listed_all and column.name.casefold() not in types,
        }
        for column in columns
    }


def _end_facts(
    steps: Steps, column: ColumnId, ends: Iterable[ColumnId], consumers: Sequence[Consumer]
) -> dict[str, Cell]:
    """All that a column decides on in one step, where its line ends, and who reads it there."""
    graph, facts = steps.described.column_graph, dict[str, Cell]()
    direct = {step.target for step in graph.children(column)}
    decided = [
        steps.column(step.target)
        for step in graph.children(column, indirect=True)
        if step.target not in direct
    ]
    if decided and not steps.way.indirect:
        facts["decides on"] = f"{join_names([*dict.fromkeys(decided)], _SHOWN)} (--indirect)"
    if names := [steps.column(end) for end in ends]:
        facts["ends in"] = join_names(names, _SHOWN)
    line = [column, *(far.column for far in graph.downstream(column))]
    sure = [reader for reader in consumers if any(reader.names(*named) for named in line)]
    if readers := readers_text(sure):
        facts["read by"] = readers
    # Of the others the tables are known, not the columns.
    if readers := readers_text([reader for reader in consumers if reader not in sure]):
        facts["may be read by"] = readers
    return facts


def _reasons(steps: Steps, column: ColumnId, *, upstream: bool) -> Iterator[str]:
    """The reasons why a column has no edge on a side; at least one."""
    graph, dataset = steps.described.column_graph, column.dataset
    name = steps.dataset(dataset)
    for edge in graph.unmatched(dataset)[0 if upstream else 1]:
        far = edge.from_dataset if upstream else edge.to_dataset
        verb = "come from" if upstream else "go into"
        yield (
            f"columns of {name} {verb} {steps.dataset(far)} by {steps.maker(edge.task)}; "
            "it is not known which"
        )
    flows = [
        flow
        for flow in steps.described.lineage.flows
        if (flow.target if upstream else flow.source) == dataset
    ]
    if not flows:
        what = "writes it from another dataset" if upstream else "makes another dataset of it"
        yield f"nothing that was read {what}: `graft show {name} --why` lists what is known"
        return
    gaps = list(dict.fromkeys(_gaps(steps, flows)))
    yield from gaps
    neighbours = graph.parents if upstream else graph.children
    if gaps:
        return
    followed = followed_shapes(steps.described.lineage.shapes.values())
    is_followed = all(followed.issuperset(flow.statements) for flow in flows)
    if is_followed or any(neighbours(other) for other in graph.columns(dataset)):
        yield (
            "no other column's value goes into it: a constant, a count or a new value"
            if upstream
            else "no statement that was read passes its values on"
        )
    else:
        yield (
            "its tables are connected, but no statement that was read shows their columns: "
            f"`graft show {name} --why` lists the statements"
        )


def _gaps(steps: Steps, flows: Iterable[Flow]) -> Iterator[str]:
    lineage = steps.described.lineage
    for flow in flows:
        name, definition = steps.maker(flow.task), lineage.definitions.get(flow.task)
        if definition and definition.gap:
            yield f"columns of {name} could not all be followed: {definition.gap}"
        if flow.through_memory:
            yield f"{name} carries the data in its memory: no log shows what it does to columns"
        for shape in map(lineage.shapes.get, flow.statements):
            if shape and shape.outcome is not Outcome.PARSED:
                why = shape.reason or shape.outcome
                yield f"a statement of {name} was not parsed, or only in part: {why}"


def _column(column: ColumnId) -> dict[str, Any]:
    return {"dataset": str(column.dataset), "column": column.name}


def _effect(effect: Effect | ColumnEdge) -> dict[str, Any]:
    return {
        "type": str(effect.type),
        "subtype": str(effect.subtype),
        "masking": effect.masking,
        "evidence": str(effect.evidence),
    }


def _step(step: ColumnStep) -> dict[str, Any]:
    edges = [
        {**_effect(edge), "task": edge.task, **({"place": edge.place} if edge.place else {})}
        for edge in step.edges
    ]
    return {"from": _column(step.source), "to": _column(step.target), "edges": edges}
