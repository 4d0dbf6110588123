"""Environments of users: the core without extras, at both ends of the versions we accept."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.conftest import Distributions

pytestmark = [pytest.mark.slow, pytest.mark.exhaustive]

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
DECLARED = "version: 1\ntasks: {land: {flows: [{from: [sftp://a/b], to: [dbt/raw.orders]}]}}\n"


def _run(*command: str | Path, at: Path, code: int = 0) -> str:
    done = subprocess.run([*map(str, command)], cwd=at, capture_output=True, text=True)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    ("dbt", "pyspark", "docs"), [("1.9", "3.5", False), ("1.11", "4", True)], ids=["low", "high"]
)
def test_the_core_reads_and_publishes_and_the_extras_do_the_rest(
    distributions: Distributions, tmp_path: Path, dbt: str, pyspark: str, docs: bool
) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python, graft = tmp_path / "venv/bin/python", tmp_path / "venv/bin/graft"
    install = [python, "-m", "pip", "install", "--quiet", f"dbt-core=={dbt}.*"]
    wanted = subprocess.run([*install, distributions.wheel], capture_output=True, text=True)
    if "No matching distribution" in wanted.stderr or "Connection" in wanted.stderr:
        pytest.skip("no package index can be reached")
    assert wanted.returncode == 0, wanted.stderr
    listed = _run(python, "-m", "pip", "list", at=tmp_path).lower()
    assert not [name for name in ("pyspark", "dbt-spark", "pyodbc", "pandas") if name in listed]
    (tmp_path / "target").mkdir()
    (tmp_path / "target/manifest.json").write_text(MANIFEST)
    (tmp_path / "land.yml").write_text(DECLARED)
    (tmp_path / "graft.yml").write_text("collect: [{declared: {path: land.yml}}]\n")

    _run(graft, "inject", at=tmp_path)
    said = _run(graft, "site", at=tmp_path)
    assert (tmp_path / "build/site/dbt/index.html").exists() is docs
    assert ("published without dbt docs" in said) is not docs
    _run(graft, "collect", at=tmp_path)
    _run(graft, "site", at=tmp_path)
    assert (tmp_path / "build/site/tasks/land/index.html").exists()

    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/app-1").write_text(SPARK_LOG)
    (tmp_path / "graft.yml").write_text(
        "collect: [{declared: {path: land.yml}}, {spark: {path: logs/}}]\n"
    )
    assert "dbt-graft[spark]" in _run(graft, "collect", at=tmp_path, code=1)
    _run(*install, f"{distributions.wheel}[spark]", f"pyspark=={pyspark}.*", at=tmp_path)
    _run(graft, "build", at=tmp_path)
    assert (tmp_path / "build/site/tasks/shop_files/index.html").exists()
