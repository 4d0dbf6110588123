"""One million captured statements to committed accesses, on Spark with two cores.

An export of Extended Events of 500 shapes, as a busy day of Python tasks leaves it, is made first
(2,000 runs of 50 tasks; about a gigabyte) and is not part of the time. Then the collector reads it
and the store commits. Time, and the most memory that Java and the Python workers took.
"""

from __future__ import annotations

import random
import shutil
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.sax.saxutils import escape

from memory import Memory

from dbt_graft.collectors.engines.session import session
from dbt_graft.collectors.engines.spark import SparkEngine
from dbt_graft.collectors.files import LogPath
from dbt_graft.collectors.sqlserver.collect import collect
from dbt_graft.collectors.sqlserver.listing import Server
from dbt_graft.collectors.store import door as store

EVENTS, SHAPES, TASKS, FILES = 1_000_000, 500, 50, 8
BUILD = Path("build/bench")
START = datetime(2026, 11, 20, 2, 0, tzinfo=UTC)
TEMPLATES = (
    "INSERT INTO dw.dbo.t{n} (a, b, c) SELECT a, b, 'x{v}' FROM crm.dbo.s{n} WHERE d > {v}",
    "exec sp_executesql N'UPDATE t SET t.a = s.a * @P1 FROM dw.dbo.t{n} t JOIN crm.dbo.s{n} s "
    "ON s.id = t.id WHERE t.d = @P2',N'@P1 int,@P2 nvarchar(40)',{v},N'{v}'",
    "MERGE dw.dbo.t{n} AS t USING crm.dbo.s{n} AS s ON t.id = s.id AND t.k = {v} "
    "WHEN MATCHED THEN UPDATE SET t.a = s.a "
    "WHEN NOT MATCHED THEN INSERT (id, a) VALUES (s.id, s.a);",
    "SELECT a, b INTO #work{n} FROM crm.dbo.s{n} WHERE id IN ({v}, {v}, {v}) AND name = N'o''{v}'",
)
EVENT = (
    '<event name="{name}" package="sqlserver" timestamp="{at:%Y-%m-%dT%H:%M:%S}.{ms:03}Z">'
    '<data name="cpu_time"><value>0</value></data><data name="duration"><value>500</value></data>'
    '<data name="physical_reads"><value>0</value></data>'
    '<data name="logical_reads"><value>12</value></data>'
    '<data name="row_count"><value>{rows}</value></data>'
    '<data name="result"><value>0</value><text>OK</text></data>'
    '<data name="{field}"><value>{text}</value></data>'
    '<action name="client_app_name" package="sqlserver"><value>python_task::load_{task}::{run}'
    '</value></action><action name="database_name" package="sqlserver"><value>dw</value></action>'
    '<action name="session_id" package="sqlserver"><value>{session}</value></action>'
    '<action name="event_sequence" package="package0"><value>{n}</value></action></event>\n'
)


def export(folder: Path) -> int:
    """Write the export; its size in bytes."""
    folder.mkdir(parents=True)
    values = random.Random(7)
    for part in range(FILES):
        with (folder / f"lineage_{part}.xml").open("w") as out:
            for n in range(part * EVENTS // FILES, (part + 1) * EVENTS // FILES):
                shape = values.randrange(SHAPES)
                template = TEMPLATES[shape % len(TEMPLATES)]
                text = template.format(n=shape, v=values.randrange(10**9))
                call = text.startswith("exec")
                out.write(
                    EVENT.format(
                        name="rpc_completed" if call else "sql_batch_completed",
                        field="statement" if call else "batch_text",
                        text=escape(text),
                        at=START + timedelta(milliseconds=80 * n),
                        ms=80 * n % 1000,
                        rows=shape,
                        task=shape % TASKS,
                        run=n * 40 // EVENTS,
                        session=51 + shape % TASKS,
                        n=n,
                    )
                )
    return sum(file.stat().st_size for file in folder.iterdir())


def main() -> None:
    """Print size, time and memory."""
    shutil.rmtree(BUILD, ignore_errors=True)
    size = export(BUILD / "xe")
    settings = {"spark.master": "local[2]", "spark.driver.memory": "2g"}
    memory = Memory()
    with session(settings) as spark:
        memory.start()
        start = time.perf_counter()
        logs = LogPath(str(BUILD / "xe"), "xe")
        collected = collect(SparkEngine(spark), logs, Server("mssql://sql01:1433"), {})
        assert collected
        store.commit(str(BUILD / "store"), [collected])
        seconds = time.perf_counter() - start
        memory.done.set()
    records = store.read(str(BUILD / "store"))
    counted = sum(access.statements or 0 for access in records.accesses)
    print(f"spark run   {EVENTS:,} statements of {SHAPES} shapes, {size / 2**20:,.0f} MB of XML")
    print(f"            to {len(records.accesses):,} accesses  {seconds:6.1f} s")
    print(f"            peak memory: Java {memory.most('java'):,.0f} MB", end="")
    print(f", Python workers {memory.most('python'):,.0f} MB")
    print(f"            {counted:,} accesses counted, {len(records.shapes):,} shapes")


if __name__ == "__main__":
    main()
