"""Run several dbt commands in one process and so in one Spark application.

    python run_dbt.py "build --select tag:daily" "docs generate"

Stops at the first command that fails, with dbt's exit code: 1 for failed models or tests,
2 for an error of dbt itself. The results of each command are kept in `dbt-runs`: dbt itself keeps
only those of the last one.
"""

import os
import shlex
import shutil
import sys
import uuid
from pathlib import Path

from dbt.cli.main import dbtRunner


def main(commands: list[str]) -> int:
    """dbt's exit code of the last command that ran."""
    runner = dbtRunner()
    for command in commands:
        result = runner.invoke(shlex.split(command))
        keep_results(Path(os.environ["SHOP_BUILD"]))
        if not result.success:
            if result.exception:
                print(result.exception, file=sys.stderr)
            return 2 if result.exception else 1
    return 0


def keep_results(build: Path) -> None:
    """Copy the results of the last command, if it wrote any."""
    results = build / "target" / "run_results.json"
    if results.is_file():
        (build / "dbt-runs").mkdir(exist_ok=True)
        shutil.copy(results, build / "dbt-runs" / f"{uuid.uuid4()}.json")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
