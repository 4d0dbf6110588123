"""Contents of the wheel and of the source archive."""

from __future__ import annotations

import tarfile
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest

from dbt_graft import __version__
from tests.packaging.conftest import Distributions

pytestmark = pytest.mark.slow

ROOMS = ("lineage", "analysis", "collectors", "injector", "catalog", "exporters", "graft", "site")
LINKS = {f"dbt_graft/{room}" for room in ROOMS}


def contents(wheel: Path) -> dict[str, int]:
    """Checksums of a wheel's files by name, without the list of files itself."""
    with ZipFile(wheel) as packed:
        files = {info.filename: info.CRC for info in packed.infolist()}
    return {name: crc for name, crc in files.items() if not name.endswith("/RECORD")}


def test_the_wheel_holds_dbt_graft_and_its_metadata_alone(distributions: Distributions) -> None:
    top = {name.split("/")[0] for name in contents(distributions.wheel)}
    assert top == {"dbt_graft", f"dbt_graft-{__version__}.dist-info"}


def test_the_wheel_holds_every_file_of_the_rooms(
    distributions: Distributions, sources: list[Path]
) -> None:
    packaged = {name for name in contents(distributions.wheel) if ".dist-info/" not in name}
    of_rooms = {f"dbt_graft/{path}" for path in sources if path.parts[0] in ROOMS}
    of_package = {str(path) for path in sources if path.parts[0] == "dbt_graft"} - LINKS
    assert "dbt_graft/py.typed" in packaged
    assert packaged == of_rooms | of_package


def test_the_archive_holds_every_file_of_the_repository_once(
    distributions: Distributions, sources: list[Path]
) -> None:
    with tarfile.open(distributions.archive) as packed:
        files = [Path(*Path(info.name).parts[1:]) for info in packed if info.isfile()]
    # Files and folders with a dot configure Git, CI and editors.
    tracked = {path for path in sources if not path.parts[0].startswith(".")}
    # An archive has no links: its rooms are folders of the package.
    expected = {
        Path("dbt_graft", path) if path.parts[0] in ROOMS else path
        for path in tracked - {Path(link) for link in LINKS}
    }
    assert expected - set(files) == set()
    assert len(files) == len(set(files))
    assert not {path.parts[0] for path in files} & {*ROOMS}


def test_the_archive_builds_the_same_wheel(distributions: Distributions) -> None:
    assert contents(distributions.wheel_of_archive) == contents(distributions.wheel)


def test_version_and_addresses_stand_in_the_metadata(distributions: Distributions) -> None:
    with ZipFile(distributions.wheel) as packed:
        name = f"dbt_graft-{__version__}.dist-info/METADATA"
        metadata = Parser().parsestr(packed.read(name).decode())
    assert metadata["Version"] == __version__
    assert {entry.split(", ")[0] for entry in metadata.get_all("Project-URL", [])} == {
        "Changelog",
        "Documentation",
        "Issues",
        "Repository",
    }
