"""Places where the command looks: graft.yml, dbt's folders, and the paths in graft.yml."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt_graft.graft.commands.cli import main
from dbt_graft.graft.project.config import Config, ConfigError, find, load
from dbt_graft.graft.project.dbt_folders import environment
from dbt_graft.graft.steps.start import write_config


def config(folder: Path, text: str) -> Config:
    (folder / "graft.yml").write_text(text)
    return load(folder / "graft.yml")


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DBT_TARGET_PATH", "DBT_PROJECT_DIR", "DBT_PROFILES_DIR", "LOGS"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("project", "variables", "written", "target"),
    [
        (None, {}, "", "target"),
        ("name: shop", {}, "", "target"),
        ("target-path: build/dbt", {}, "", "build/dbt"),
        ("target-path: \"{{ env_var('OUT', 'fallback') }}\"", {}, "", "fallback"),
        ("target-path: \"{{ env_var('OUT') }}/dbt\"", {"OUT": "here"}, "", "here/dbt"),
        ("target-path: build/dbt", {"DBT_TARGET_PATH": "ci"}, "", "ci"),
        ("target-path: build/dbt", {"DBT_TARGET_PATH": "/ci"}, "", "/ci"),
        ("target-path: x", {"DBT_TARGET_PATH": "ci"}, "dbt: {target_dir: mine}", "mine"),
        ("- no project", {}, "", "target"),
        (None, {"DBT_PROJECT_DIR": "/repo/shop"}, "", "/repo/shop/target"),
        (None, {"DBT_PROJECT_DIR": "/repo/shop"}, "dbt: {project_dir: shop}", "shop/target"),
    ],
)
def test_dbt_s_target_is_found_as_dbt_finds_it(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    project: str | None,
    variables: dict[str, str],
    written: str,
    target: str,
) -> None:
    if project:
        (tmp_path / "dbt_project.yml").write_text(project)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert config(tmp_path, written).target_dir == tmp_path / target


def test_the_target_of_a_project_is_in_the_file_that_init_writes(tmp_path: Path) -> None:
    (tmp_path / "dbt_project.yml").write_text("name: shop\ntarget-path: out")
    path = write_config(tmp_path).path
    assert "reads out/manifest.json" in path.read_text()
    assert load(path).target_dir == tmp_path / "out"


def test_a_graft_yml_further_down_is_named(tmp_path: Path) -> None:
    (tmp_path / "my dbt").mkdir()
    (tmp_path / "my dbt/graft.yml").write_text("")
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / "graft.yml")
    assert caught.value.remedy == f"name the one below by `-c '{tmp_path}/my dbt/graft.yml'`"


def test_a_relative_profiles_folder_holds_where_dbt_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert environment() == {}
    monkeypatch.setenv("DBT_PROFILES_DIR", "profiles")
    assert environment() == {"DBT_PROFILES_DIR": str(tmp_path / "profiles")}


def test_graft_yml_is_found_upwards_within_a_repository(tmp_path: Path) -> None:
    inner = tmp_path / "repository/models/staging"
    inner.mkdir(parents=True)
    (tmp_path / "graft.yml").write_text("")
    assert find(inner) == tmp_path / "graft.yml"
    (tmp_path / "repository/.git").mkdir()
    assert find(inner) == inner / "graft.yml"
    (tmp_path / "repository/graft.yml").write_text("")
    assert find(inner) == tmp_path / "repository/graft.yml"


def test_a_command_below_the_project_uses_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "graft.yml").write_text("collect: [{declared: {path: lineage.yml}}]")
    (tmp_path / "models").mkdir()
    monkeypatch.chdir(tmp_path / "models")
    with pytest.raises(SystemExit):
        main.main(["collect", "-q"])
    assert capfd.readouterr().err.startswith("error: lineage.yml: there is no such file")


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("~/logs", "/home/ada/logs"),
        ("${LOGS}/spark", "/mnt/logs/spark"),
        ("${LOGS:-/other}/spark", "/mnt/logs/spark"),
        ("${NOPE:-logs}/spark", "{folder}/logs/spark"),
        ("${EMPTY:-logs}", "{folder}/logs"),
        ("${NOPE:-s3a://lake}/logs", "s3a://lake/logs"),
        ("logs/$HOME/${", "{folder}/logs/$HOME/${"),
    ],
)
def test_paths_may_have_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str, path: str
) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setenv("LOGS", "/mnt/logs")
    monkeypatch.setenv("EMPTY", "")
    found = config(tmp_path, f"collect: [{{spark: {{path: '{written}'}}}}]")
    (entry,) = found.collect
    assert entry.spark
    assert found.path(entry.spark.place) == path.replace("{folder}", str(tmp_path))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("store: '${NOPE}/store'", "set the variable NOPE, or write a default: ${NOPE:-default}"),
        ("site: {out: '${LOGS}/site'}", "write a folder of this machine, and copy it from there"),
        ("collect: [{spark: {path: '${LOGS}/a'}}]", "write no password, token or key"),
    ],
)
def test_a_variable_is_checked_with_its_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, says: str
) -> None:
    monkeypatch.setenv("LOGS", "s3a://key:hunter2@lake")
    with pytest.raises(ConfigError) as caught:
        config(tmp_path, text)
    assert says in str(caught.value)
    assert "hunter2" not in str(caught.value)
