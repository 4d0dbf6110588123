"""The file of a checked graft.yml: it counts for the same text, variables and code only."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from dbt_graft.collectors import checked_yaml
from dbt_graft.graft.project.config import Config, ConfigError, load
from dbt_graft.graft.project.config_cache import CONFIG_FILE
from dbt_graft.graft.project.output_folder import OutputFolder
from tests.cases import for_each

TEXT = """\
artifacts: out  # ours
collect: [{spark: {path: "${LOGS}/events"}}]
names: [{from: a/b, to: c/d}]
tasks: {load: {owner: Data, code: load.py}}
privacy: {columns: [{columns: a/b.email, is: pii}]}
airflow: {start_date: 2026-01-01, dags: tag, commands: [{task: x, command: run x}]}
"""


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that are checked."""
    paths: list[Path] = []
    read_yaml = checked_yaml.read_yaml

    def counted(path: Path, *args: object) -> object:
        paths.append(path)
        return read_yaml(path, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(checked_yaml, "read_yaml", counted)
    monkeypatch.setenv("LOGS", "logs")
    return paths


def load_twice(folder: Path, text: str = TEXT, artifacts: str = "out") -> tuple[Config, Config]:
    OutputFolder("artifacts", folder / artifacts).claim()
    (folder / "graft.yml").write_text(text)
    return load(folder / "graft.yml"), load(folder / "graft.yml")


def test_a_file_is_checked_once(tmp_path: Path, checks: list[Path]) -> None:
    first, second = load_twice(tmp_path)
    assert first == second
    assert len(checks) == 1


@for_each(
    "text, artifacts",
    [
        ("{}", ".graft/artifacts"),
        ("artifacts: ${OUT:-out}\r\n", "out"),
        ("site: {url: https://x/}\nartifacts:   ./out\n", "out"),
    ],
)
def test_the_folder_of_artifacts_is_seen_in_the_text(text: str, artifacts: str) -> None:
    with TemporaryDirectory() as folder:
        load_twice(Path(folder), text, artifacts)
        assert Path(folder, artifacts, CONFIG_FILE).is_file()


@for_each(
    "text, reason",
    [
        ("spark: {spark.hadoop.fs.s3a.secret.key: abc123def456}\nartifacts: out", "a secret"),
        ("airflow: {default_args: {token: abc123def456}}\nartifacts: out", "a secret"),
        ("artifacts: 'out'", "the text names no place that is seen"),
        ("artifacts: elsewhere", "there is no such folder yet"),
        ("x: {\nartifacts: out\n}", "it is not valid"),
    ],
)
def test_nothing_is_kept(text: str, reason: str) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        OutputFolder("artifacts", folder / "out").claim()
        (folder / "graft.yml").write_text(text)
        try:
            load(folder / "graft.yml")
        except ConfigError:
            assert reason == "it is not valid"
        assert [*folder.rglob(CONFIG_FILE)] == [], reason


def test_a_variable_that_is_gone_is_an_error_again(
    tmp_path: Path, checks: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    load_twice(tmp_path)
    monkeypatch.delenv("LOGS")
    with pytest.raises(ConfigError, match="set the variable LOGS"):
        load(tmp_path / "graft.yml")


@pytest.mark.parametrize("damage", [b"", b"dbt-graft", b"cos\nsystem\n(S'touch x'\ntR."])
def test_a_damaged_file_is_none(tmp_path: Path, checks: list[Path], damage: bytes) -> None:
    first, _ = load_twice(tmp_path)
    (tmp_path / "out" / CONFIG_FILE).write_bytes(damage)
    assert load(tmp_path / "graft.yml") == first
    assert len(checks) == 2
