"""Events a second out of .xel files on one core, beside the least that any reader has to do.

Two files of 400,000 events are made first: parameterised inserts and batches of 300 shapes with the
actions of a capture for lineage; of the first a tenth is the tasks' own, of the second all. The
limit is reading the bytes and verifying each block's checksum. Time is the processor's.
"""

from __future__ import annotations

import random
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.report import Report
from dbt_graft.collectors.files import log_files
from dbt_graft.collectors.sqlserver.event import EventFilter, ExtendedEvent, FileSplit
from dbt_graft.collectors.sqlserver.files.xel.blocks import Block, blocks, sector_size
from dbt_graft.collectors.sqlserver.files.xel.read import open_log, read_xel, xel_splits
from tests.collectors.sqlserver.xel_session import BASE
from tests.collectors.sqlserver.xel_writer import UNIX_EPOCH, Template, write_records

EVENTS, SHAPES, TASKS = 400_000, 300, 50
BUILD = Path("build/bench-xel")
START = BASE - UNIX_EPOCH
VALUE = "########"
READS = {"cpu_time": 0, "physical_reads": 0, "logical_reads": 12, "writes": 1, "row_count": 1}
OTHERS = ("Microsoft SQL Server Management Studio - Query", "SQLAgent - Job", "Shop.Web", "jTDS")


def template(shape: int, application: str) -> Template:
    """An event of a shape, with a value and times to be filled in."""
    actions = {
        "client_app_name": application,
        "client_hostname": f"etl{shape % 4:02}",
        "database_id": 7,
        "database_name": "dw",
        "event_sequence": 0,
        "session_id": 51,
        "username": f"svc_{application[:6].lower()}",
        "attach_activity_id": f"329B2676-060B-4760-8698-{shape:012X}-1",
    }
    if shape % 10:
        insert = f"INSERT INTO dw.dbo.t{shape} (a, b, c) VALUES (@P1, @P2, @P3)"
        text = f"exec sp_executesql N'{insert}',N'@P1 int,@P2 int,@P3 nvarchar(20)',{VALUE},1,N'x'"
        data = {**READS, "object_name": "sp_executesql", "statement": text, "duration": 180}
        return Template(ExtendedEvent("rpc_completed", START, data, actions), [VALUE])
    text = f"SELECT a, b INTO #w{shape} FROM crm.dbo.s{shape} WHERE a = 'x' AND d > {VALUE}"
    data = {**READS, "batch_text": text, "duration": 900}
    return Template(ExtendedEvent("sql_batch_completed", START, data, actions), [VALUE])


def make(path: Path, share: float) -> None:
    """Write a file in which this share of the events is of tasks."""
    chance = random.Random(7)
    tasks = [template(n, f"python_task::load_{n % TASKS}::{n // TASKS}") for n in range(SHAPES)]
    others = [template(n, OTHERS[n % len(OTHERS)]) for n in range(SHAPES)]

    def records() -> Iterator[bytes]:
        for n in range(EVENTS):
            one = chance.choice(tasks if chance.random() < share else others)
            yield one(START + n * 8_000, n, 51 + n % 40, {VALUE: f"{chance.randrange(10**8):08}"})

    write_records(path, records(), block=1 << 20)


def verified(part: FileSplit) -> int:
    """The limit: bytes read and verified."""
    with open_log(part.url) as file:
        found = list(blocks(file, file.size(), sector_size(file), max(0x200, part.start), part.end))
    return sum(len(block.data) for block in found if isinstance(block, Block))


def decoded(wanted: EventFilter) -> Callable[[FileSplit], int]:
    """Ours: the events that are wanted."""
    return lambda part: sum(len(chunk.events) for chunk in read_xel(part, wanted))


def measure(path: Path, work: Callable[[FileSplit], int]) -> tuple[float, int]:
    """Seconds of the processor, the best of three, and what was counted."""
    (log,) = log_files(str(path), path.name)
    cut = xel_splits(log)
    best, count = float("inf"), 0
    for _ in range(3):
        start = time.process_time()
        count = sum(map(work, cut))
        best = min(best, time.process_time() - start)
    return best, count


def main() -> None:
    """Report events a second for each way to read."""
    report = Report("Events out of .xel files", "benchmarks/xel/bench_decode.py")
    shutil.rmtree(BUILD, ignore_errors=True)
    BUILD.mkdir(parents=True)
    is_task = EventFilter(
        frozenset({"rpc_completed", "sql_batch_completed"}),
        lambda name: name.startswith("python_task::"),
    )
    for share in (0.1, 1.0):
        path = BUILD / f"tasks_{share:.0%}.xel".replace("%", "")
        make(path, share)
        size = path.stat().st_size / 2**20
        title = f"{EVENTS:,} events, {size:,.0f} MB, {share:.0%} of tasks, one core"
        report.table(title, "events/s", "MB/s", "counted")
        for name, work in (
            ("limit: bytes and checksums", verified),
            ("ours: only the tasks' events", decoded(is_task)),
            ("ours: every event", decoded(EventFilter())),
        ):
            seconds, count = measure(path, work)
            speeds = (EVENTS / seconds, size / seconds, count)
            report.row(name, *(f"{speed:,.0f}" for speed in speeds))
    report.write()


if __name__ == "__main__":
    main()
