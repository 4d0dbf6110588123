"""dbt-graft and PyPI's `injector` share an environment, although one of our rooms has its name."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from dbt_graft import __version__
from tests.packaging.conftest import Distributions

pytestmark = pytest.mark.slow

THEIRS = """
import injector
class Engine: ...
class Car:
    @injector.inject
    def __init__(self, engine: Engine) -> None:
        self.engine = engine
assert isinstance(injector.Injector().get(Car).engine, Engine)
"""
OURS = """
import importlib, pkgutil
import dbt_graft.injector
for module in pkgutil.walk_packages(dbt_graft.injector.__path__, "dbt_graft.injector."):
    importlib.import_module(module.name)
print(dbt_graft.__file__)
"""
MANIFEST = """{
  "metadata": {
    "dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json",
    "project_name": "shop", "adapter_type": "spark"
  },
  "nodes": {}, "sources": {}, "parent_map": {}, "child_map": {}
}"""


class Environment:
    """A virtual environment that borrows the libraries we depend on from the running one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)

    def pip(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pip", "--python", str(self.folder / "bin/python")]
        return subprocess.run([*command, *arguments], capture_output=True, text=True)

    def run(self, *command: str, at: Path) -> str:
        """Run a command of the environment in the folder `at` and return what it prints."""
        # `.pth` files of PYTHONPATH are not read: no editable install of ours comes along.
        borrowed = {"PYTHONPATH": sysconfig.get_path("purelib")}
        done = subprocess.run(
            [str(self.folder / "bin" / command[0]), *command[1:]],
            cwd=at,
            env={**os.environ, **borrowed},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def environment(
    distributions: Distributions, tmp_path_factory: pytest.TempPathFactory
) -> Environment:
    environment = Environment(tmp_path_factory.mktemp("environment"))
    theirs = environment.pip("install", "--retries=1", "--timeout=10", "injector")
    if theirs.returncode:
        pytest.skip("no package index can be reached to install `injector` from")
    # Compiled would be all modules, of which the tests import some.
    options = ("--no-deps", "--no-index", "--no-compile")
    ours = environment.pip("install", *options, str(distributions.wheel))
    assert ours.returncode == 0, ours.stderr
    return environment


def test_both_import_and_work(environment: Environment, tmp_path: Path) -> None:
    environment.run("python", "-c", THEIRS, at=tmp_path)
    printed = environment.run("python", "-c", OURS, at=tmp_path)
    assert printed.startswith(str(environment.folder))


def test_the_installed_command_publishes_a_site(environment: Environment, tmp_path: Path) -> None:
    assert __version__ in environment.run("graft", "--version", at=tmp_path)

    (tmp_path / "target").mkdir()
    (tmp_path / "target/manifest.json").write_text(MANIFEST)
    (tmp_path / "graft.yml").write_text("site: {name: Shop}\n")
    environment.run("graft", "site", at=tmp_path)
    assert "Shop" in (tmp_path / "build/site/index.html").read_text()
    assert (tmp_path / "build/site/dbt/index.html").exists()


def test_uninstalling_ours_leaves_theirs_working(environment: Environment, tmp_path: Path) -> None:
    assert environment.pip("uninstall", "--yes", "dbt-graft").returncode == 0
    environment.run("python", "-c", THEIRS, at=tmp_path)
    with pytest.raises(AssertionError, match="No module named 'dbt_graft"):
        environment.run("python", "-c", OURS, at=tmp_path)
    assert not (environment.folder / "bin/graft").exists()
