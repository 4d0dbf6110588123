"""Values read of files once: they count for the same files only, and no damage is remembered."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt_graft.collectors.contracts import odcs
from dbt_graft.collectors.declared import collect
from dbt_graft.graft.project import contracts
from dbt_graft.graft.project.config import Config, load
from dbt_graft.graft.project.contracts import read_contracts
from dbt_graft.graft.project.declared import read_declared
from dbt_graft.graft.project.output_folder import OutputFolder
from dbt_graft.lineage.errors import GraftError

CONTRACT = """\
kind: DataContract
apiVersion: v3.1.0
id: orders
name: {name}
schema: [{{name: orders, properties: [{{name: id, classification: pii}}]}}]
slaProperties: [{{property: timeOfAvailability, value: "08:00"}}]
"""
DECLARED = """\
version: 1
tasks: {{load: {{owner: {owner}, flows: [{{from: [a/b], to: [a/c]}}]}}}}
datasets: {{a/c: {{period: day, reads: {{a/b: [-6, 0]}}}}}}
"""


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that are read and checked."""
    names: list[str] = []
    for module, name in ((odcs, "read_contract"), (collect, "read")):
        read = getattr(module, name)

        def counted(path: Path, read: object = read) -> object:
            names.append(path.name)
            return read(path)  # type: ignore[operator]

        monkeypatch.setattr(module, name, counted)
    return names


@pytest.fixture
def config(tmp_path: Path) -> Config:
    OutputFolder("artifacts", tmp_path / ".graft/artifacts").claim()
    (tmp_path / "graft.yml").write_text(
        "contracts: [c*.yaml]\ncollect: [{declared: {path: l.yml}}]"
    )
    (tmp_path / "c.yaml").write_text(CONTRACT.format(name="Finance"))
    (tmp_path / "l.yml").write_text(DECLARED.format(owner="Shop"))
    return load(tmp_path / "graft.yml")


def read_anew(config: Config) -> list[object]:
    """The values that another process reads."""
    contracts._read_files.cache_clear()
    return [*read_contracts(config).contracts, read_declared(config)]


def test_files_are_read_once(config: Config, reads: list[str]) -> None:
    first = read_anew(config)
    assert reads == ["c.yaml", "l.yml"]
    assert read_anew(config) == first
    assert reads == ["c.yaml", "l.yml"]


def test_a_changed_file_is_read_again(config: Config, reads: list[str]) -> None:
    read_anew(config)
    (config.folder / "c.yaml").write_text(CONTRACT.format(name="Sales"))
    (config.folder / "c2.yaml").write_text(CONTRACT.format(name="Stock"))
    (config.folder / "l.yml").write_text(DECLARED.format(owner="Data team"))
    read_anew(config)
    assert reads == ["c.yaml", "l.yml", "c.yaml", "c2.yaml", "l.yml"]
    assert [each.name for each in read_contracts(config).contracts] == ["Sales", "Stock"]
    assert read_declared(config).infos["load"].owner == "Data team"


def test_what_is_wrong_is_said_each_time(config: Config) -> None:
    (config.folder / "c2.yaml").write_text("[")
    (config.folder / "l.yml").write_text("version: 1\ntask: {}")
    for _ in range(2):
        contracts._read_files.cache_clear()
        assert len(read_contracts(config).faults) == 1
        with pytest.raises(GraftError, match="is not a key here"):
            read_declared(config)


def test_contracts_of_another_time_are_not_kept(config: Config, reads: list[str]) -> None:
    for _ in range(2):
        contracts._read_files.cache_clear()
        read_contracts(config, keep=False)
    assert reads == ["c.yaml"] * 2


def test_nothing_is_kept_where_graft_wrote_nothing(config: Config, reads: list[str]) -> None:
    (config.folder / ".graft/artifacts/.dbt-graft.json").unlink()
    read_anew(config)
    read_anew(config)
    assert reads == ["c.yaml", "l.yml"] * 2
