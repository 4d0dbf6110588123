"""What the page of a dataset shows."""

from __future__ import annotations

from collections.abc import Sequence

from dbt_graft.catalog.columns import columns
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.neighbourhood import around_dataset
from dbt_graft.catalog.page import Page, prose
from dbt_graft.catalog.picture import picture, run_bars
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.describe import Role
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.records import Direction, Evidence, Outcome, Run, Shape
from dbt_graft.lineage.urls import dataset_path
from dbt_graft.lineage.usage import Usage

# How far the lists of what is upstream and downstream go, and how many names they hold: with
# all of them, a site would grow with the square of its datasets.
_STEPS = 6
_ROOM = 150


def dataset_page(index: Index, dataset: DatasetId) -> Page:
    """The page of a dataset, complete also where nothing but its name is known."""
    known = index.datasets[dataset]
    description = index.descriptions.get(dataset)
    flows_to, flows_from = index.flows_to.get(dataset, []), index.flows_from.get(dataset, [])
    writers = index.lineage.usages_of(dataset, Direction.WRITE)
    readers = index.lineage.usages_of(dataset, Direction.READ)
    view = index.view(dataset)
    runs = _runs(index, writers)
    path = dataset_path(dataset)
    root = "../" * path.count("/")
    docs = index.has_dbt_docs
    return Page(
        path=path,
        template="dataset",
        title=dataset.short,
        searched=True,
        sidebars=("toc",),
        context={
            "dataset": known,
            "description": description,
            "text": prose(description.text if description else "", root, has_dbt_docs=docs),
            "dbt_link": index.dbt_link(description.node_id) if description else "",
            "written": index.written(dataset),
            "built_by_dbt": index.built_by_dbt(dataset),
            "is_source": index.role(dataset) in (Role.SOURCE, Role.NEW_SOURCE),
            "evidence": _strongest([*flows_to, *flows_from], [*writers, *readers]),
            "picture": picture(around_dataset(index, dataset), root),
            "columns": columns(index, dataset, root),
            "missing": _missing(index, writers),
            "writers": writers,
            "dbt_parents": index.parents(dataset, DefinitionKind.DBT),
            "view": view,
            "readers": readers,
            "dbt_children": index.children(dataset, DefinitionKind.DBT),
            "view_children": index.children(dataset, DefinitionKind.VIEW),
            "reports": [c for c in index.reports.get(dataset, ()) if c.name not in index.tasks],
            "upstream": _by_distance(index.graph.upstream(dataset, _STEPS)),
            "downstream": _by_distance(index.graph.downstream(dataset, _STEPS)),
            "runs": runs,
            "bars": run_bars(runs),
            "shapes": shapes(index, [*writers, *([view] if view else [])]),
            "former_names": index.lineage.former_names.get(dataset, ()),
            "flows": [f for f in (*flows_to, *flows_from) if f.definition is None],
            "above": names_on_way(dataset)[:-1],
        },
    )


def _runs(index: Index, writers: Sequence[Usage]) -> list[Run]:
    """The runs that wrote it or tried to, of all tasks, newest first."""
    found = [run for usage in writers for run in index.tasks[usage.task].runs_of(usage)]
    return sorted(
        found, key=lambda run: run.started_at.timestamp() if run.started_at else 0.0, reverse=True
    )


def _strongest(flows: Sequence[Flow], usages: Sequence[Usage]) -> Evidence | None:
    ranks = list(Evidence)
    found = {*(flow.evidence for flow in flows), *(usage.evidence for usage in usages)}
    return min(found, key=ranks.index, default=None)


def _by_distance(steps: dict[DatasetId, int]) -> list[tuple[int, list[DatasetId], int]]:
    """Steps away, the datasets there, and how many of them the page has no room for."""
    found: dict[int, list[DatasetId]] = {}
    for dataset in sorted(steps):
        found.setdefault(steps[dataset], []).append(dataset)
    groups, room = [], _ROOM
    for distance, datasets in sorted(found.items()):
        shown = datasets[:room]
        groups.append((distance, shown, len(datasets) - len(shown)))
        room -= len(shown)
    return groups


def shapes(index: Index, usages: Sequence[Usage | Definition]) -> list[Shape]:
    """The statements behind usages, those that were read best first."""
    known = index.lineage.shapes
    ids = dict.fromkeys(shape for usage in usages for shape in usage.shapes if shape in known)
    return [known[shape] for shape in ids if known[shape].text.strip()]


def _missing(index: Index, writers: Sequence[Usage]) -> list[str]:
    """Why some of what the tasks' statements do to it is not known."""
    known = index.lineage.shapes
    found = (known[shape] for usage in writers for shape in usage.shapes if shape in known)
    return sorted(
        {shape.reason for shape in found if shape.reason and shape.outcome is not Outcome.PARSED}
    )


def names_on_way(dataset: DatasetId) -> list[tuple[str, str]]:
    """Each step of a dataset's address with its real name: `spark` at `datasets/spark/`."""
    steps = dataset_path(dataset).rstrip("/").split("/")
    names = ("Datasets", dataset.namespace, *(dataset.parts or (dataset.name,)))
    return [(name, "/".join(steps[: at + 1]) + "/") for at, name in enumerate(names)]
