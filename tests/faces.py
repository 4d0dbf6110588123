"""Every face of the product gives one answer to "who writes this": the lineage's own.

The faces are the lineage (`Lineage.writers`), `task_metadata.json`, the grafted manifest, and the
words on the pages of the catalog.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from html import unescape

import jinja2

from dbt_graft.catalog.build import design_folder
from dbt_graft.catalog.dataset_page import dataset_page
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.neighbourhood import around_dataset
from dbt_graft.catalog.page import Page, environment, render
from dbt_graft.catalog.task_pages import task_page
from dbt_graft.exporters.task_metadata import task_metadata
from dbt_graft.injector.artifacts import Artifacts
from dbt_graft.injector.graft import graft
from dbt_graft.injector.options import GraftOptions
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.model import Lineage

_PARTS = (
    *("nodes", "sources", "exposures", "metrics", "groups", "selectors", "disabled", "docs"),
    *("macros", "parent_map", "child_map", "group_map", "saved_queries", "semantic_models"),
    "unit_tests",
)
NOBODY = "No writer found"


@cache
def templates() -> jinja2.Environment:
    return environment(design_folder() / "templates")


def words(page: Page) -> str:
    """The words of a page, in one line, pictures left out."""
    text = render(page, templates())
    text = re.sub(r"<svg.*?</svg>", " ", text, flags=re.DOTALL).replace("<h2", " ## <h2")
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", text)).split())


def section(page: str, title: str) -> str:
    """The words below a heading of a page."""
    match = re.search(rf"## {title}\b(?P<words>.*?)(?: ## |$)", page)
    return match["words"] if match else ""


def differences(lineage: Lineage) -> list[str]:
    """The places where a face of the product names other writers or readers than the lineage."""
    index = Index(DescribedLineage(lineage))
    metadata = task_metadata(lineage)
    empty = {"metadata": {"adapter_type": "spark"}} | {part: {} for part in _PARTS}
    catalog = {"metadata": {}, "nodes": {}, "sources": {}, "errors": None}
    grafted = graft(Artifacts(empty, catalog, "spark", "1.11"), lineage, GraftOptions("spark"))
    models = {built.dataset: set(built.tasks) for built in grafted.report.added}
    found = []
    for dataset in lineage.datasets:
        writers = {usage.task for usage in lineage.writers(dataset)}
        readers = {usage.task for usage in lineage.readers(dataset)}
        flowing = {f.task for f in lineage.flows if f.target == dataset and not f.definition}
        page = words(dataset_page(index, dataset))
        arrows = around_dataset(index, dataset).arrows
        into = {a.source for a in arrows if a.target == dataset}
        both = {a.source for a in arrows if a.both}
        faces = {
            "flows": flowing - writers == set(),
            "task_metadata": _named(metadata, "output", dataset, lineage) == writers,
            "task_metadata's inputs": _named(metadata, "input", dataset, lineage) == readers,
            "manifest": models.get(dataset, set()) == writers,
            "Written by": all(name in section(page, "Written by") for name in writers),
            "Read by": all(name in section(page, "Read by") for name in readers),
            "first line": not (writers and NOBODY in page),
            "picture": writers <= into | both,
        }
        found += [f"{dataset}: {face}" for face, agrees in faces.items() if not agrees]
    order = lineage.task_graph()
    for name, task in lineage.tasks.items():
        page = words(task_page(index, name, order))
        if not all(write.short in section(page, "Writes") for write in task.writes):
            found.append(f"task {name}: Writes")
        if not all(read.short in section(page, "Reads") for read in task.reads):
            found.append(f"task {name}: Reads")
    return found


def _named(
    metadata: Mapping[str, Mapping[str, Sequence[Mapping[str, str | None]]]],
    side: str,
    dataset: DatasetId,
    lineage: Lineage,
) -> set[str]:
    """The tasks whose metadata names a dataset among its inputs, or outputs."""
    is_path = lineage.datasets[dataset].kind is Kind.PATH or "/" in dataset.name
    *qualifiers, name = (dataset.name,) if is_path else dataset.parts
    wanted = (*[None, None, *qualifiers][-2:], name)
    keys = ("_database_name", "_schema_name", "_entity_name")
    return {
        task
        for task, entities in metadata.items()
        if wanted in [tuple(entity[key] for key in keys) for entity in entities[side]]
    }
