"""`dbt docs generate`, run in the project."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress

from dbt_graft.collectors.java import java_home
from dbt_graft.graft.project import dbt_folders
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.progress import Progress
from dbt_graft.lineage.errors import GraftError


def generate_dbt_docs(config: Config, progress: Progress) -> None:
    """Run `dbt docs generate`.

    Raises:
        GraftError: dbt failed.
    """
    project = str(config.project_dir)
    command = [sys.executable, "-W", "ignore", "-m", "dbt.cli.main", "docs", "generate"]
    command += ["--project-dir", project]
    command += ["--target-path", str(config.target_dir)]
    if not (config.project_dir / dbt_folders.PROJECT_FILE).is_file():
        raise GraftError(
            f"there is no {dbt_folders.PROJECT_FILE}",
            place=project,
            remedy="name the folder of your dbt project as `dbt.project_dir` in graft.yml",
        )
    lines = []
    with progress.step("dbt", "docs generate"):
        # dbt on embedded Spark needs the same Java as we do.
        environment = {**os.environ, **dbt_folders.environment()}
        with suppress(GraftError):  # other adapters need none
            environment["JAVA_HOME"] = java_home()
        with subprocess.Popen(
            command,
            cwd=project,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as dbt:
            for line in dbt.stdout or ():
                progress.line("dbt", line.rstrip())
                lines.append(line)
        if dbt.returncode:
            text = "".join(lines)
            remedy = ""
            if "Could not find adapter type spark" in text:
                remedy = "pip install 'dbt-graft[spark]'"
            elif "Could not find adapter type" in text:
                remedy = "install the adapter beside dbt-graft, or run `dbt docs generate` yourself"
            output = text.strip() if progress.quiet else "see above"
            raise GraftError(f"`dbt docs generate` failed: {output}", place=project, remedy=remedy)
