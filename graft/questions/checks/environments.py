"""Tasks that write the same names in several places: two environments under one task name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.analysis.render.phrases import join_names
from dbt_graft.analysis.rule import matches_any
from dbt_graft.lineage.dataset import Kind
from dbt_graft.lineage.names import Rename
from dbt_graft.lineage.records import Direction, Evidence, Records


def find_mixed_environments(
    records: Records, rename: Rename, accept: Sequence[str]
) -> Iterator[Finding]:
    """The tasks that write the same names in several namespaces.

    Args:
        rename: The name of a dataset by the rules of graft.yml.
        accept: Patterns of names of tasks that may.
    """
    places: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for access in records.accesses:
        if (
            access.direction is Direction.WRITE
            and access.evidence is Evidence.OBSERVED
            and access.kind is not Kind.TEMPORARY
        ):
            dataset = rename(access.dataset)
            places[access.task][dataset.name.casefold()].add(dataset.namespace)
    for task, names in sorted(places.items()):
        mixed = sorted(name for name, namespaces in names.items() if len(namespaces) > 1)
        if mixed and not matches_any([task], accept):
            yield Finding(
                "MIXED_ENVIRONMENTS",
                Severity.WARNING,
                task,
                f"writes {join_names(mixed)} in each of "
                f"{join_names(sorted(names[mixed[0]]))}: if these are environments, such as "
                "development and production, their lineage is mixed",
                "read the logs of one environment, and keep a graft.yml with a store of its own "
                "for each; if it shall be so, name the task in `check: {accept: […]}`",
            )
