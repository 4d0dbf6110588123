"""Run several dbt commands in one process and so in one Spark application.

    python run_dbt.py "build --select tag:daily" "docs generate"

Stops at the first command that fails, with dbt's exit code: 1 for failed models or tests,
2 for an error of dbt itself.
"""

import shlex
import sys

from dbt.cli.main import dbtRunner


def main(commands: list[str]) -> int:
    """dbt's exit code of the last command that ran."""
    runner = dbtRunner()
    for command in commands:
        result = runner.invoke(shlex.split(command))
        if not result.success:
            if result.exception:
                print(result.exception, file=sys.stderr)
            return 2 if result.exception else 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
