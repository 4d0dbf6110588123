"""A job of the suite, and beside it what a reader of its log must find.

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
(`ml.spend: spent <- …`) in a case that writes several.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Job = Callable[["SparkSession", Path], object]
Version = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ExpectedLineage:
    """What a log tells of a case: its statements, its column edges, and why some are missing."""

    does: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SuiteCase:
    """A job and what its log tells.

    Attributes:
        older: What logs of an older Spark tell instead, by the last version that does.
        extended: What a log with plans in the extended layout tells instead, by its Spark.
        since: The first Spark that can run it.
        workers: It runs Python in workers, which Sparks before 3.4 cannot on today's Python.
    """

    name: str
    job: Job
    tells: ExpectedLineage
    older: Mapping[Version, ExpectedLineage]
    extended: Mapping[Version, Instead]
    since: Version = (0, 0)
    workers: bool = False

    def runs_on(self, version: Version) -> bool:
        """Whether this Spark can run it."""
        return version >= max(self.since, (3, 4) if self.workers else (0, 0))

    def expected(self, version: Version, extended: bool = False) -> ExpectedLineage:
        """What a log of this Spark tells."""
        fits = [last for last in sorted(self.older) if version <= last]
        tells = self.older[fits[0]] if fits else self.tells
        otherwise = self.extended.get(version) if extended else None
        return told(otherwise, tells) if otherwise else tells


@dataclass(frozen=True, slots=True)
class Instead:
    """What a log of an older Spark or in another layout tells otherwise; None: as the others."""

    does: tuple[str, ...] | None = None
    columns: str | None = None
    gaps: str | None = None


CASES: dict[str, SuiteCase] = {}


def case(
    *does: str,
    columns: str = "",
    gaps: str = "",
    older: Mapping[Version, Instead] | None = None,
    extended: Mapping[Version, Instead] | None = None,
    since: Version = (0, 0),
    workers: bool = False,
) -> Callable[[Job], Job]:
    """Make a function a case of the suite under its own name.

    `older` goes from newer versions to older ones, and each tells how it differs from the one
    before it.
    """
    tells = told(Instead(does, columns, gaps))
    others: dict[Version, ExpectedLineage] = {}
    for version, instead in (older or {}).items():
        others[version] = told(instead, next(reversed(others.values()), tells))

    def keep(job: Job) -> Job:
        name = job.__name__
        assert name not in CASES
        CASES[name] = SuiteCase(name, job, tells, others, extended or {}, since, workers)
        return job

    return keep


def told(one: Instead, like: ExpectedLineage | None = None) -> ExpectedLineage:
    """What a log tells, from lines as this module's head describes them."""
    like = like or ExpectedLineage()
    columns = [line for line in (one.columns or "").splitlines() if line.strip()]
    return ExpectedLineage(
        does=like.does if one.does is None else tuple(sorted(one.does)),
        columns=like.columns
        if one.columns is None
        else tuple(sorted(edge for line in columns for edge in _edges(line))),
        gaps=like.gaps if one.gaps is None else tuple(filter(None, [one.gaps])),
    )


def query(name: str, text: str, read: str, columns: str, **more: object) -> None:
    """A case that makes the table `q.<name>` of a query; `read` says its rows and what it reads."""

    def job(spark: SparkSession, _: Path) -> None:
        spark.sql(f"CREATE TABLE q.{name} USING parquet AS {text}")

    job.__name__ = name
    case(f"CREATE TABLE AS q.{name} {read}", columns=columns, **more)(job)  # type: ignore[arg-type]


def _edges(line: str) -> list[str]:
    to, _, sources = line.partition("<-")
    return [f"{to.strip()} <- {one.strip()}" for one in sources.split(",")]
