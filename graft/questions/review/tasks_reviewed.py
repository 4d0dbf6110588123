"""The tasks and contracts of a review, and what could not be compared of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from dbt_graft.analysis.review.node_change import NodeReview
from dbt_graft.analysis.review.task_version import TaskVersion
from dbt_graft.lineage.frozen import frozen


@frozen
class TasksReviewed:
    """The tasks that changed, and what could not be compared.

    Attributes:
        now: What those do that ran since the base.
        files: Declared task -> its file, of this version or else of the base.
    """

    nodes: tuple[NodeReview, ...] = ()
    notices: tuple[str, ...] = ()
    now: Mapping[str, TaskVersion] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
