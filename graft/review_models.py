"""Two versions of dbt's artifacts, compared, and what is missing in them."""

from __future__ import annotations

from dbt_graft.collectors.dbt.review_nodes import review_nodes
from dbt_graft.injector.artifacts import Artifacts
from dbt_graft.lineage.review.compare import compare
from dbt_graft.lineage.review.node_change import NodeReview

_NO_TYPES = "types are compared as far as YAML has them"


def compared(old: Artifacts, new: Artifacts) -> tuple[NodeReview, ...]:
    """The nodes that differ; a version without a catalog borrows that of the other."""
    return compare(
        review_nodes(
            old.manifest, (old if old.has_catalog else new).catalog, borrowed=not old.has_catalog
        ),
        review_nodes(
            new.manifest, (new if new.has_catalog else old).catalog, borrowed=not new.has_catalog
        ),
    )


def missing_parts(old: Artifacts, new: Artifacts) -> tuple[str, ...]:
    """What the comparison could not know."""
    found = [f"the base has no catalog.json: {_NO_TYPES}"] if not old.has_catalog else []
    found += [f"the project has no catalog.json: {_NO_TYPES}"] if not new.has_catalog else []
    others = (one for one in new.notices if new.has_catalog or "catalog.json" not in one)
    return (*found, *others)
