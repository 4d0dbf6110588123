"""A job of the suite, and beside it the lineage that its log must have.

What a job does is written as the lineage store has it, one line for each kind of statement:

    INSERT ml.spend 3 <- raw.customers 3, raw.orders 6

is the operation, what it wrote, `<-`, what it read, each with its rows where Spark counts them.
`2 x` before it: two such statements, rows of both together. `failed` before it: it failed.
Datasets: `raw.orders` in Spark's catalog, `/landing/orders` below the folder of the run, others
with their namespace (`jdbc/APP.PEOPLE`). Columns are lines too:

    spent <- raw.orders.amount AGGREGATION, raw.orders.dt CONDITIONAL
    *     <- raw.orders.customer_id GROUP_BY

where no word behind a source means IDENTITY, `masked` that the value cannot be read any more, and
`*` all rows (what decides on them) or all columns. The target's dataset stands before its column
(`ml.spend: spent <- …`) in a case that writes several. Columns that the lineage connects through
the task's memory, because their names are equal, are `inferred`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dbt_graft.lineage.frozen import frozen

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Job = Callable[["SparkSession", Path], object]
Version = tuple[int, int]


@frozen
class ExpectedLineage:
    """The lineage of a case: its statements, its column edges, the inferred ones, and the gaps."""

    does: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    inferred: tuple[str, ...] = ()


@frozen
class SuiteCase:
    """A job and the lineage in its log.

    Attributes:
        older: The lineage in logs of an older Spark, by the last version with it.
        extended: The lineage in logs with plans in the extended layout, by Spark's version.
        since: The first Spark that can run it.
        workers: It runs Python in workers, which Sparks before 3.4 cannot on today's Python.
    """

    name: str
    job: Job
    lineage: ExpectedLineage
    older: Mapping[Version, ExpectedLineage]
    extended: Mapping[Version, Instead]
    since: Version = (0, 0)
    workers: bool = False

    def runs_on(self, version: Version) -> bool:
        """Whether this Spark can run it."""
        return version >= max(self.since, (3, 4) if self.workers else (0, 0))

    def expected(self, version: Version, extended: bool = False) -> ExpectedLineage:
        """The lineage in a log of this Spark."""
        fits = [last for last in sorted(self.older) if version <= last]
        lineage = self.older[fits[0]] if fits else self.lineage
        otherwise = self.extended.get(version) if extended else None
        return expected_lineage(otherwise, lineage) if otherwise else lineage


@frozen
class Instead:
    """Differences in a log of an older Spark or in another layout; None: no difference."""

    does: tuple[str, ...] | None = None
    columns: str | None = None
    gaps: str | None = None
    inferred: str | None = None


CASES: dict[str, SuiteCase] = {}


def case(
    *does: str,
    columns: str = "",
    gaps: str = "",
    inferred: str = "",
    older: Mapping[Version, Instead] | None = None,
    extended: Mapping[Version, Instead] | None = None,
    since: Version = (0, 0),
    workers: bool = False,
    cases: dict[str, SuiteCase] = CASES,
) -> Callable[[Job], Job]:
    """Make a function a case of the suite, or of other cases, under its own name.

    `older` goes from newer versions to older ones, and each has the differences to the one
    before it.
    """
    lineage = expected_lineage(Instead(does, columns, gaps, inferred))
    others: dict[Version, ExpectedLineage] = {}
    for version, instead in (older or {}).items():
        others[version] = expected_lineage(instead, next(reversed(others.values()), lineage))

    def keep(job: Job) -> Job:
        name = job.__name__
        assert name not in cases
        cases[name] = SuiteCase(name, job, lineage, others, extended or {}, since, workers)
        return job

    return keep


def expected_lineage(instead: Instead, like: ExpectedLineage | None = None) -> ExpectedLineage:
    """The lineage of lines as the docstring of this module describes them."""
    like = like or ExpectedLineage()
    return ExpectedLineage(
        does=like.does if instead.does is None else tuple(sorted(instead.does)),
        columns=like.columns if instead.columns is None else _all_edges(instead.columns),
        gaps=like.gaps if instead.gaps is None else tuple(filter(None, [instead.gaps])),
        inferred=like.inferred if instead.inferred is None else _all_edges(instead.inferred),
    )


def query(name: str, text: str, read: str, columns: str, **more: object) -> None:
    """A case that makes the table `q.<name>` of a query; `read` says its rows and what it reads."""

    def job(spark: SparkSession, _: Path) -> None:
        spark.sql(f"CREATE TABLE q.{name} USING parquet AS {text}")

    job.__name__ = name
    case(f"CREATE TABLE AS q.{name} {read}", columns=columns, **more)(job)  # type: ignore[arg-type]


def _all_edges(text: str) -> tuple[str, ...]:
    lines = [line for line in text.splitlines() if line.strip()]
    return tuple(sorted(edge for line in lines for edge in _edges(line)))


def _edges(line: str) -> list[str]:
    to, _, sources = line.partition("<-")
    return [f"{to.strip()} <- {one.strip()}" for one in sources.split(",")]
