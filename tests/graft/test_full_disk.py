"""A full disk is one error with its place and a remedy, and costs nothing that was there before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dbt_graft.graft.commands.cli import main
from tests.exporters.openlineage.receiver import receiving
from tests.graft.small_disk import fill, small_disk
from tests.graft.small_project import declare, small_project

SETTINGS = """\
collect: [{{declared: {{path: lineage.yml}}}}]
store: {store}
artifacts: {artifacts}
site: {{out: {site}}}
openlineage: {{url: "{url}", outbox: {outbox}}}
"""
# What lies on the disk, and the command that writes it.
CASES = {
    "collect into a store": ("store", "collect --again"),
    "inject": ("artifacts", "inject"),
    "build a site": ("site", "build --full"),
    "events into a file": ("events.jsonl", "export openlineage --out {disk}/events.jsonl"),
    "events into a compressed file": ("events.gz", "export openlineage --out {disk}/events.gz"),
    "events into a folder": ("events", "export openlineage --out {disk}/events"),
    "events into the outbox": ("outbox", "export openlineage --send"),
    "lineage for Airflow": ("lineage.json", "export airflow-lineage --out {disk}/lineage.json"),
}


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    with small_disk(place, "12m"):
        yield place


def run(command: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(command.split())
    return int(ended.value.code or 0)


def contents(folder: Path) -> dict[Path, bytes]:
    """Files that readers see: neither locks nor what is only begun."""
    return {
        file: file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and not file.name.startswith(".") and file.name != "filler"
    }


@pytest.mark.parametrize("case", CASES)
def test_a_full_disk_is_one_error_and_costs_nothing(
    case: str,
    disk: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    name, command = CASES[case]
    command = command.format(disk=disk)
    monkeypatch.chdir(tmp_path)
    small_project(tmp_path)
    places = {key: f"other/{key}" for key in ("store", "artifacts", "site", "outbox")}
    places[name] = f"{disk}/{name}"
    with receiving() as receiver:
        Path("graft.yml").write_text(SETTINGS.format(**places, url=receiver.url))
        assert run("collect") == 0
        assert run(command) == 0
        before = contents(disk)
        filler = fill(disk)
        declare(tmp_path, *(f"raw.table_{number}" for number in range(200)))
        if name != "store":
            assert run("collect") == 0
        capfd.readouterr()

        assert run(command) == 1
        shown = capfd.readouterr()
        *_, error, remedy = shown.err.splitlines()
        assert error.startswith(f"error: {disk}/{name}")
        assert error.endswith(": cannot be written: No space left on device")
        assert remedy == "  free some space, then run the command again"
        assert "Traceback" not in shown.err + shown.out
        after = contents(disk)
        assert {file: after.get(file) for file in before} == before

        filler.unlink()
        assert run(command) == 0
