"""`graft impact` and `graft show` of a dbt project: processor time of the command.

The first one parses each model. After a change of anything the index is made again, and the columns
come from the file that builds and earlier answers keep; an answer after that has the index, too.
So has `show`, which reads all of the lineage: at most a second.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.report import Report
from benchmarks.review.versions import write_version
from dbt_graft.graft.project.index_files import IMPACT_FILE

BUILD = Path("build/bench/impact-models")
# Models -> the seconds without an index.
LIMITS = {1_000: 2.5, 10_000: 10.0}
SHOW_SECONDS = 1.0
IMPACT, SHOW = ("impact", "m5", "--change", "rows"), ("show", "m5")


def main() -> int:
    """Report the figures; return 1 where a limit is missed."""
    report = Report("Impact of dbt's models", "benchmarks/impact/bench_models.py")
    report.say(
        "`graft impact`, and `graft show` after it, of a project without logs, in seconds of "
        "processor time."
    )
    report.table("models", "first", "without an index", "limit", "then", "`show`", "limit")
    missed = False
    for models, limit in LIMITS.items():
        folder = BUILD / f"{models}-models"
        shutil.rmtree(folder, ignore_errors=True)
        write_version(folder / "target", models, schema="analytics")
        (folder / "graft.yml").write_text("dbt: {project_dir: ., target_dir: target}\n")
        first = _seconds(folder, IMPACT)
        (folder / ".graft/artifacts" / IMPACT_FILE).unlink()
        again, then, show = (_seconds(folder, each) for each in (IMPACT, IMPACT, SHOW))
        missed |= again > limit or show > SHOW_SECONDS
        seconds = (first, again, limit, then, show, SHOW_SECONDS)
        report.row(f"{models:,}", *(f"{figure:.1f}" for figure in seconds))
    report.write()
    return int(missed)


def _seconds(folder: Path, arguments: Sequence[str]) -> float:
    before = _used()
    graft = str(Path(sys.executable).with_name("graft"))
    command = [graft, *arguments, "-c", str(folder / "graft.yml")]
    subprocess.run(command, check=True, capture_output=True)
    return _used() - before


def _used() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    sys.exit(main())
