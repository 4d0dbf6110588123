"""dbt groups for the owners of datasets, shown in the group tree of the docs page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from dbt_graft.injector.manifest import Node
from dbt_graft.injector.naming import plain
from dbt_graft.injector.plan import PACKAGE


def group_name(owners: Iterable[str]) -> str | None:
    """Return the group of a dataset: that of its first owner."""
    return plain(next(iter(owners), "")) or None


def groups(owners: Iterable[str]) -> dict[str, Any]:
    """Return the groups of owners, by id."""
    owners_by_name = {name: owner for owner in owners if (name := group_name([owner]))}
    return {
        (unique_id := f"group.{PACKAGE}.{name}"): {
            "name": name,
            "resource_type": "group",
            "package_name": PACKAGE,
            "path": "groups.yml",
            "original_file_path": "groups.yml",
            "unique_id": unique_id,
            "owner": {"email": None, "name": owner},
        }
        for name, owner in sorted(owners_by_name.items())
    }


def group_map(original: Mapping[str, Any] | None, models: Iterable[Node]) -> dict[str, list[str]]:
    """Return the group map with the added models: group -> the ids of its nodes."""
    ids_by_group: dict[str, list[str]] = defaultdict(list)
    for group, ids in (original or {}).items():
        ids_by_group[group] += ids or []
    for node in models:
        if node["group"]:
            ids_by_group[node["group"]].append(node["unique_id"])
    return dict(ids_by_group)
