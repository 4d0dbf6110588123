"""OpenLineage's objects for what is known of a task. Needs the package of Airflow's provider."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attr
from openlineage.client.event_v2 import Dataset
from openlineage.client.facet_v2 import (
    DatasetFacet,
    RunFacet,
    column_lineage_dataset,
    schema_dataset,
)

from graft_airflow import __version__
from graft_airflow.document import objects_of, text_of
from graft_airflow.lineage_of_task import KnownLineage

PRODUCER = f"https://github.com/dbt-graft/dbt-graft/tree/v{__version__}/graft_airflow"
SCHEMAS = (
    "https://raw.githubusercontent.com/dbt-graft/dbt-graft/main/docs/schemas/"
    "graft-facets.schema.json#/$defs"
)


@attr.define
class GraftRunFacet(RunFacet):  # type: ignore[misc]
    """The run facet `graft`: what the event's lineage was taken from.

    Attributes:
        task: The task in the lineage store; None if none was found.
        matchedBy: The rule by which it was found.
        asOf: When the lineage was collected.
        lastRunAt: When the task last did what its lineage shows.
        evidence: How it is known: observed, declared, inferred.
        inputs, outputs, columns: How many there are.
        problem: Why nothing is known, if something is wrong.
    """

    task: str | None = None
    matchedBy: str | None = None  # noqa: N815
    asOf: str | None = None  # noqa: N815
    lastRunAt: str | None = None  # noqa: N815
    evidence: list[str] = attr.field(factory=list)
    inputs: int = 0
    outputs: int = 0
    columns: int = 0
    problem: str | None = None

    @staticmethod
    def _get_schema() -> str:
        return f"{SCHEMAS}/GraftRunFacet"


@attr.define
class GraftDatasetFacet(DatasetFacet):  # type: ignore[misc]
    """The facet `graft` of a dataset: it is there because of collected lineage.

    So a receiver, dbt-graft among them, takes it for no observation of this run.

    Attributes:
        evidence: How it is known: observed, declared, inferred.
        lastAt: When the task last read or wrote it.
    """

    evidence: str | None = None
    lastAt: str | None = None  # noqa: N815

    @staticmethod
    def _get_schema() -> str:
        return f"{SCHEMAS}/GraftDatasetFacet"


def run_facet(lineage: KnownLineage) -> GraftRunFacet:
    """The facet that says what is known, and from when."""
    values: dict[str, Any] = {
        "producer": PRODUCER,
        "asOf": lineage.as_of or None,
        "problem": lineage.problem or None,
    }
    if lineage.task:
        content = lineage.task.content
        outputs, evidence = objects_of(content.get("outputs")), content.get("evidence")
        values |= {
            "task": lineage.task.name,
            "matchedBy": lineage.task.rule,
            "lastRunAt": text_of(content.get("last_at")) or None,
            "evidence": [*filter(text_of, evidence)] if isinstance(evidence, list) else [],
            "inputs": len(objects_of(content.get("inputs"))),
            "outputs": len(outputs),
            "columns": sum(len(_fields(output)) for output in outputs),
        }
    return GraftRunFacet(**values)


def datasets(entries: Any) -> list[Any]:
    """The datasets in a list of the lineage file, with schema and column lineage where it has them.

    An entry without namespace or name is left out.
    """
    return [
        Dataset(namespace=entry["namespace"], name=entry["name"], facets=_facets(entry))
        for entry in objects_of(entries)
        if text_of(entry.get("namespace")) and text_of(entry.get("name"))
    ]


def merge_datasets(*groups: Iterable[Any]) -> list[Any]:
    """The datasets of all groups, each once; its facets come from the first group that has them."""
    datasets_by_key: dict[tuple[str, str], Any] = {}
    for dataset in (dataset for group in groups for dataset in group):
        key = (dataset.namespace, dataset.name)
        earlier = datasets_by_key.get(key)
        if earlier is None:
            datasets_by_key[key] = dataset
        elif dataset.facets:
            facets = {**dataset.facets, **(earlier.facets or {})}
            # Not in place: it may be an object that a DAG declares for several tasks.
            datasets_by_key[key] = Dataset(namespace=key[0], name=key[1], facets=facets)
    return list(datasets_by_key.values())


def _facets(entry: dict[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {
        "producer": PRODUCER,
        "evidence": text_of(entry.get("evidence")) or None,
        "lastAt": text_of(entry.get("last_at")) or None,
    }
    facets: dict[str, Any] = {"graft": GraftDatasetFacet(**values)}
    if columns := [
        column for column in objects_of(entry.get("columns")) if text_of(column.get("name"))
    ]:
        facets["schema"] = schema_dataset.SchemaDatasetFacet(
            producer=PRODUCER,
            fields=[
                schema_dataset.SchemaDatasetFacetFields(
                    name=column["name"], type=text_of(column.get("type")) or None
                )
                for column in columns
            ],
        )
    of_rows = _column_lineage(entry).get("dataset")
    if (fields := _fields(entry)) or of_rows:
        facets["columnLineage"] = column_lineage_dataset.ColumnLineageDatasetFacet(
            producer=PRODUCER,
            fields={
                name: column_lineage_dataset.Fields(inputFields=_input_fields(inputs))
                for name, inputs in fields.items()
            },
            **({"dataset": _input_fields(of_rows)} if of_rows else {}),
        )
    return facets


def _column_lineage(entry: dict[str, Any]) -> dict[str, Any]:
    lineage = entry.get("column_lineage")
    return lineage if isinstance(lineage, dict) else {}


def _fields(entry: dict[str, Any]) -> dict[str, Any]:
    fields = _column_lineage(entry).get("fields")
    return fields if isinstance(fields, dict) else {}


def _input_fields(entries: Any) -> list[Any]:
    """The input columns of a column; those without a name are left out."""
    return [
        column_lineage_dataset.InputField(
            namespace=entry["namespace"],
            name=entry["name"],
            field=entry["field"],
            transformations=[
                column_lineage_dataset.Transformation(
                    type=text_of(how.get("type")) or "INDIRECT",
                    subtype=text_of(how.get("subtype")),
                    description=text_of(how.get("description")),
                    masking=how.get("masking") is True,
                )
                for how in objects_of(entry.get("transformations"))
            ],
        )
        for entry in objects_of(entries)
        if all(text_of(entry.get(key)) for key in ("namespace", "name", "field"))
    ]
