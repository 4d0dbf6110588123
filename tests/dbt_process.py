"""dbt 1, all commands of a test run in one process: to import it takes longer than they do."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

# Answers each line, a folder and arguments, with an error or none, and what `ls` lists.
_SERVER = """
import json, os, sys
answers, sys.stdout = sys.stdout, sys.stderr  # dbt prints, too
from dbt.cli.main import dbtRunner

for line in sys.stdin:
    folder, arguments = json.loads(line)
    os.chdir(folder)
    done = dbtRunner().invoke(arguments)
    listed = done.result if isinstance(done.result, list) else []
    error = None if done.success else str(done.exception or done.result)
    print(json.dumps([error, listed]), file=answers, flush=True)
"""


def run_dbt(folder: Path, *arguments: str) -> list[str]:
    """Run a command of dbt in a project with a profile of its own; the lines of `dbt ls`."""
    server = _server()
    assert server.stdin
    assert server.stdout
    line = json.dumps([str(folder), ["--quiet", *arguments, "--profiles-dir", "."]])
    print(line, file=server.stdin, flush=True)
    answer = server.stdout.readline()
    assert answer, "dbt's process has ended"
    error, listed = json.loads(answer)
    assert error is None, f"{arguments}: {error}"
    return list(map(str, listed))


@cache
def _server() -> subprocess.Popen[str]:
    """The process; it ends with this one, whose lines it reads."""
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", _SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
