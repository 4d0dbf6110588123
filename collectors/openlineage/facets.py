"""Facets: those that this reader uses, and access to parts that may be missing or wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from dbt_graft.collectors.name_tables import words
from dbt_graft.collectors.openlineage.event import Event
from dbt_graft.lineage.redaction import redact_code

# Longer texts are hardly repeated.
_LONG = 300
# The source of tags that are fields of ours.
GRAFT = "GRAFT"
# docs/logs.md says what for.
USED = words("""
    airflow airflowDagRun airflowState columnLineage dataQualityAssertions datasetType
    datasetVersion dbt_node dbt_run documentation errorMessage extractionError
    icebergCommitReport icebergScanReport iceberg_commit_report inputStatistics jobType
    lifecycleStateChange lineage nominalTime outputStatistics ownership parent processing_engine
    schema sourceCodeLocation spark_applicationDetails sql storage subset symlinks tags test
    unknownSourceAttribute version""")


def mapping(document: Any, *keys: str) -> Mapping[str, Any]:
    """The object below some keys; empty where there is none."""
    value = _value_below(document, keys)
    return value if isinstance(value, dict) else {}


def text(document: Any, *keys: str) -> str:
    """The text below some keys, without secrets; empty where there is none.

    Secrets go before anything is made of a text: a part of one would not look like it.
    """
    value = _value_below(document, keys)
    if not isinstance(value, str):
        return ""
    return _redacted(value) if len(value) < _LONG else redact_code(value)


_redacted = lru_cache(65_536)(redact_code)


def number(document: Any, *keys: str) -> int | None:
    """The number below some keys, at least 0; None where there is none."""
    value = _value_below(document, keys)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return int(value) if 0 <= value < 2**63 else None


def objects(document: Any, *keys: str) -> Iterator[Mapping[str, Any]]:
    """The objects of the list below some keys."""
    listed = _value_below(document, keys)
    return (
        entry for entry in (listed if isinstance(listed, list) else ()) if isinstance(entry, dict)
    )


def is_deleted(facets: Any, name: str) -> bool:
    """Whether the facet of that name holds no more from here on."""
    return mapping(facets, name).get("_deleted") is True


def graft_tag(facets: Any, key: str) -> str:
    """A field of a run or job that the spec has no facet for, as our own events have it."""
    for tag in objects(facets, "tags", "tags"):
        if tag.get("key") == key and tag.get("source") == GRAFT:
            return text(tag, "value")
    return ""


def _value_below(value: Any, keys: Iterable[str]) -> Any:
    for key in keys:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def moment(document: Any, *keys: str) -> datetime | None:
    """The time below some keys; None where there is none."""
    try:
        at = datetime.fromisoformat(text(document, *keys))
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def count_unused_facets(event: Event, counts: Counter[str]) -> None:
    """Count the facets of an event that nothing here uses, by name."""
    for facets in (
        event.run_facets,
        event.job_facets,
        *(dataset.facets for dataset in (*event.inputs, *event.outputs) if dataset.facets),
        *(dataset.counts for dataset in (*event.inputs, *event.outputs) if dataset.counts),
    ):
        if not facets.keys() <= USED:
            counts.update(facets.keys() - USED)
