"""Code that is not what runs: the code of tasks in the repository, against what logs show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dbt_graft.analysis.checks.drift import ENOUGH
from dbt_graft.analysis.finding import Finding
from dbt_graft.analysis.rule import CODE_DRIFT
from dbt_graft.lineage.model import Lineage

_REMEDY = "deploy what the repository has, or bring there what runs"


def code_drift(
    lineage: Lineage, owners: Mapping[str, str], enough: int = ENOUGH
) -> Iterator[Finding]:
    """The differences between the code of tasks and their logs.

    Args:
        enough: So many runs must be known before it counts that none did what the code has.
    """
    for name, match in lineage.codes.items():
        runs = lineage.tasks[name].run_count if name in lineage.tasks else 0
        for difference in match.differences:
            if difference.is_seen or runs >= enough:
                subject = f"{difference.dataset}: " if difference.dataset else ""
                yield CODE_DRIFT.finding(
                    name,
                    f"{subject}{difference.problem}",
                    _REMEDY,
                    owners.get(name, ""),
                    str(difference.place),
                )
