"""Environments of users: the core beside dbt of either generation, or none, and its extras."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.collectors.openlineage.events import event as openlineage_event
from tests.collectors.sqlserver.runs.test_fold import event
from tests.collectors.sqlserver.xel_writer import write_events
from tests.dbt2.project import DBT
from tests.packaging.conftest import Distributions

pytestmark = pytest.mark.slow

MANIFEST = """{
  "metadata": {
    "dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json",
    "project_name": "shop", "adapter_type": "duckdb"
  },
  "nodes": {}, "sources": {}, "parent_map": {}, "child_map": {}
}"""
SPARK_LOG = """\
{"Event":"SparkListenerLogStart","Spark Version":"3.5.9"}
{"Event":"SparkListenerApplicationStart","App Name":"shop_files","App ID":"app-1",\
"Timestamp":1763000000000,"User":"ada"}
{"Event":"SparkListenerApplicationEnd","Timestamp":1763000060000}
"""
# What is shared with our own environment: to install it takes a minute.
OURS = "ours"
DECLARED = "version: 1\ntasks: {land: {flows: [{from: [sftp://a/b], to: [dbt/raw.orders]}]}}\n"


def _run(*command: str | Path, at: Path, code: int = 0, **more: str) -> str:
    ours = {name: value for name, value in os.environ.items() if name != "GRAFT_ENGINE"}
    done = subprocess.run(
        [*map(str, command)],
        cwd=at,
        env={**ours, **more},
        capture_output=True,
        text=True,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def _pip(folder: Path, *arguments: str | Path) -> list[str]:
    """Our pip on an environment: to install one there takes seconds."""
    python = str(folder / "venv/bin/python")
    return [sys.executable, "-m", "pip", "--python", python, *map(str, arguments)]


def _install(folder: Path, *wanted: str | Path) -> None:
    # Compiled here would be thousands of modules that are never imported.
    command = _pip(folder, "install", "--quiet", "--no-compile", *wanted)
    done = subprocess.run(command, capture_output=True, text=True)
    if "No matching distribution" in done.stderr or "Connection" in done.stderr:
        pytest.skip("no package index can be reached")
    assert done.returncode == 0, done.stderr


def _share_dbt_2(folder: Path) -> None:
    """Install dbt 2 as pip does: its program and its metadata, without a copy of 300 MB."""
    if not DBT.exists():
        pytest.skip("dbt 2 is not installed: `make dbt-2`")
    os.link(DBT, folder / "venv/bin/dbt")
    [described] = DBT.parents[1].glob("lib/python*/site-packages/dbt-*.dist-info")
    shutil.copytree(described, _packages(folder) / described.name)


def _share(folder: Path, *names: str) -> None:
    """Install packages of our own environment and what they need, as links.

    To pip they are installed: it checks what is asked for against them, and copies nothing.
    """
    waiting, shared = [*map(Requirement, names)], set[str]()
    while waiting:
        wanted = waiting.pop()
        if str(wanted) in shared:
            continue
        shared.add(str(wanted))
        package, extras = metadata.distribution(wanted.name), wanted.extras or {""}
        for needed in map(Requirement, package.requires or ()):
            marker = needed.marker
            if not marker or any(marker.evaluate({"extra": extra}) for extra in extras):
                waiting.append(needed)
        for top in {file.parts[0] for file in package.files or ()} - {"..", "__pycache__"}:
            link = _packages(folder) / top
            if not link.exists():
                link.symlink_to(package.locate_file(top))


def _share_core(folder: Path) -> None:
    """Install what our core needs, of our own environment."""
    ours = map(Requirement, metadata.requires("dbt-graft") or ())
    _share(folder, *(package.name for package in ours if not package.marker))


def _share_dbt(folder: Path) -> None:
    """Install our own environment's dbt 1."""
    _share(folder, "dbt-core")
    program = folder / "venv/bin/dbt"
    program.write_text(f"#!{folder}/venv/bin/python\nfrom dbt.cli.main import cli\n\ncli()\n")
    program.chmod(0o755)


def _packages(folder: Path) -> Path:
    [packages] = folder.glob("venv/lib/python*/site-packages")
    return packages


def _version(program: Path, at: Path) -> str:
    """The text of `dbt --version` without the time; empty where there is no dbt."""
    text = _run(program, "--version", at=at) if program.exists() else ""
    return re.sub(r"\d\d:\d\d:\d\d", "", text)


@pytest.mark.parametrize(
    ("dbt", "extra", "has_page"),
    [
        pytest.param("dbt-core==1.9.*", "pyspark==3.5.*", True, marks=pytest.mark.exhaustive),
        pytest.param("dbt-core==1.11.*", "pyspark==4.*", True, marks=pytest.mark.exhaustive),
        pytest.param("dbt-core==1.11.*", OURS, True, marks=pytest.mark.exhaustive),
        (OURS, OURS, True),
        ("dbt 2", "", False),
    ],
)
def test_the_core_goes_beside_any_dbt_and_the_extras_do_the_rest(
    distributions: Distributions, tmp_path: Path, dbt: str, extra: str, has_page: bool
) -> None:
    command = [sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"]
    subprocess.run(command, check=True)
    graft = tmp_path / "venv/bin/graft"
    program = tmp_path / "venv/bin/dbt"
    if dbt == "dbt 2":
        _share_dbt_2(tmp_path)
        _share_core(tmp_path)
    elif dbt == OURS:
        _share_dbt(tmp_path)
        _share_core(tmp_path)
    else:
        _install(tmp_path, dbt)
    before = _version(program, tmp_path)
    _install(tmp_path, distributions.wheel)
    _run(*_pip(tmp_path, "check"), at=tmp_path)
    listed = _run(*_pip(tmp_path, "list"), at=tmp_path).lower()
    assert not [name for name in ("pyspark", "dbt-spark", "pyodbc", "pandas") if name in listed]
    (tmp_path / "target").mkdir()
    (tmp_path / "target/manifest.json").write_text(MANIFEST)
    (tmp_path / "land.yml").write_text(DECLARED)
    (tmp_path / "graft.yml").write_text("collect: [{declared: {path: land.yml}}]\n")

    _run(graft, "inject", "--validate", at=tmp_path)
    _run(graft, "collect", at=tmp_path)
    _run(graft, "site", at=tmp_path)
    assert (tmp_path / "build/site/dbt/index.html").exists() is has_page
    assert (tmp_path / "build/site/tasks/land/index.html").exists()

    for name in ("spark", "xe", "events"):
        (tmp_path / "logs" / name).mkdir(parents=True)
    (tmp_path / "logs/spark/app-1").write_text(SPARK_LOG)
    write_events(tmp_path / "logs/xe/1.xel", [event("batch", "INSERT dbo.t SELECT 1 FROM dbo.s")])
    run_event = openlineage_event(inputs=["spark raw.a"], outputs=["spark raw.b"])
    (tmp_path / "logs/events/1.json").write_text(json.dumps(run_event))
    (tmp_path / "dbt_project.yml").write_text("name: shop\nprofile: none")
    # What `init` writes is read without PySpark as it is.
    assert "next: `graft build`" in _run(graft, "init", "--force", at=tmp_path)
    assert "dbt-graft[spark]" in _run(graft, "collect", "--engine", "spark", at=tmp_path, code=1)
    assert "read without Spark, as there is no PySpark" in " ".join(
        _run(graft, "build", at=tmp_path).split()
    )
    pages = [*(tmp_path / "build/site/tasks").glob("*/index.html")]
    assert {page.parent.name for page in pages} == {"land", "load", "load_orders", "shop_files"}
    if extra:
        more = {}
        if extra == OURS:
            _share(tmp_path, "pyspark", "pandas")
            # The links' own place, or Java would have no use for the archive of its classes.
            more["SPARK_HOME"] = str(metadata.distribution("pyspark").locate_file("pyspark"))
        _install(tmp_path, f"{distributions.wheel}[spark]", *([extra] if extra != OURS else []))
        again = _run(graft, "collect", "--again", at=tmp_path, **more)
        assert "without Spark" not in again
    assert _version(program, tmp_path) == before
