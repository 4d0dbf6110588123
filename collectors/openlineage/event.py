"""An event of OpenLineage: read from its JSON, or the complaint about what it lacks.

Only what lineage needs is checked, in the words of a JSON schema; values are not quoted. A facet
that is not as its schema wants it is left out by those who read it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import IntEnum
from typing import Any, NamedTuple

from dbt_graft.lineage.dates.date_ranges import RUN_YEARS
from dbt_graft.lineage.openlineage import REPOSITORY
from dbt_graft.lineage.redaction import redact_text

Facets = Mapping[str, Any]

_RUN_ID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
# A date alone says nothing of when something ran.
_WITH_TIME = re.compile(r"[\d-]{8,}[Tt ]\d")
_OFFSET = re.compile(r"(?<=[\d.])[+-]\d\d:\d\d\Z")
_STATES = ("START", "RUNNING", "OTHER", "COMPLETE", "ABORT", "FAIL")
# What is known to be large, and not to be read.
_LARGE = frozenset(
    {"unknownSourceAttribute", "sourceCode", "environmentVariables", "spark.logicalPlan"}
    | {"spark_logicalPlan", "spark_unknown", "spark_properties", "debug", "gcp_lineage"}
)
# The schema of the facet `graft` of a dataset: docs/schemas/graft-facets.schema.json.
_COLLECTED = "/graft-facets.schema.json#/$defs/GraftDatasetFacet"


class EventKind(IntEnum):
    """The three kinds of events."""

    RUN = 0
    JOB = 1
    DATASET = 2


class NotAnEventError(ValueError):
    """A JSON value is no event, or one that the schema forbids; the text is the complaint."""


class NamedDataset(NamedTuple):
    """A dataset as an event names it.

    Attributes:
        counts: The facets of the input or output: statistics, for example.
    """

    namespace: str
    name: str
    facets: Facets
    counts: Facets


class Event(NamedTuple):
    """One event.

    Attributes:
        state: `START`, `COMPLETE`…; `OTHER` where the event has none.
        run_id: Empty in a JobEvent or DatasetEvent, as are the facets of the run.
        outputs: The dataset of a DatasetEvent too.
        offset: That of the clock by which its time is written, `+02:00`; empty for UTC.
    """

    kind: EventKind
    at: datetime
    state: str
    run_id: str
    namespace: str
    job: str
    producer: str
    run_facets: Facets
    job_facets: Facets
    inputs: tuple[NamedDataset, ...]
    outputs: tuple[NamedDataset, ...]
    offset: str = ""

    @property
    def order(self) -> tuple[datetime, int]:
        """A key by which the events of a run are sorted, however they arrive."""
        return self.at, _STATES.index(self.state)

    @property
    def is_end(self) -> bool:
        """Whether the run is over."""
        return self.state in ("COMPLETE", "FAIL", "ABORT")

    @property
    def is_done(self) -> bool:
        """Whether all that it names was done; of a failed run, graft's events name nothing else."""
        is_ours = self.producer.startswith(f"{REPOSITORY}/")
        return self.state == "COMPLETE" or (self.state == "FAIL" and is_ours)


def read_event(value: Any) -> Event:
    """The event in a JSON value.

    Raises:
        NotAnEventError: It is none, or lacks what the schema requires.
    """
    document = _object(value, "the event")
    is_run, is_job = "run" in document, "job" in document
    if not is_run and not is_job and "dataset" not in document:
        raise NotAnEventError("has neither 'run' nor 'job' nor 'dataset': not an OpenLineage event")
    written_at = _require(document, "eventTime", "")
    at = _time(written_at)
    producer = document.get("producer")
    producer = producer if isinstance(producer, str) else ""
    if not is_run and not is_job:
        named = _dataset(document["dataset"], "dataset", "outputFacets")
        return Event(EventKind.DATASET, at, "OTHER", "", "", "", producer, {}, {}, (), (named,))
    job = _object(_require(document, "job", ""), "job")
    run = _object(document["run"], "run") if is_run else {}
    return Event(
        EventKind.RUN if is_run else EventKind.JOB,
        at,
        state=_state(document.get("eventType")),
        run_id=_run_id(_require(run, "runId", "run.")) if is_run else "",
        namespace=redact_text(_text(job, "namespace", "job.")),
        job=redact_text(_text(job, "name", "job.")),
        producer=producer,
        run_facets=_facets(run, "facets", "run."),
        job_facets=_facets(job, "facets", "job."),
        inputs=_datasets(document, "inputs", "inputFacets"),
        outputs=_datasets(document, "outputs", "outputFacets"),
        offset=_offset(written_at),
    )


def _offset(time: str) -> str:
    offset = _OFFSET.search(time)
    return offset[0] if offset and set(offset[0]) & set("123456789") else ""


def _state(value: Any) -> str:
    if value is None:
        return "OTHER"
    if not isinstance(value, str) or value.upper() not in _STATES:
        raise NotAnEventError(f"eventType is not one of {', '.join(sorted(_STATES))}")
    return value.upper()


def _time(value: Any) -> datetime:
    if not isinstance(value, str) or not _WITH_TIME.match(value):
        raise NotAnEventError("eventTime is not a 'date-time'")
    try:
        at = datetime.fromisoformat(value.upper())  # `z` is allowed
        # A time without a zone is against the schema, and common.
        at = at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise NotAnEventError("eventTime is not a 'date-time'") from None
    if at.year not in RUN_YEARS:
        raise NotAnEventError("eventTime is before 1970 or after 2199")
    return at


def _run_id(value: Any) -> str:
    if not isinstance(value, str) or not _RUN_ID.fullmatch(value):
        raise NotAnEventError("run.runId is not a 'uuid'")
    return value.lower()


def _datasets(document: Facets, key: str, counts: str) -> tuple[NamedDataset, ...]:
    entries = document.get(key)
    if not entries and (entries is None or isinstance(entries, list)):
        return ()
    if not isinstance(entries, list):
        raise NotAnEventError(f"{key} is not of type 'array'")
    named = (_dataset(entry, f"{key}[{at}]", counts) for at, entry in enumerate(entries))
    return tuple(dataset for dataset in named if not _is_collected(dataset))


def _is_collected(dataset: NamedDataset) -> bool:
    """Whether `graft_airflow` put it there because of lineage in a store: that is no news of it."""
    facet = dataset.facets.get("graft")
    url = facet.get("_schemaURL") if isinstance(facet, dict) else None
    return isinstance(url, str) and url.endswith(_COLLECTED)


def _dataset(value: Any, path: str, counts: str) -> NamedDataset:
    document = _object(value, path)
    where = f"{path}."
    return NamedDataset(
        _text(document, "namespace", where),
        _text(document, "name", where),
        _facets(document, "facets", where),
        _facets(document, counts, where),
    )


def _facets(parent: Facets, key: str, where: str) -> Facets:
    facets = parent.get(key)
    if not facets:
        return {}
    if not isinstance(facets, dict):
        raise NotAnEventError(f"{where}{key} is not of type 'object'")
    for name in _LARGE & facets.keys():
        facets[name] = None
    return facets


def _object(value: Any, path: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise NotAnEventError(f"{path} is not of type 'object'")
    return value


def _require(parent: Facets, key: str, where: str) -> Any:
    if parent.get(key) is None:
        raise NotAnEventError(f"'{where}{key}' is a required property")
    return parent[key]


def _text(parent: Facets, key: str, where: str) -> str:
    value = _require(parent, key, where)
    if not isinstance(value, str):
        raise NotAnEventError(f"{where}{key} is not of type 'string'")
    if not value.strip():
        raise NotAnEventError(f"'{where}{key}' is empty")
    return value
