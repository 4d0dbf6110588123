"""The project's own dbt, of any version: which program it is, how it is run, and its artifacts."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from dbt_graft.collectors.java import java_home
from dbt_graft.graft.project import dbt_folders
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.progress import Progress
from dbt_graft.lineage.errors import GraftError

_DOCS = ("docs", "generate")
_NO_ADAPTER = re.compile(r"Could not find adapter type (\w+)")


def dbt_command(config: Config) -> list[str]:
    """The program and its first arguments.

    It is `dbt.command` of graft.yml, else the `dbt` on the path, else the one that is installed
    where we are.

    Raises:
        GraftError: There is none.
    """
    written = config.dbt.command
    if written:
        program, *arguments = shlex.split(written, posix=os.name != "nt")
        return [config.path(program) if Path(program).name != program else program, *arguments]
    beside = Path(sys.executable).parent
    program = shutil.which("dbt") or shutil.which("dbt", path=beside) or ""
    if not program:
        raise GraftError(
            "there is no dbt, neither on the path nor beside dbt-graft",
            place="dbt",
            remedy="activate the environment of your dbt project, or name its dbt as `dbt.command` "
            "in graft.yml",
        )
    return [program]


def docs_arguments(command: Sequence[str], folder: Path) -> tuple[str, ...]:
    """The arguments with which this dbt writes what we read.

    Its help tells them apart. `docs generate` compiles in dbt 1 and 2; in previews of dbt 2 it did
    not, and a compile writes the index. dbt 2 asks the warehouse for types only when it is told to.

    Raises:
        GraftError: It cannot be started.
    """
    asked = run_dbt([*command, *_DOCS, "--help"], folder)
    text = asked.stdout + asked.stderr
    if "--write-index" not in text:
        return _DOCS
    compiles = "--no-compile" in text
    return (*(_DOCS if compiles else ("compile", "--write-index")), "--write-catalog")


def run_dbt(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run dbt in a folder, to its end.

    Raises:
        GraftError: It cannot be started.
    """
    try:
        return subprocess.run(
            command,
            cwd=folder,
            env=environment(),
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise start_error(command, error) from error


def environment() -> dict[str, str]:
    """The variables with which dbt is run."""
    return {**os.environ, "PYTHONWARNINGS": "ignore", **dbt_folders.environment()}


def start_error(command: Sequence[str], error: OSError) -> GraftError:
    """The error that dbt cannot be started."""
    return GraftError(
        f"dbt cannot be started: {error.strerror or error}",
        place=command[0],
        remedy="correct `dbt.command` in graft.yml",
    )


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
