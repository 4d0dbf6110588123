"""Two versions of dbt's artifacts, compared, and what is missing in them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dbt_graft.analysis.render.phrases import join_names
from dbt_graft.analysis.review.compare import compare, is_uncompiled
from dbt_graft.analysis.review.node import ReviewedNode
from dbt_graft.analysis.review.node_change import NodeReview
from dbt_graft.collectors.dbt.outline_cache import OutlineCache
from dbt_graft.collectors.dbt.review_nodes import DbtVersion, dbt_version
from dbt_graft.collectors.dbt.review_queries import outlined_versions
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.index_files import IMPACT_FILE
from dbt_graft.injector.artifacts import Artifacts

# Beside the impact index.
_CACHE = "review_outlines.json"
_NO_TYPES = "types are compared as far as YAML and SQL have them"


def outline_cache(config: Config) -> OutlineCache:
    """The outlines of earlier reviews of a project.

    They are kept where the impact index could be: in a folder that is graft's own.
    """
    folder = Path(config.path(config.artifacts))
    return OutlineCache(folder / _CACHE if (folder / IMPACT_FILE).is_file() else None)


def compare_artifacts(
    old: Artifacts, new: Artifacts, cache: OutlineCache | None = None
) -> tuple[tuple[NodeReview, ...], tuple[str, ...]]:
    """The nodes that differ, and what the comparison could not know.

    A version without types borrows those of the other.

    Args:
        cache: Outlines of earlier reviews; it gets those of this one.
    """
    before, after = outlined_versions(_version(old, new), _version(new, old), cache)
    return compare(before, after), (
        *_missing_notices(old, new),
        *_uncompiled_notices(before, after),
        *_large_seed_notices(new),
    )


def _version(artifacts: Artifacts, other: Artifacts) -> DbtVersion:
    catalog = (artifacts if artifacts.has_types else other).catalog
    borrowed = not artifacts.has_types
    return dbt_version(artifacts.manifest, catalog, other.manifest, borrowed=borrowed)


def _missing_notices(old: Artifacts, new: Artifacts) -> tuple[str, ...]:
    names = [(version.manifest.get("metadata") or {}).get("project_name") for version in (old, new)]
    notices = []
    if all(names) and names[0] != names[1]:
        notices.append(f"the base is of the dbt project {names[0]}, and this one is {names[1]}")
    notices += [f"the base has no catalog.json: {_NO_TYPES}"] if not old.has_types else []
    notices += [f"the project has no catalog.json: {_NO_TYPES}"] if not new.has_types else []
    others = (notice for notice in new.notices if new.has_types or "catalog.json" not in notice)
    return (*notices, *others)


def _uncompiled_notices(
    before: Mapping[str, ReviewedNode], after: Mapping[str, ReviewedNode]
) -> tuple[str, ...]:
    count = sum(key in after and is_uncompiled(node, after[key]) for key, node in before.items())
    if not count:
        return ()
    models = "1 model is" if count == 1 else f"{count:,} models are"
    return (f"{models} compiled in neither version; code and macros are the same",)


def _large_seed_notices(new: Artifacts) -> tuple[str, ...]:
    """Of a seed over 1 MiB dbt keeps the path, so that nobody sees another file."""
    names = sorted(
        str(node.get("name"))
        for node in new.manifest["nodes"].values()
        if node.get("resource_type") == "seed"
        and (node.get("checksum") or {}).get("name") == "path"
    )
    if not names:
        return ()
    return (f"seeds too large for dbt to compare, which may have changed: {join_names(names)}",)
