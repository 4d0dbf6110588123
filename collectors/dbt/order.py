"""The order in which models are followed: behind those whose result tells their columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from dbt_graft.collectors.dbt.models import DbtModel


def levels(models: Mapping[str, DbtModel]) -> Iterator[list[str]]:
    """The models and snapshots in groups: none needs the columns of another of its group.

    Columns in the catalog are known from the start. A cycle, which dbt has none of, is broken.
    """
    queries = {key: model for key, model in models.items() if model.is_query}
    waits: dict[str, int] = {}
    children: dict[str, list[str]] = defaultdict(list)
    for key, model in queries.items():
        upstream = {
            parent
            for parent in model.parents
            if parent != key and parent in queries and not queries[parent].columns
        }
        waits[key] = len(upstream)
        for parent in upstream:
            children[parent].append(key)
    ready = [key for key, count in waits.items() if not count]
    while waits:
        group = sorted(ready) or [min(waits)]
        ready = []
        for key in group:
            del waits[key]
        yield group
        for key in group:
            for child in children[key]:
                if child in waits:
                    waits[child] -= 1
                    if not waits[child]:
                        ready.append(child)
