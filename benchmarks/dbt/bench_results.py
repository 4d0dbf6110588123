"""Results of dbt into the store and back, beside dbt-artifacts-parser on the same file.

One run of 9,000 models and 40,000 tests; then 100 runs of a tenth of that, whose memory is compared
with that of 10, and which are read back. Each is a process of its
own. Limits: twice the parser's seconds, and 1.5 times the memory of 10 runs.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.report import Report  # noqa: E402

MODELS, TESTS, RUNS = 9_000, 40_000, 100
SQL = "select " + ", ".join(f"a.column_{n} as column_{n}" for n in range(30)) + " from raw.a as a"
MEASURED = """
import json, resource, sys, time
began = time.perf_counter()
{work}
seconds = time.perf_counter() - began
print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""
COLLECT = """
from dbt_graft.collectors.store import door as store
from dbt_graft.collectors.dbt.source import results_source
source = results_source({runs!r}, "runs")
began = time.perf_counter()
store.commit({place!r}, source.read({{}}), {{}})
"""
PARSE = """
from dbt_artifacts_parser.parser import parse_run_results
began = time.perf_counter()
parse_run_results(json.loads(open({path!r}).read()))
"""
READ = """
from dbt_graft.collectors.store import door as store
began = time.perf_counter()
store.read({place!r}, results={results})
"""


def measured(work: str) -> tuple[float, float]:
    """Seconds and the highest memory in MB of a process that does some work."""
    code = MEASURED.format(work=work)
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    seconds, memory = json.loads(done.stdout)
    return seconds, memory


def write_run(folder: Path, number: int, models: int, tests: int) -> Path:
    """The results of one run, as dbt writes them."""
    ids = [f"model.shop.model_{n:05}" for n in range(models)]
    ids += [f"test.shop.not_null_model_{n:05}_id.{n:010x}" for n in range(tests)]
    results = [
        {
            "status": "pass" if node.startswith("test.") else "success",
            "timing": [
                {
                    "name": name,
                    "started_at": f"2026-11-20T{number % 24:02}:00:01.000000Z",
                    "completed_at": f"2026-11-20T{number % 24:02}:00:02.000000Z",
                }
                for name in ("compile", "execute")
            ],
            "thread_id": "Thread-1 (worker)",
            "execution_time": 1.5,
            "adapter_response": {"_message": "INSERT 0 12", "code": "INSERT", "rows_affected": 12},
            "message": "INSERT 0 12",
            "failures": 0 if node.startswith("test.") else None,
            "unique_id": node,
            "compiled": True,
            "compiled_code": SQL,
            "relation_name": '"dwh"."mart"."model"',
            "batch_results": None,
        }
        for node in ids
    ]
    version = "https://schemas.getdbt.com/dbt/run-results/v6.json"
    metadata = {
        "dbt_schema_version": version,
        "dbt_version": "1.11.0",
        "generated_at": "2026-11-20T05:00:00Z",
        "invocation_id": f"run-{number}",
        "env": {},
    }
    folder.mkdir(exist_ok=True)
    path = folder / f"{number}.json"
    document = {"metadata": metadata, "results": results, "elapsed_time": 1.0, "args": {}}
    path.write_text(json.dumps(document))
    return path


def main() -> int:
    """Report the figures; return 1 if a limit is exceeded."""
    report = Report("Results of dbt", "benchmarks/dbt/bench_results.py")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = write_run(folder / "one", 0, MODELS, TESTS)
        size = path.stat().st_size / 1_000_000
        report.say(f"One run of {MODELS:,} models and {TESTS:,} tests ({size:.0f} MB).")
        collect = {"runs": str(path.parent), "place": str(folder / "store")}
        ours, memory = measured(COLLECT.format(**collect))
        theirs, their_memory = measured(PARSE.format(path=str(path)))
        report.table("one run", "seconds", "memory in MB")
        report.row("read and written to the store", f"{ours:.1f}", f"{memory:.0f}")
        report.row("only parsed by dbt-artifacts-parser", f"{theirs:.1f}", f"{their_memory:.0f}")

        peaks = []
        for runs in (RUNS // 10, RUNS):
            for number in range(runs):
                write_run(folder / f"{runs}", number, MODELS // 10, TESTS // 10)
            place = str(folder / f"store_{runs}")
            seconds, peak = measured(COLLECT.format(runs=str(folder / f"{runs}"), place=place))
            peaks.append(peak)
            if runs == RUNS // 10:
                report.table("runs of a tenth of that", "seconds", "memory in MB")
            report.row(f"{runs} collected", f"{seconds:.1f}", f"{peak:.0f}")
        for what, results in (("without results: `graft inject`", False), ("for pages", True)):
            seconds, peak = measured(READ.format(place=place, results=results))
            report.row(f"{RUNS} read back, {what}", f"{seconds:.2f}", f"{peak:.0f}")
    report.write()
    return int(ours > 2 * theirs or peaks[1] > 1.5 * peaks[0])


if __name__ == "__main__":
    sys.exit(main())
