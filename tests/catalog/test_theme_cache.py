"""The theme's files and shells, kept from build to build."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dbt_graft.catalog.build import design_folder
from dbt_graft.catalog.shells import Shells, ThemeSettings
from dbt_graft.catalog.theme_cache import write_cached_theme

SETTINGS = ThemeSettings("Shop & data", "https://example.com/docs/")


def written(folder: Path, archive: Path, key: bytes = b"key") -> tuple[Shells, dict[Path, bytes]]:
    """The shells and files of a site in a folder of its own."""
    out = folder / f"site{len([*folder.iterdir()])}"
    out.mkdir()
    shells = write_cached_theme(design_folder(), out, SETTINGS, archive, key)
    files = (file for file in out.rglob("*") if file.is_file())
    return shells, {file.relative_to(out): file.read_bytes() for file in files}


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive of a first build."""
    folder = tmp_path_factory.mktemp("first")
    archive = tmp_path_factory.mktemp("artifacts") / "site_theme.zip"
    written(folder, archive)
    return archive


@pytest.fixture
def no_mkdocs(monkeypatch: pytest.MonkeyPatch) -> None:
    """MkDocs cannot be imported."""
    monkeypatch.setitem(sys.modules, "dbt_graft.catalog.theme", None)


@pytest.mark.usefixtures("no_mkdocs")
def test_the_next_build_takes_them_without_mkdocs(tmp_path: Path, archive: Path) -> None:
    shells, files = written(tmp_path, archive)
    assert shells.other.parts
    assert {"", "datasets/"} < shells.of_entries.keys()
    assert {Path("index.html"), Path("scripts/site.js")} < files.keys()


def test_they_are_those_of_a_first_build(tmp_path: Path, archive: Path) -> None:
    first = written(tmp_path, tmp_path / "other.zip")
    assert written(tmp_path, archive) == first


@pytest.mark.usefixtures("no_mkdocs")
@pytest.mark.parametrize(
    ("content", "key"), [(None, b"another"), (b"no archive", b"key"), (b"", b"key")]
)
def test_those_of_another_key_or_damaged_are_made_again(
    tmp_path: Path, archive: Path, content: bytes | None, key: bytes
) -> None:
    place = tmp_path / "site_theme.zip"
    place.write_bytes(archive.read_bytes() if content is None else content)
    with pytest.raises(ImportError):
        written(tmp_path, place, key)
