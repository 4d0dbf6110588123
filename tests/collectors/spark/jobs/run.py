"""Run jobs one after the other in one JVM, each in a folder with its name.

Usage: run.py FOLDER JOB…, where a job is its script's name, and its arguments behind it

The first that fails ends the others, too.
"""

import os
import runpy
import sys
from pathlib import Path


def run(folder: Path, job: str, *arguments: str) -> None:
    """Run a job in a folder of its own."""
    folder.mkdir()
    os.chdir(folder)
    sys.argv = [job, str(folder), *arguments]
    try:
        runpy.run_path(str(Path(__file__).with_name(f"{job}.py")), run_name="__main__")
    except SystemExit as end:
        if end.code:
            raise


if __name__ == "__main__":
    base, *jobs = sys.argv[1:]
    for job in map(str.split, jobs):
        run(Path(base) / job[0], *job)
