"""The full-text index: made by Pagefind, again only when a text has changed."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dbt_graft.catalog import full_text
from dbt_graft.catalog.full_text import FOLDER, NoPagefindError, SearchText, write_full_text
from dbt_graft.catalog.name_index import IndexedName, NameKind

ENTRY = IndexedName(
    NameKind.DATASET,
    "raw.orders",
    "datasets/spark/raw/orders/",
    ("Spark",),
    ("Data platform",),
    "Table",
)
TEXT = SearchText(ENTRY, "One row an order, in the currency that was paid.")


def _files(site: Path) -> dict[str, bytes]:
    folder = site / FOLDER
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


def test_only_what_the_browser_needs_is_published(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    assert write_full_text(site, [TEXT])
    kinds = {name.rpartition(".")[2] for name in _files(site)}
    assert kinds == {"js", "json", "pagefind", "pf_meta", "pf_index", "pf_fragment", "txt"}
    assert not [name for name in _files(site) if "ui" in name or "highlight" in name]
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_equal_texts_make_equal_files(tmp_path: Path) -> None:
    texts = [
        SearchText(
            replace(ENTRY, path=f"datasets/{n}/", owners=(f"team {n % 7}",)), f"words {n} of a text"
        )
        for n in range(40)
    ]
    for name, some in (("one", texts), ("two", texts[::-1])):
        (tmp_path / name).mkdir()
        write_full_text(tmp_path / name, some)
    assert _files(tmp_path / "one") == _files(tmp_path / "two")


def test_an_unchanged_index_is_taken_from_the_build_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
    write_full_text(tmp_path / "one", [TEXT])
    ran: list[Path] = []
    run = full_text._run_pagefind

    def counted(pages: Path, out: Path) -> None:
        ran.append(pages)
        run(pages, out)

    monkeypatch.setattr(full_text, "_run_pagefind", counted)
    assert write_full_text(tmp_path / "two", [TEXT], tmp_path / "one")
    assert not ran
    assert _files(tmp_path / "two") == _files(tmp_path / "one")
    changed = replace(TEXT, text="Other words.")
    write_full_text(tmp_path / "three", [changed], tmp_path / "two")
    assert len(ran) == 1
    assert _files(tmp_path / "three") != _files(tmp_path / "two")


def test_one_changed_text_makes_its_part_again_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(full_text, "_MOST", 10)
    texts = [SearchText(replace(ENTRY, path=f"datasets/{n}/"), f"words {n}") for n in range(35)]
    other = [*texts[:34], replace(texts[34], text="other words")]
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    assert write_full_text(tmp_path / "one", texts) == 4
    assert write_full_text(tmp_path / "two", other, tmp_path / "one") == 4
    first, second = (
        [(tmp_path / name / FOLDER / f"{n}/digest.txt").read_bytes() for n in range(4)]
        for name in ("one", "two")
    )
    assert sum(a != b for a, b in zip(first, second, strict=True)) == 1
    fragments = [len(list((tmp_path / "two" / FOLDER).glob(f"{n}/fragment/*"))) for n in range(4)]
    assert sum(fragments) == 35
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]


def test_of_texts_with_one_path_the_last_counts(tmp_path: Path) -> None:
    for name, texts in (("one", [TEXT]), ("two", [replace(TEXT, text="Former words."), TEXT])):
        (tmp_path / name).mkdir()
        write_full_text(tmp_path / name, texts)
    assert _files(tmp_path / "one") == _files(tmp_path / "two")


def test_a_damaged_index_is_made_again(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    write_full_text(tmp_path / "one", [TEXT])
    (tmp_path / "one" / FOLDER / "0/digest.txt").write_bytes(b"\xff")
    assert write_full_text(tmp_path / "two", [TEXT], tmp_path / "one")
    assert (tmp_path / "two" / FOLDER / "0/pagefind.js").is_file()


def test_without_a_text_there_is_no_index(tmp_path: Path) -> None:
    assert not write_full_text(tmp_path, [])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("/does/not/exist", "No such file"),
        ("import sys; sys.exit('this platform has no program')", "this platform has no program"),
        ("", "it ended with 0"),
    ],
)
def test_a_pagefind_that_cannot_run_gives_its_reason(
    program: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = subprocess.run

    def other(command: list[str], **settings: Any) -> Any:
        started = [program] if program[:1] == "/" else [command[0], "-c", program]
        return run(started, **settings)

    monkeypatch.setattr(full_text.subprocess, "run", other)
    (tmp_path / "site").mkdir()
    with pytest.raises(NoPagefindError, match=reason):
        write_full_text(tmp_path / "site", [TEXT])
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_hostile_texts_stay_inside_their_stub() -> None:
    hostile = '"><script>alert(1)</script><b data-pagefind-meta="x'
    stub = full_text._stub(
        SearchText(replace(ENTRY, name=hostile, note=hostile, path="a/"), hostile)
    )
    assert stub.count("<") == full_text._stub(TEXT).count("<")
    assert stub.count('"') == full_text._stub(TEXT).count('"')
