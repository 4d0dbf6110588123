"""Builds and their changes as JSON values: in the lineage store, and beside the site's pages."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from dbt_graft.analysis.history.changes import Build, Change, ChangeKind
from dbt_graft.lineage.dataset import DatasetId

_DATASETS = ("dataset", "other")
_TEXTS = ("name", "before", "now")


def build_json(build: Build) -> dict[str, Any]:
    """A build: `{"number", "at", "before", "counts", "changes"}`."""
    return {
        "number": build.number,
        "at": build.at.isoformat(),
        "before": build.before.isoformat() if build.before else None,
        "counts": {kind.value: count for kind, count in build.counts.items()},
        "changes": [change_json(change) for change in build.changes],
    }


def build_from_json(value: Mapping[str, Any]) -> Build:
    """A build from `build_json`.

    Raises:
        KeyError, TypeError, ValueError: It is none.
    """
    before = value["before"]
    return Build(
        number=int(value["number"]),
        at=datetime.fromisoformat(value["at"]),
        before=datetime.fromisoformat(before) if before else None,
        changes=tuple(_change(change) for change in value["changes"]),
    )


def change_json(change: Change) -> dict[str, Any]:
    """A change: its kind, and of its other fields those that it has."""
    datasets = {name: getattr(change, name) for name in _DATASETS}
    texts = {name: getattr(change, name) for name in _TEXTS}
    return {
        "kind": change.kind.value,
        **{
            name: {"namespace": dataset.namespace, "name": dataset.name}
            for name, dataset in datasets.items()
            if dataset
        },
        **{name: text for name, text in texts.items() if text},
    }


def _change(value: Mapping[str, Any]) -> Change:
    dataset, other = (
        DatasetId(entry["namespace"], entry["name"]) if (entry := value.get(key)) else None
        for key in _DATASETS
    )
    name, before, now = (str(value.get(key, "")) for key in _TEXTS)
    return Change(ChangeKind(value["kind"]), dataset, other, name, before, now)
