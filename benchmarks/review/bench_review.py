"""`graft review` of a project in which one model has changed: processor time of the command.

The first review builds the impact index and parses what it needs; the second is what a pull request
pays. `CI` compiles its version for a schema of its own, in which all compiled SQL is another text.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.report import Report
from benchmarks.review.versions import write_version

BUILD = Path("build/bench/review")
LIMITS = {1_000: 2.5, 5_000: 6.0}
_TIMES = 3


def main() -> int:
    """Report the figures; return 1 where a limit is missed."""
    report = Report("Review", "benchmarks/review/bench_review.py")
    report.say(
        "`graft review` of a project of which one model has another filter, in seconds of "
        f"processor time: the first one, and the best of {_TIMES} after it."
    )
    report.table("models", "first", "then", "limit", "CI's schema: first", "then")
    missed = False
    for models, limit in LIMITS.items():
        folder = BUILD / f"{models}-models"
        shutil.rmtree(folder, ignore_errors=True)
        write_version(folder / "base", models, schema="analytics")
        figures = []
        for target, schema in (("target", "analytics"), ("ci", "pr_12")):
            write_version(folder / target, models, schema=schema, changed=models // 2 + 5)
            (folder / "graft.yml").write_text(f"dbt: {{project_dir: ., target_dir: {target}}}\n")
            shutil.rmtree(folder / ".graft", ignore_errors=True)
            figures.append(_seconds(folder))
            figures.append(min(_seconds(folder) for _ in range(_TIMES)))
        missed |= max(figures[1], figures[3]) > limit
        first, then, *in_ci = (f"{seconds:.1f}" for seconds in figures)
        report.row(f"{models:,}", first, then, f"{limit:.1f}", *in_ci)
    report.write()
    return int(missed)


def _seconds(folder: Path) -> float:
    """The processor time of a review, which must find the one change."""
    before = _used()
    graft = str(Path(sys.executable).with_name("graft"))
    command = [graft, "review", "--base", str(folder / "base"), "-c", str(folder / "graft.yml")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert ": 1 of rows\n" in done.stdout, done.stdout[:500]
    return _used() - before


def _used() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    sys.exit(main())
