"""What a command did, for people and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from lineage.records import Reject

_SHOWN_REASONS = 5


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts of what there is now, and where it lies; None for what a command does not touch.

    Attributes:
        new_logs: Logs read by this command.
        runs: Runs of the Python tasks.
        rejects: Pieces of logs that could not be used.
    """

    store: str
    new_logs: int | None = None
    tasks: int | None = None
    runs: int | None = None
    datasets: int | None = None
    flows: int | None = None
    promoted: int | None = None
    added: int | None = None
    new_sources: int | None = None
    second_writers: int | None = None
    cycles: int | None = None
    rejects: tuple[Reject, ...] = ()
    artifacts: str | None = None
    site: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The summary as JSON values."""
        return {
            **{key: value for key, value in asdict(self).items() if value is not None},
            "rejected": len(self.rejects),
        }

    def __str__(self) -> str:
        lines = []
        if self.new_logs is not None:
            lines.append(("new logs", f"{self.new_logs:,}"))
        if self.tasks is not None:
            lines.append(("tasks", f"{self.tasks:,} in {self.runs:,} runs"))
            lines.append(("datasets", f"{self.datasets:,}, {self.flows:,} flows between them"))
        if self.promoted is not None:
            lines.append(("promoted", f"{self.promoted:,} sources are models now"))
            lines.append(
                ("new", f"{self.added:,} models, {self.new_sources:,} sources unknown to dbt")
            )
        if self.second_writers:
            lines.append(("conflicts", f"{self.second_writers:,} datasets that dbt writes too"))
        if self.cycles:
            lines.append(("cycles", f"{self.cycles:,}, each broken where it closed last"))
        lines.append(("rejected", f"{len(self.rejects):,}{_reasons(self.rejects)}"))
        if self.artifacts:
            lines.append(("artifacts", self.artifacts))
        if self.site:
            lines.append(("site", self.site))
        return "\n".join(f"{name:<10}{text}" for name, text in lines)


def _reasons(rejects: Iterable[Reject]) -> str:
    counts = Counter(reject.reason for reject in rejects)
    shown = [f"\n{'':<12}{count:,} × {text}" for text, count in counts.most_common(_SHOWN_REASONS)]
    if len(counts) > _SHOWN_REASONS:
        shown.append(f"\n{'':<12}and {len(counts) - _SHOWN_REASONS} more reasons")
    return "".join(shown)
