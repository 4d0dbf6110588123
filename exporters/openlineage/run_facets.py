"""The facets of a run: its engine, what started it, its interval; dates and versions of data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import reduce
from typing import Any
from uuid import UUID

from dbt_graft import __version__
from dbt_graft.exporters.openlineage.facets import (
    Facet,
    facet,
    identity,
    tag,
    timestamp,
    without_none,
)
from dbt_graft.exporters.openlineage.jobs import integration
from dbt_graft.exporters.openlineage.snapshot import LineageSnapshot
from dbt_graft.lineage.airflow_names import parent_id
from dbt_graft.lineage.dates.period import DataPosition, Grain, Period
from dbt_graft.lineage.dates.period_union import KINDS_BY_LAYER
from dbt_graft.lineage.gaps import gaps, may_touch_more
from dbt_graft.lineage.openlineage import UNKNOWN_VERSION, JobId, task_job
from dbt_graft.lineage.records import Direction, Evidence, Run

# A log that names its own run as the parent, or two that name each other, ends somewhere.
_MOST_LEVELS = 10
_SCHEMAS = {
    Direction.READ: ("InputSubsetInputDatasetFacet", "inputCondition"),
    Direction.WRITE: ("OutputSubsetOutputDatasetFacet", "outputCondition"),
}
_EVIDENCES = [*Evidence]
# Versions of PEP 440, as Python has them; of others what follows the release is a label.
_RELEASE = re.compile(r"v?\d+(?:\.\d+)*", re.ASCII)
_VERSION = re.compile(
    r"v?\d+(?:\.\d+)*(?:[-._]?(?:a|b|c|rc|alpha|beta|pre|preview)[-._]?\d*)?"
    r"(?:[-._]?post[-._]?\d*)?(?:[-._]?dev[-._]?\d*)?(?:\+[a-z0-9]+(?:[-._][a-z0-9]+)*)?",
    re.ASCII | re.IGNORECASE,
)
_NO_LABEL = re.compile(r"[^A-Za-z0-9]+")
_LAYERS = {kind: layer for layer, kind in KINDS_BY_LAYER.items()}
# Longer conditions help no receiver.
_MOST = 50


def run_facets(snapshot: LineageSnapshot, run: Run) -> dict[str, Facet]:
    """The facets of a run besides its lineage and its error."""
    facets = {
        # Receivers name the platform of a job after it, so it is always there.
        "processing_engine": facet(
            "ProcessingEngineRunFacet",
            version=_version(run.engine_version),
            name=integration(run.engine).lower(),
            openlineageAdapterVersion=__version__,
        ),
        "parent": _parent(snapshot, run),
        "nominalTime": _nominal_time(run),
        "tags": _tags(snapshot, run),
    }
    return without_none(facets)


def extraction_error(snapshot: LineageSnapshot, run: Run, shape_ids: Iterable[str]) -> Facet | None:
    """The statements of a run, and records of its log, that may read or write more than is known.

    None without any. A record that could not be read is of any of the task's runs in that log.
    """
    shapes = [
        snapshot.lineage.shapes[shape_id]
        for shape_id in shape_ids
        if shape_id in snapshot.lineage.shapes
    ]
    unknown = [shape for shape in shapes if may_touch_more(shape)]
    rejects = snapshot.rejects.get((run.task, run.origin), {})
    if not unknown and not rejects:
        return None
    rejected = sum(rejects.values())
    return facet(
        "ExtractionErrorRunFacet",
        totalTasks=len(shapes) + rejected,
        failedTasks=len(unknown) + rejected,
        errors=[
            *(
                without_none({"errorMessage": gap.reason, "task": gap.example or None})
                for gap in gaps(unknown)
            ),
            *({"errorMessage": reason} for reason in sorted(rejects)),
        ],
    )


def _version(version: str | None) -> str:
    """A version that consumers can take apart: `3.3.0-amzn-1` is `3.3.0+amzn.1`."""
    if not version or _VERSION.fullmatch(version):
        return version or UNKNOWN_VERSION
    release = _RELEASE.match(version)
    number = release[0] if release else "0.0.0"
    label = _NO_LABEL.sub(".", version[len(release[0]) if release else 0 :]).strip(".")
    return f"{number}+{label}" if label else number


def _nominal_time(run: Run) -> Facet | None:
    if run.nominal_start is None:
        return None
    return facet(
        "NominalTimeRunFacet",
        nominalStartTime=timestamp(run.nominal_start),
        nominalEndTime=timestamp(run.nominal_end) if run.nominal_end else None,
    )


def _tags(snapshot: LineageSnapshot, run: Run) -> Facet | None:
    accesses = snapshot.accesses_by_run.get((run.task, run.run_id), ())
    evidences = {access.evidence for access in accesses} or {Evidence.OBSERVED}
    values = {
        "evidence": None
        if Evidence.OBSERVED in evidences
        else max(evidences, key=_EVIDENCES.index),
        "engine_version": run.engine_version
        if run.engine_version != _version(run.engine_version)
        else None,
        "application_id": run.application_id,
        "attempt": str(run.attempt) if run.attempt is not None else None,
        "url": run.url,
        "timezone": run.timezone,
    }
    tags = [tag(key, value, "GRAFT") for key, value in values.items() if value]
    return facet("TagsRunFacet", tags=tags) if tags else None


def _parent(snapshot: LineageSnapshot, run: Run) -> Facet | None:
    """The run that started it, and the one that all began with.

    The job of a parent that no log shows is the one that was handed on with its id, else it is
    named after the task. Nothing stands for a parent whose id is no UUID: OpenLineage could not
    name it.
    """
    if not run.parent_run_id or run.parent_run_id == run.run_id:
        return None
    parent = snapshot.parents.get(run.parent_run_id)
    if parent is None or parent == run:
        named_parent = parent_id(run.parent_run_id)
        run_id = str(named_parent.run_id) if named_parent else _uuid(run.parent_run_id)
        job = named_parent.job if named_parent else _unseen_parent(snapshot, run)
        return facet("ParentRunFacet", run={"runId": run_id}, job=identity(job)) if run_id else None
    root = parent
    for _ in range(_MOST_LEVELS):
        ancestor = snapshot.parents.get(root.parent_run_id or "")
        if ancestor is None or ancestor == root:
            break
        root = ancestor
    return facet("ParentRunFacet", **_pointer(snapshot, parent), root=_pointer(snapshot, root))


def _unseen_parent(snapshot: LineageSnapshot, run: Run) -> JobId:
    if run.engine != "dbt":
        return task_job(run.task, snapshot.namespace)
    # `model.shop.orders` is of the project `shop`.
    project = run.task.split(".")[1:2]
    return task_job(".".join(("dbt", *project)), snapshot.namespace)


def _pointer(snapshot: LineageSnapshot, run: Run) -> dict[str, dict[str, str]]:
    return {
        "run": {"runId": str(snapshot.run_id(run))},
        "job": identity(snapshot.job_of_run(run)),
    }


def _uuid(text: str) -> str | None:
    try:
        return str(UUID(text))
    except ValueError:
        return None


def subset(periods: Sequence[Period], direction: Direction) -> Facet | None:
    """The dates of data as conditions on their columns; None where a date has no column."""
    if not 0 < len(periods) <= _MOST or not all(period.column for period in periods):
        return None
    schema, side = _SCHEMAS[direction]
    condition = reduce(lambda a, b: _binary("OR", a, b), map(_condition, periods))
    return facet(schema, **{side: condition})


def version_facets(positions: Sequence[DataPosition]) -> dict[str, Facet]:
    """The last version or snapshot that was read or written, and the format that counts it."""
    versions = [
        position for position in positions if position.kind.endswith(("version", "snapshot"))
    ]
    if not versions:
        return {}
    last = versions[-1]
    layer = _LAYERS.get(last.kind)
    facets = {
        "version": facet("DatasetVersionDatasetFacet", datasetVersion=last.end),
        "storage": facet("StorageDatasetFacet", storageLayer=layer) if layer else None,
    }
    return without_none(facets)


def _condition(period: Period) -> dict[str, Any]:
    sides = (("GREATER_EQUAL_THAN", period.start), ("LESS_THAN", period.end))
    compared = [
        {
            "type": "compare",
            "left": {"type": "field", "field": period.column},
            "comparison": comparison,
            "right": {"type": "literal", "value": _literal(at, period.grain)},
        }
        for comparison, at in sides
        if at is not None
    ]
    return reduce(lambda a, b: _binary("AND", a, b), compared)


def _binary(operator: str, left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    return {"type": "binary", "operator": operator, "left": left, "right": right}


def _literal(at: datetime, grain: Grain) -> str:
    return at.strftime("%Y-%m-%d %H:00:00") if grain is Grain.HOUR else at.date().isoformat()
