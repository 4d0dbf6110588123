"""A build beside a previous site makes the same files as a fresh one, and few pages."""

from __future__ import annotations

import copy
import os
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from dbt_graft.catalog.build import PublishedSite, build
from dbt_graft.catalog.dbt_docs import DbtDocs
from dbt_graft.catalog.previous import (
    EarlierBuilds,
    PreviousSite,
    read_previous,
    write_record,
)
from dbt_graft.catalog.settings import SiteExtras, SiteSettings
from dbt_graft.catalog.writing import PageWriter, WrittenPage
from dbt_graft.lineage.described import DescribedLineage
from tests.catalog.worlds import CHANGES, World, world

SETTINGS = SiteSettings("Shop data", "https://docs.example.com/shop/")
Files = dict[str, bytes]


def built(
    one: World,
    out: Path,
    previous: PreviousSite = PreviousSite(),
    settings: SiteSettings = SETTINGS,
    docs: DbtDocs | None = None,
) -> PublishedSite:
    return build(
        DescribedLineage(*one.lineage()),
        settings,
        out,
        extras=SiteExtras(dbt_docs=docs),
        earlier=EarlierBuilds(site=previous),
    )


def files(site: Path) -> Files:
    return {
        file.relative_to(site).as_posix(): file.read_bytes()
        for file in site.rglob("*")
        if file.is_file()
    }


@pytest.fixture
def previous(tmp_path: Path) -> PreviousSite:
    """A site with its record, as the next build reads it."""
    site, record = tmp_path / "previous", tmp_path / "record.json"
    write_record(record, built(world(0), site).record)
    return read_previous(record, site)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of the pages that are made, not taken."""
    paths: list[str] = []

    class Watched(PageWriter):
        def write(self, processes: int | None = None) -> list[WrittenPage]:
            found = super().write(processes)
            paths.extend(page.path for page in found)
            return found

    monkeypatch.setattr("dbt_graft.catalog.build.PageWriter", Watched)
    return paths


def test_an_unchanged_site_makes_its_lists_only(
    previous: PreviousSite, made: list[str], tmp_path: Path
) -> None:
    site = built(world(0), tmp_path / "site", previous)
    assert files(tmp_path / "site") == files(previous.folder)
    assert site.changed == 0
    assert site.pages > len(previous.pages) > 20
    assert not set(made) & set(previous.pages)
    assert site.record == previous.pages


def test_pages_that_stay_where_they_are_are_named_and_not_written(
    previous: PreviousSite, tmp_path: Path
) -> None:
    unchanged: list[str] = []
    site = built(world(0), tmp_path / "site", replace(previous, keep=unchanged.append))
    written, before = files(tmp_path / "site"), files(previous.folder)
    assert sorted(unchanged) == sorted(f"{path}index.html" for path in previous.pages)
    assert not written.keys() & set(unchanged)
    assert written | {file: before[file] for file in unchanged} == before
    assert (site.changed, site.record) == (0, previous.pages)


@pytest.mark.parametrize("change", ["a new edge", "a description", "a table gone", "a run"])
def test_a_site_is_that_of_a_fresh_build(
    change: str, previous: PreviousSite, tmp_path: Path
) -> None:
    one = copy.deepcopy(world(0))
    CHANGES[change](one, random.Random(change))  # noqa: S311
    before = files(previous.folder)
    site = built(one, tmp_path / "site", previous)
    fresh = built(one, tmp_path / "fresh")
    now = files(tmp_path / "site")
    assert now == files(tmp_path / "fresh")
    assert site.record == fresh.record
    assert site.changed == sum(
        before.get(path) != content
        for path, content in now.items()
        if path.endswith("index.html") and "gone" not in path
    )
    assert 0 < site.changed < fresh.changed
    assert files(previous.folder) == before, "the site that is published is not touched"


@pytest.mark.parametrize(
    ("settings", "docs"),
    [
        (replace(SETTINGS, name="Another"), None),
        (replace(SETTINGS, url="https://docs.example.com/moved/"), None),
        (SETTINGS, DbtDocs.DBT_1),
        (SETTINGS, DbtDocs.DBT_2),
    ],
)
def test_what_every_page_shows_changes_every_page(
    settings: SiteSettings, docs: DbtDocs | None, previous: PreviousSite, tmp_path: Path
) -> None:
    site = built(world(0), tmp_path / "site", previous, settings, docs)
    built(world(0), tmp_path / "fresh", settings=settings, docs=docs)
    assert files(tmp_path / "site") == files(tmp_path / "fresh")
    assert site.changed == site.pages


def _same_size_and_date(page: Path) -> None:
    before = page.stat()
    page.write_bytes(page.read_bytes().replace(b"table_01", b"table_99"))
    os.utime(page, ns=(before.st_atime_ns, before.st_mtime_ns))


def _elsewhere(page: Path) -> None:
    other = page.with_name("other.html")
    page.rename(other)
    page.symlink_to(other)


DAMAGES: list[Callable[[Path], object]] = [
    _same_size_and_date,
    _elsewhere,
    Path.unlink,
    lambda page: page.write_bytes(page.read_bytes()[:-10]),
    lambda page: page.unlink() or page.mkdir(),
    lambda page: page.unlink() or page.symlink_to(page),
]


def test_pages_that_somebody_changed_are_made_again(
    previous: PreviousSite, made: list[str], tmp_path: Path
) -> None:
    before = files(previous.folder)
    damaged = [f"datasets/spark/shop/table_{n:02}/" for n, _ in enumerate(DAMAGES, 1)]
    for damage, path in zip(DAMAGES, damaged, strict=True):
        damage(previous.folder / path / "index.html")
    built(world(0), tmp_path / "site", previous)
    assert files(tmp_path / "site") == before
    assert [path for path in made if path in previous.pages] == damaged
    assert not any((tmp_path / "site" / path / "index.html").is_symlink() for path in damaged)


def test_a_site_that_is_gone_is_made_again(previous: PreviousSite, tmp_path: Path) -> None:
    before = files(previous.folder)
    previous.folder.rename(tmp_path / "elsewhere")
    site = built(world(0), tmp_path / "site", previous)
    assert files(tmp_path / "site") == before
    assert site.changed == site.pages


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:-5],
        lambda content: content.replace(b"table_01", b"table_99"),
        lambda content: b"",
        lambda content: b"\xff\n{}",
        lambda content: content.partition(b"\n")[2],
    ],
)
def test_a_damaged_record_counts_as_none(damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    page = WrittenPage("datasets/a/", "table_01", b"content", b"key")
    pages = {page.path: page}
    write_record(record, pages)
    assert read_previous(record, tmp_path).pages == pages
    record.write_bytes(damage(record.read_bytes()))
    assert read_previous(record, tmp_path).pages == {}


def test_pages_are_copied_where_a_file_has_one_name_only(
    previous: PreviousSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr("os.link", refused)
    built(world(0), tmp_path / "site", previous)
    assert files(tmp_path / "site") == files(previous.folder)


def test_a_record_that_cannot_be_written_costs_time_only(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    write_record(tmp_path / "file" / "record.json", {})
    assert read_previous(tmp_path / "file" / "record.json", tmp_path).pages == {}
