"""A project of dbt 2 where dbt-core is not installed: its files are all that is needed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.cases import for_each
from tests.injector.conftest import Project
from tests.injector.index.index_of_dbt import write_index

pytestmark = pytest.mark.slow

DECLARED = """\
version: 1
tasks:
  land: {flows: [{from: [sftp://shop/orders], to: [spark/raw.orders]}]}
  score: {flows: [{from: [spark/analytics.orders], to: [spark/ml.scores]}]}
"""
CONFIG = "collect: [{declared: {path: land.yml}}]\n"
# The command `graft` where no part of dbt can be imported.
RUN = (
    "import sys; sys.modules['dbt'] = sys.modules['dbt_common'] = None; "
    "from dbt_graft.__main__ import main; main()"
)
ANSWERS = {
    "init": "wrote graft.yml",
    "doctor": "dbt 2.0.0 wrote manifest.json, index/ ",
    "collect": "new logs  1",
    "inject --validate": "'dbt-graft[dbt]' for `pip install`",
    "site": "pages",
    "check": "UNKNOWN_DATASET",
    "impact analytics.orders --change remove": "ml.scores",
    "show raw.orders": "promoted source",
    "review --base base/target": "model.shop.orders",
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str]]:
    """Command -> its exit code and output."""
    folder = tmp_path_factory.mktemp("shop")
    for target, sql in ((folder / "base/target", "1 as id"), (folder / "target", "2 as id")):
        project = Project()
        project.manifest["metadata"]["dbt_version"] = "2.0.0"
        source = project.source("raw", "orders", columns={"id": {"name": "id"}})
        project.model("orders", [source], compiled_code=f"select {sql}", compiled=True)
        write_index(target, project.manifest, project.catalog)
    (folder / "dbt_project.yml").write_text("name: shop\n")
    (folder / "land.yml").write_text(DECLARED)
    answers = {}
    for command in ANSWERS:
        done = subprocess.run(
            [sys.executable, "-c", RUN, *command.split()],
            cwd=folder,
            env={**os.environ, "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
        )
        answers[command] = (done.returncode, done.stdout + done.stderr)
        (folder / "graft.yml").write_text(CONFIG)
    return answers


@for_each("command", ANSWERS)
def test_a_command_answers(command: str, answers: dict[str, tuple[int, str]]) -> None:
    code, output = answers[command]
    assert code == 0, output
    assert ANSWERS[command] in output
