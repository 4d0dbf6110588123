"""Run the shop once, for real, with the logs of its engines in a build folder.

    python dbt_project/demo.py --build build/demo

The order is that of a night in the shop: sources arrive, dbt builds what it can, data science
scores the customers that dbt built, dbt builds the rest from the scores, finance reads. The last
task fails and is meant to. Each step is a process of its own, so a Spark application of its own.

When nothing changed since the last complete run, nothing is run.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import yaml

PROJECT = Path(__file__).resolve().parent
# What the steps read; the rest of this folder describes the demo or belongs to graft.
INPUTS = (
    "dbt_project.yml",
    "profiles.yml",
    "*.py",
    "tasks/*.py",
    *(f"{folder}/**/*" for folder in ("landing", "replica", "models", "seeds", "macros", "tests")),
)
STAMP = "inputs.sha256"
PROPERTIES = "spark.properties"
# Java's archive of the classes that the first step loaded: with it, Spark starts in half the time.
CLASSES = "classes.jsa"


@dataclass(frozen=True)
class DemoStep:
    """One process: a script of this folder with its arguments.

    Attributes:
        fails_with: Part of its output if it is meant to fail; empty for a step that succeeds.
    """

    name: str
    command: tuple[str, ...]
    fails_with: str = ""


def steps(build: Path) -> list[DemoStep]:
    """The night in the shop, in order."""

    def task(name: str, *arguments: str, fails_with: str = "") -> DemoStep:
        return DemoStep(name, (f"tasks/{name}.py", *arguments), fails_with)

    scores = "source:ml.customer_scores+"
    return [
        DemoStep("replicate", ("replicate.py",)),
        task("land_shop_files"),
        DemoStep("dbt, up to the scores", ("run_dbt.py", f"build --exclude {scores}")),
        task("score_customers"),
        DemoStep(
            "dbt, from the scores on",
            ("run_dbt.py", f"build --select {scores}", "source freshness", "docs generate"),
        ),
        task("export_finance_report", "--out", str(build / "reports" / "revenue.csv")),
        task("rebuild_returns", fails_with="CAST_INVALID_INPUT"),
    ]


def main() -> int:
    """0 when the demo is there, 1 when a step did not end as it should, 2 for wrong use."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--build", type=Path, required=True, help="folder for everything it makes")
    build: Path = parser.parse_args().build.resolve()
    stamp = build / STAMP
    digest = input_digest()
    if stamp.is_file() and stamp.read_text() == digest:
        print("demo: nothing changed since the last run")
        return 0
    if build.exists() and any(build.iterdir()) and not stamp.is_file():
        parser.error(f"{build} holds something else: name a new or empty folder")
    java = subprocess.run(
        [sys.executable, "-m", "dbt_graft", "doctor", "--java"], stdout=subprocess.PIPE, text=True
    )
    if java.returncode:
        return 1
    environment = step_environment(build, java.stdout.strip())
    start_clean(build)
    for number, step in enumerate(steps(build), 1):
        if not run(
            step, build / "logs" / f"{number}_{step.command[0].split('/')[-1]}.log", environment
        ):
            return 1
    stamp.write_text(digest)
    return 0


def input_digest() -> str:
    """One digest over the names and contents of all inputs, and the versions of what runs them."""
    versions = [f"{package} {version(package)}" for package in ("dbt-core", "dbt-spark", "pyspark")]
    digest = hashlib.sha256("\n".join(versions).encode())
    for path in sorted(input_files()):
        digest.update(f"\n{path.relative_to(PROJECT).as_posix()}\n".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def input_files() -> Iterator[Path]:
    """The files that the steps read."""
    for pattern in INPUTS:
        yield from (path for path in PROJECT.glob(pattern) if path.is_file())


def start_clean(build: Path) -> None:
    """Empty the build folder but for a stamp, which marks it as ours and incomplete."""
    shutil.rmtree(build, ignore_errors=True)
    for folder in ("logs", "spark-events"):
        (build / folder).mkdir(parents=True)
    (build / STAMP).write_text("incomplete")
    (build / PROPERTIES).write_text(spark_properties(build))


def spark_properties(build: Path) -> str:
    """The Spark settings of profiles.yml as a task gets them: from outside, as on a cluster."""
    profile = (PROJECT / "profiles.yml").read_text()
    for quote in "'\"":
        profile = profile.replace(f"{{{{ env_var({quote}SHOP_BUILD{quote}) }}}}", str(build))
    settings = yaml.safe_load(profile)["shop"]["outputs"]["embedded"]["server_side_parameters"]
    del settings["spark.app.name"]
    return "".join(f"{key} {value}\n" for key, value in settings.items())


def step_environment(build: Path, java_home: str) -> dict[str, str]:
    """The caller's environment, without its own Spark and dbt settings."""
    foreign = ("SPARK_", "PYSPARK_", "DBT_")
    return {
        **{key: value for key, value in os.environ.items() if not key.startswith(foreign)},
        "JAVA_HOME": java_home,
        "PYSPARK_PYTHON": sys.executable,
        # A folder of settings, SPARK_CONF_DIR, would be among the places of Java's classes, and
        # Java would leave the archive of classes alone.
        "PYSPARK_SUBMIT_ARGS": shlex.join(
            ["--properties-file", str(build / PROPERTIES), "pyspark-shell"]
        ),
        # Names of this machine need not resolve.
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SHOP_BUILD": str(build),
        "DBT_PROJECT_DIR": str(PROJECT),
        "DBT_PROFILES_DIR": str(PROJECT),
        "DBT_TARGET_PATH": str(build / "target"),
        "DBT_LOG_PATH": str(build / "logs"),
    }


def java_options(classes: Path) -> str:
    """The options of a short program's Java, which uses the archive of classes or writes it."""
    archive = "SharedArchiveFile" if classes.exists() else "ArchiveClassesAtExit"
    return (
        f'-XX:+IgnoreUnrecognizedVMOptions -XX:+UseSerialGC -Xlog:disable -XX:{archive}="{classes}"'
    )


def run(step: DemoStep, log: Path, environment: dict[str, str]) -> bool:
    """Run a step and print its outcome; whether it is the expected one."""
    start = time.monotonic()
    script, *arguments = step.command
    java = java_options(Path(environment["SHOP_BUILD"], CLASSES))
    # Reading to the end of the output waits for the JVM too, which outlives Python by a moment
    # and holds the metastore: Derby lets one process in.
    process = subprocess.run(
        [sys.executable, str(PROJECT / script), *arguments],
        cwd=log.parent.parent,
        env={**environment, "SPARK_SUBMIT_OPTS": java},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    log.write_text(process.stdout)
    failed = process.returncode != 0
    as_expected = failed == bool(step.fails_with) and step.fails_with in process.stdout
    outcome = f"exit code {process.returncode}" if failed else "ok"
    remark = ", as expected" if as_expected and failed else ""
    print(f"demo: {step.name}: {outcome}{remark} ({time.monotonic() - start:.0f} s)", flush=True)
    if not as_expected:
        print(process.stdout, file=sys.stderr)
        print(
            f"demo: {step.name} did not end as expected; its output is also in {log}",
            file=sys.stderr,
        )
    return as_expected


if __name__ == "__main__":
    sys.exit(main())
