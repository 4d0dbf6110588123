"""Processes of this machine as an engine: without Spark, and without Java.

Little is read in this process itself, as other processes take longer to start than it takes.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import field, replace
from functools import reduce
from itertools import pairwise
from multiprocessing.context import BaseContext

import pyarrow as pa
import pyarrow.compute as pc

from dbt_graft.collectors.engines.engine import ArrowResults, Work
from dbt_graft.collectors.schema import arrow
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen

# Bytes of logs that one process reads in less time than others take to start.
_SMALL = 4 << 20
# Modules that workers need, loaded once for all of them where the system can fork.
_PRELOADED = (
    "dbt_graft.collectors.openlineage.worker",
    "dbt_graft.collectors.spark.worker",
    "dbt_graft.collectors.sqlserver.assemble",
    "dbt_graft.collectors.sqlserver.runs.folding",
)


@frozen
class LocalEngine:
    """See `Engine`.

    Attributes:
        small: The bytes of logs up to which this process does it all.
    """

    processes: int = field(default_factory=lambda: os.cpu_count() or 1)
    small: int = _SMALL

    def spread(self, rows: pa.Table, partitions: int, size: int) -> LocalRows:
        """See `Engine`."""
        if size <= self.small or rows.num_rows < 2:
            return LocalRows((rows,), 1 if size <= self.small else self.processes)
        # In turns: the first rows are often the longest logs.
        numbers = pa.array(range(rows.num_rows), pa.int64())
        divided = (rows.take(numbers[part::partitions]) for part in range(partitions))
        return LocalRows(tuple(part for part in divided if part.num_rows), self.processes)

    def count(self) -> SharedCount:
        """See `Engine`."""
        return SharedCount()


class SharedCount:
    """A number in memory that this process and its workers share; see `Count`."""

    def __init__(self) -> None:
        self._number = _context().Value("q", 0)

    @property
    def value(self) -> int:
        """See `Count`."""
        return self._number.value

    def add(self, number: int) -> None:
        """See `Count`."""
        with self._number.get_lock():
            self._number.value += number


@frozen
class LocalRows:
    """Arrow tables, one a partition; see `EngineRows`."""

    partitions: tuple[pa.Table, ...]
    processes: int

    def map(self, work: Work, kind: type) -> LocalRows:
        """See `EngineRows`."""
        schema = arrow(kind)
        processes = min(self.processes, len(self.partitions))
        if processes > 1:
            with _pool(work, schema, processes) as pool:
                mapped = tuple(pool.map(_work_on, self.partitions))
        else:
            mapped = tuple(_applied(work, schema, rows) for rows in self.partitions)
        return replace(self, partitions=mapped)

    def union(self, others: pa.Table) -> LocalRows:
        """See `EngineRows`."""
        return replace(self, partitions=(*self.partitions, others))

    def group(self, by: Sequence[str], apart: str, order: Sequence[str]) -> LocalRows:
        """See `EngineRows`."""
        rows = self.gather()
        rows = rows.sort_by([(column, "ascending") for column in (*by, apart, *order)])
        cuts = [0, *_cuts(rows, by, apart, self.processes), rows.num_rows]
        parted = tuple(rows.slice(start, end - start) for start, end in pairwise(cuts))
        return replace(self, partitions=parted)

    def gather(self) -> pa.Table:
        """See `EngineRows`."""
        return pa.concat_tables(self.partitions, promote_options="default")

    def results(self) -> ArrowResults:
        """See `EngineRows`."""
        return ArrowResults(self.gather())


def _cuts(rows: pa.Table, by: Sequence[str], apart: str, parts: int) -> list[int]:
    """The rows, in order, at which the next partition begins; about as many follow each."""
    is_unnamed = pc.equal(rows[by[-1]], pa.scalar(""))
    keys = [*(rows[column] for column in by), pc.if_else(is_unnamed, rows[apart], "")]
    columns = [pc.fill_null(key, "") for key in keys]
    is_another = [pc.not_equal(column[1:], column[:-1]) for column in columns]
    begins = [row + 1 for row in pc.indices_nonzero(reduce(pc.or_, is_another)).to_pylist()]
    places = (bisect_left(begins, rows.num_rows * part // parts) for part in range(1, parts))
    return sorted({begins[place] for place in places if place < len(begins)})


def _applied(work: Work, schema: pa.Schema, rows: pa.Table) -> pa.Table:
    return pa.Table.from_batches(work(iter(rows.to_batches())), schema)


def _context() -> BaseContext:
    """Workers by a server that forks, where there is one: they start with their modules."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*_PRELOADED])
    return context


@contextmanager
def _pool(work: Work, schema: pa.Schema, processes: int) -> Iterator[ProcessPoolExecutor]:
    """A pool for one kind of work; after an error, such as Ctrl-C, its processes are ended."""
    before = {*multiprocessing.active_children()}
    pool = ProcessPoolExecutor(processes, _context(), _start, (work, schema))
    try:
        yield pool
    except BaseException as error:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in {*multiprocessing.active_children()} - before:
            process.kill()
        if isinstance(error, BrokenProcessPool):
            raise GraftError(
                "a process that read logs was ended by the system: it needs more memory, maybe",
                remedy="free some, or read with Spark: `engine: spark` in graft.yml",
            ) from error
        raise
    pool.shutdown()


# The work of this process and the class of its results, set once where it is a worker.
_work: tuple[Work, pa.Schema]


def _start(work: Work, schema: pa.Schema) -> None:
    global _work
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # its parent decides
    _work = work, schema


def _work_on(rows: pa.Table) -> pa.Table:
    return _applied(*_work, rows)
