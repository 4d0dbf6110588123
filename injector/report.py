"""What a graft did and decided, for people (`graft inject`) and, as JSON, for machines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer, Description
from dbt_graft.lineage.model import Lineage


@dataclass(frozen=True, slots=True)
class Built:
    """A dataset that tasks write, or a view, and the dbt node that stands for it.

    Attributes:
        tasks: Who writes it; none for a view that only its definition makes.
        sources: The dbt sources the node replaces; empty unless it was promoted.
    """

    node_id: str
    name: str
    dataset: DatasetId
    tasks: tuple[str, ...]
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Read:
    """A node made for what tasks read: a new source, or an exposure for a read-only task.

    Attributes:
        views: The views that are made of it.
    """

    node_id: str
    name: str
    dataset: DatasetId | None
    tasks: tuple[str, ...]
    views: tuple[DatasetId, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """An edge on a cycle; `tasks` is empty where dbt's own code makes it."""

    source: str
    target: str
    tasks: tuple[str, ...] = ()
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Cycle:
    """A cycle of dbt node ids that was broken by leaving out its last step."""

    steps: tuple[Step, ...]

    @property
    def left_out(self) -> Step:
        """The step that closed the cycle and is in no artifact."""
        return self.steps[-1]

    @property
    def path(self) -> str:
        """`a -> b -> a`"""
        return " -> ".join([self.steps[0].source, *(step.target for step in self.steps)])


@dataclass(frozen=True, slots=True)
class SelfRead:
    """A task that reads and writes one dataset: it gets no edge to itself."""

    task: str
    dataset: DatasetId


@dataclass(frozen=True, slots=True)
class Finding:
    """A defect in dbt artifacts: the rule's id, the node or name it concerns, and words."""

    rule: str
    subject: str
    text: str


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """A name that could mean more than one thing, and what.

    Attributes:
        candidates: Node ids that have one relation, of which the first stands for it; or the
            relations, as datasets, that a log's short name could mean, of which none does.
    """

    dataset: DatasetId
    candidates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Renamed:
    """A node whose name was taken."""

    wanted: str
    given: str


@dataclass(frozen=True, slots=True)
class Report:
    """Everything a graft did.

    Attributes:
        promoted: Sources that became models, because tasks write them.
        added: New models for what tasks write and dbt did not know.
        new_sources: New sources for what tasks only read and dbt did not know.
        exposures: Read-only tasks.
        second_writers: dbt builds the dataset, and tasks write it too: dbt's node stays as it is.
        shared: More than one task writes the dataset.
        cycles: Cycles and the edges that were left out to break them.
        ambiguous: Names that could mean more than one thing.
        renamed: Nodes whose name was taken.
        notices: What else a person should know.
        findings: Defects that dbt's artifacts already had.
    """

    promoted: tuple[Built, ...] = ()
    added: tuple[Built, ...] = ()
    new_sources: tuple[Read, ...] = ()
    exposures: tuple[Read, ...] = ()
    second_writers: tuple[Built, ...] = ()
    shared: tuple[Built, ...] = ()
    cycles: tuple[Cycle, ...] = ()
    self_reads: tuple[SelfRead, ...] = ()
    ambiguous: tuple[Ambiguous, ...] = ()
    renamed: tuple[Renamed, ...] = ()
    notices: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The report as JSON values; a dataset is written `namespace/name`."""
        report: dict[str, Any] = _plain(asdict(self))
        return report


@dataclass(frozen=True)
class Grafted:
    """dbt's artifacts with the lineage on them, and what every other face needs of dbt.

    Attributes:
        describe: Gives `descriptions`; asked for once, by those who need them.
        consume: Gives `consumers`.
        touched: What the logs tell, and what dbt knows of these datasets.
        join: Gives `lineage`.
        undo: File name -> what leads back to dbt's values, see `injector.undo`; None for a file
            that dbt did not write.
    """

    manifest: dict[str, Any]
    catalog: dict[str, Any]
    describe: Callable[[], Mapping[DatasetId, Description]]
    consume: Callable[[], tuple[Consumer, ...]]
    touched: Lineage
    join: Callable[[], Lineage]
    report: Report
    undo: Mapping[str, list[dict[str, Any]] | None]

    @cached_property
    def descriptions(self) -> Mapping[DatasetId, Description]:
        """What dbt says of each dataset it knows after the graft."""
        return self.describe()

    @cached_property
    def consumers(self) -> tuple[Consumer, ...]:
        """dbt's exposures, and the tasks that only read."""
        return self.consume()

    @cached_property
    def lineage(self) -> Lineage:
        """What the logs tell and all of dbt's own lineage, in one.

        Nothing is left out, not even what was left out of the manifest to break a cycle.
        """
        return self.join()

    @property
    def redirects(self) -> dict[str, str]:
        """Promoted source's unique_id -> unique_id of the model it became."""
        return {source: built.node_id for built in self.report.promoted for source in built.sources}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        if value.keys() == {"namespace", "name", "key"}:
            return f"{value['namespace']}/{value['name']}"
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
