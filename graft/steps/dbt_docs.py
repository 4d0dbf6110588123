"""dbt's artifacts, written by the project's own dbt."""

from __future__ import annotations

import re
import subprocess
from contextlib import suppress

from dbt_graft.collectors.java import java_home
from dbt_graft.graft.project import dbt_folders
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.dbt_command import (
    dbt_command,
    docs_arguments,
    environment,
    start_error,
)
from dbt_graft.graft.project.progress import Progress
from dbt_graft.lineage.errors import GraftError

_NO_ADAPTER = re.compile(r"Could not find adapter type (\w+)")


def generate_dbt_docs(config: Config, progress: Progress) -> None:
    """Run `dbt docs generate`, or what does the same in the project's version of dbt.

    Raises:
        GraftError: There is no dbt, or it failed.
    """
    project = str(config.project_dir)
    if not (config.project_dir / dbt_folders.PROJECT_FILE).is_file():
        raise GraftError(
            f"there is no {dbt_folders.PROJECT_FILE}",
            place=project,
            remedy="name the folder of your dbt project as `dbt.project_dir` in graft.yml",
        )
    dbt = dbt_command(config)
    arguments = docs_arguments(dbt, config.project_dir)
    doing = " ".join(arguments)
    command = [*dbt, *arguments]
    command += ["--project-dir", project, "--target-path", str(config.target_dir)]
    variables = environment()
    with suppress(GraftError):  # dbt on embedded Spark needs the same Java as we do
        variables["JAVA_HOME"] = java_home()
    lines = []
    with progress.step("dbt", f"{doing}, by {dbt[0]}") as step:
        try:
            process = subprocess.Popen(
                command,
                cwd=project,
                env=variables,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            )
        except OSError as error:
            raise start_error(command, error) from error
        with process:
            for line in process.stdout or ():
                progress.line("dbt", line.rstrip())
                lines.append(line)
        if process.returncode:
            text = "".join(lines)
            lacking = _NO_ADAPTER.search(text)
            raise GraftError(
                f"`dbt {doing}` failed: {text.strip() if progress.quiet else 'see above'}",
                place=project,
                remedy=f"install dbt-{lacking[1]} where {dbt[0]} is" if lacking else "",
            )
        step.result = doing
