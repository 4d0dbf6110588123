"""Checks of datasets in events, which may be tests of dbt.

An event names a check by its dataset, its kind and its column. Which test of dbt that is, only the
manifest knows (`injector.checks`): until then the result has an id made of these, in the place of
dbt's unique_id.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.names import Rename
from dbt_graft.lineage.records import NodeResult

# The ids of checks begin with this.
CHECK = "check:"


class Check(NamedTuple):
    """A check of a dataset.

    Attributes:
        dataset: None where the event does not say which one.
        kind: `not_null`, `unique`…; may be empty.
        column: Empty for a check of the table.
        name: Its own name, `not_null_orders_id`; may be empty.
    """

    dataset: DatasetId | None
    kind: str
    column: str = ""
    name: str = ""

    @property
    def id(self) -> str:
        """The id of the check, in the place of dbt's unique_id."""
        parts = [self.dataset.namespace, self.dataset.name] if self.dataset else []
        return CHECK + json.dumps([self.kind, self.column, self.name, *parts])


def check_of(node_id: str) -> Check | None:
    """The check of an id; None of one that is dbt's."""
    if not node_id.startswith(CHECK):
        return None
    kind, column, name, *parts = json.loads(node_id.removeprefix(CHECK))
    return Check(DatasetId(*parts) if parts else None, kind, column, name)


def rename_checks(results: Iterable[NodeResult], rename: Rename) -> Iterator[NodeResult]:
    """The results, those of checks under the names of datasets that the rules give."""
    for result in results:
        check = check_of(result.node_id)
        if check is None or check.dataset is None:
            yield result
        else:
            yield replace(result, node_id=check._replace(dataset=rename(check.dataset)).id)
