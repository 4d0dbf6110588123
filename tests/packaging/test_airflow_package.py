"""The package for Airflow's environment: a wheel and a source archive of its own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from configparser import ConfigParser
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest

import graft_airflow
from tests.archives import unpack

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the wheel and the source archive, built in a copy."""
    folder = tmp_path_factory.mktemp("airflow-package")
    ignored = shutil.ignore_patterns("build", "*.egg-info", "__pycache__")
    shutil.copytree(root / "graft_airflow", folder / "tree", ignore=ignored)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder / "dist")]
    done = subprocess.run([*command, str(folder / "tree")], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "dist"


def test_the_wheel_holds_all_modules_and_nothing_else(built: Path, root: Path) -> None:
    (wheel,) = built.glob("*.whl")
    assert wheel.name == f"dbt_graft_airflow-{graft_airflow.__version__}-py3-none-any.whl"
    with ZipFile(wheel) as packed:
        names = {name for name in packed.namelist() if ".dist-info/" not in name}
    modules = {f"graft_airflow/{path.name}" for path in (root / "graft_airflow").glob("*.py")}
    assert names == {*modules, "graft_airflow/py.typed"}


def test_it_depends_on_nothing_and_has_the_policy_as_an_entry_point(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with ZipFile(wheel) as packed:
        info = f"dbt_graft_airflow-{graft_airflow.__version__}.dist-info"
        metadata = Parser().parsestr(packed.read(f"{info}/METADATA").decode())
        entries = ConfigParser()
        entries.read_string(packed.read(f"{info}/entry_points.txt").decode())
    assert metadata.get_all("Requires-Dist") is None
    assert dict(entries["airflow.policy"]) == {"graft": "graft_airflow.policy_plugin"}


def test_the_archive_builds_without_the_rest_of_the_tree(built: Path, tmp_path: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    unpack(archive, tmp_path)
    (unpacked,) = tmp_path.iterdir()
    command = [sys.executable, "-m", "build", "--no-isolation", "--wheel", str(unpacked)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
