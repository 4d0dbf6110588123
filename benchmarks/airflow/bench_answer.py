"""The time in which graft_airflow answers for one task, with a file of 5,000.

Airflow makes each event in a process of its own, so nothing is in memory yet: each answer is the
first of its process. Most of it is reading the bytes of the file; Airflow itself allows 10 s.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.report import Report  # noqa: E402
from dbt_graft.exporters.airflow_lineage import lines  # noqa: E402

TASKS, COLUMNS, TIMES = 5_000, 20, 15
PYTHON = ROOT / "build/airflow-3/bin/python"
# The first answer of a process that has Airflow's modules in memory, as a worker's does.
ANSWER = """
import sys, time
from types import SimpleNamespace
from airflow.providers.openlineage.extractors.manager import ExtractorManager
import graft_airflow.extractors, graft_airflow.facets
operator = SimpleNamespace(dag_id="shop", task_id=sys.argv[1], task_type="SSHOperator",
                           params={}, inlets=[], outlets=[])
start = time.perf_counter()
found = graft_airflow.extractors.GraftSSHExtractor(operator).extract()
print(time.perf_counter() - start, len(found.outputs))
"""
PARSED = "import json, sys, time; s = time.perf_counter(); json.load(open(sys.argv[1])); "
PARSED += "print(time.perf_counter() - s)"


def document() -> dict[str, object]:
    """Tasks with three inputs and two outputs of 20 columns each."""

    def dataset(number: int) -> dict[str, str]:
        name = f"Shop.dbo.Table{number % TASKS}"
        return {"namespace": "mssql://crm:1433", "name": name, "evidence": "observed"}

    def output(number: int) -> dict[str, object]:
        how = {"type": "DIRECT", "subtype": "IDENTITY", "description": "", "masking": False}
        source = {**dataset(number + 1), "transformations": [how]}
        source.pop("evidence")
        names = [f"column_{n}" for n in range(COLUMNS)]
        fields = {name: [{**source, "field": name}] for name in names}
        columns = [{"name": name, "type": "nvarchar(50)"} for name in names]
        return {**dataset(number), "columns": columns, "column_lineage": {"fields": fields}}

    tasks = {
        f"load_{n}": {
            "last_at": "2026-11-22T03:00:00Z",
            "evidence": ["observed"],
            "inputs": [dataset(n + k) for k in (1, 2, 3)],
            "outputs": [output(n), output(n + 7)],
        }
        for n in range(TASKS)
    }
    head = {"version": 1, "producer": "dbt-graft", "as_of": "2026-11-22T05:00:00Z"}
    return {**head, "jobs": {}, "models": {}, "tasks": tasks, "datasets": {}}


def milliseconds(*command: str, lineage: Path) -> float:
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "AIRFLOW__GRAFT__LINEAGE": str(lineage),
        "AIRFLOW_HOME": str(lineage.parent),
    }
    found = []
    for _ in range(TIMES):
        done = subprocess.run(
            [str(PYTHON), "-c", *command], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        found.append(float(done.stdout.split()[-2 if len(done.stdout.split()) > 1 else -1]))
    return statistics.median(found) * 1000


def main() -> None:
    if not PYTHON.exists():
        print("skipped: `make airflow` installs Airflow")
        return
    script = "benchmarks/airflow/bench_answer.py"
    report = Report("Lineage inside Airflow", script)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "lineage.json"
        file.write_text("\n".join(lines(document())) + "\n")
        size = file.stat().st_size / 1e6
        report.say(
            f"A lineage file of {TASKS:,} tasks, {size:.0f} MB, with the columns of two outputs "
            f"each; the median of {TIMES} processes, each with its first answer, in ms."
        )
        report.table("", "ms")
        for name, task in (("first task of the file", "load_0"), ("last", f"load_{TASKS - 1}")):
            report.row(f"event of the {name}", f"{milliseconds(ANSWER, task, lineage=file):.1f}")
        report.row("event of a task not in it", f"{milliseconds(ANSWER, 'x', lineage=file):.1f}")
        parsed = milliseconds(PARSED, str(file), lineage=file)
        report.row("for comparison: parsing all of it", f"{parsed:.1f}")
        json.loads(file.read_text())
    report.write()


if __name__ == "__main__":
    main()
