"""The impact index: it answers as the lineage does, only while nothing has changed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dbt_graft.graft.commands.cli import main
from dbt_graft.graft.project.output_folder import MARKER
from dbt_graft.graft.project.project import Project
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Records
from tests.graft.commands.test_impact import project
from tests.graft.small_project import declare

__all__ = ["project"]
INDEX = ".graft/artifacts/impact_index.bin"
QUESTIONS = [
    ("raw.orders.note", "remove"),
    ("RAW.ORDERS", "rows"),
    ("orders_x.id", "privacy"),
    ("raw.orders.id", "unit"),
    ("raw.orders", "add"),
    ("raw.orders.gone", "type"),
    ("raw.ordrs", "type"),
    ("mail", "freshness"),
]
CONTRACT = """\
kind: DataContract
apiVersion: v3.1.0
id: mart
name: mart promise
schema: [{name: db.mart}]
"""


def graft(folder: Path, command: str, *arguments: str) -> Result:
    return CliRunner().invoke(main, [command, "-c", str(folder / "graft.yml"), *arguments])


def answer(folder: Path, name: str = "raw.orders.note", kind: str = "remove") -> str:
    return graft(folder, "impact", name, "--change", kind, "--json").output


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """An entry for each time that the lineage is built."""
    builds: list[str] = []
    build = Project.build

    def counted(project: Project, records: Records) -> Lineage:
        builds.append("built")
        return build(project, records)

    monkeypatch.setattr(Project, "build", counted)
    return builds


@pytest.mark.parametrize(("name", "kind"), QUESTIONS)
def test_the_second_answer_is_the_first_without_the_lineage(
    project: Path, reads: list[str], name: str, kind: str
) -> None:
    first, second = answer(project, name, kind), answer(project, name, kind)
    assert (second, reads) == (first, ["built"])


def test_one_index_answers_all_questions(project: Path, reads: list[str]) -> None:
    wanted = []
    for question in QUESTIONS:
        wanted.append(answer(project, *question))
        (project / INDEX).unlink()
    answer(project)
    reads.clear()
    assert [answer(project, *question) for question in QUESTIONS] == wanted
    assert reads == []


@pytest.mark.parametrize("command", ["inject", "site"])
def test_who_grafts_writes_the_index_that_impact_would(
    project: Path, reads: list[str], command: str
) -> None:
    answer(project)
    expected = (project / INDEX).read_bytes()
    shutil.rmtree(project / ".graft/artifacts")
    assert graft(project, command).exit_code == 0
    assert (project / INDEX).read_bytes() == expected
    reads.clear()
    answer(project)
    assert reads == []


def replace_in(name: str, old: str, new: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new))

    return change


def add_setting(text: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        with (folder / "graft.yml").open("a") as file:
            file.write(f"{text}\n")

    return change


def collect_more(folder: Path) -> None:
    declare(folder, "raw.orders", "raw.more")
    assert graft(folder, "collect").exit_code == 0


def write_contract(folder: Path) -> None:
    (folder / "mart.yml").write_text(CONTRACT)


def write_profile(folder: Path) -> None:
    (folder / "dbt_project.yml").write_text("name: shop\nprofile: shop\n")
    output = {"type": "spark", "method": "thrift", "host": "warehouse"}
    profile = {"shop": {"target": "dev", "outputs": {"dev": output}}}
    (folder / "profiles.yml").write_text(json.dumps(profile))


@pytest.mark.parametrize(
    "change",
    [
        replace_in("target/manifest.json", "not_null_note", "not_null_text"),
        replace_in("target/catalog.json", '"note"', '"text"'),
        lambda folder: (folder / "target/catalog.json").unlink(),
        replace_in("lineage.yml", "Ada", "Bob"),
        add_setting("impact: {stale_after: 30d}"),
        add_setting("names: [{from: spark/db.mart, to: spark/dm.mart}]"),
        collect_more,
        lambda folder: shutil.rmtree(folder / ".graft/store"),
        write_contract,
        write_profile,
    ],
)
def test_what_the_lineage_is_made_of_makes_a_new_index(
    project: Path, reads: list[str], change: Callable[[Path], None]
) -> None:
    add_setting("contracts: ['*mart.yml']")(project)
    answer(project)
    change(project)
    reads.clear()
    text = answer(project)
    assert reads == ["built"]
    assert answer(project) == text
    assert reads == ["built"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:-1],
        lambda content: content[: len(content) // 2],
        lambda content: content[:-9] + bytes([content[-9] ^ 1]) + content[-8:],
        lambda content: content.replace(b"graft index ", b"graft index 0", 1),
        lambda content: content.split(b"\n")[0] + b"\n",
        lambda content: content.split(b"\n")[0] + b"\n00000000 3\n[]\n",
        lambda content: b"\xff" * 1000,
    ],
)
def test_a_damaged_index_is_made_again(
    project: Path, reads: list[str], damage: Callable[[bytes], bytes]
) -> None:
    text = answer(project)
    content = (project / INDEX).read_bytes()
    (project / INDEX).write_bytes(damage(content))
    assert answer(project) == text
    assert reads == ["built", "built"]
    assert (project / INDEX).read_bytes() == content


def artifacts_is_a_file(folder: Path) -> None:
    (folder / ".graft/artifacts").write_text("mine")


def artifacts_is_not_ours(folder: Path) -> None:
    (folder / ".graft/artifacts").mkdir()
    (folder / ".graft/artifacts/mine.txt").write_text("mine")


@pytest.mark.parametrize(
    ("prepare", "left"),
    [
        (artifacts_is_a_file, [".graft/artifacts"]),
        (artifacts_is_not_ours, [".graft/artifacts/mine.txt"]),
        (add_setting("artifacts: target"), []),
        (add_setting("artifacts: .graft/store/artifacts"), []),
    ],
)
def test_where_the_index_cannot_be_written_the_answer_is_the_same(
    project: Path, reads: list[str], prepare: Callable[[Path], None], left: list[str]
) -> None:
    text = answer(project)
    shutil.rmtree(project / ".graft/artifacts")
    prepare(project)
    before = sorted(project.rglob("*"))
    assert answer(project) == answer(project) == text
    assert reads == ["built"] * 3
    assert sorted(project.rglob("*")) == before
    assert all((project / one).is_file() for one in left)


def test_the_index_lies_in_a_folder_with_the_marker_and_stays(project: Path) -> None:
    answer(project)
    assert sorted(path.name for path in (project / INDEX).parent.iterdir()) == [
        MARKER,
        "column_cache.json",
        "column_texts.json",
        "impact_index.bin",
        "lineage_index.bin",
    ]
    assert graft(project, "inject").exit_code == 0
    assert (project / INDEX).is_file()


def test_a_past_state_is_not_in_the_index(project: Path, reads: list[str]) -> None:
    answer(project)
    asked = ["raw.orders", "--change", "rows", "--as-of", "now"]
    assert graft(project, "impact", *asked).exit_code == 0
    assert reads == ["built", "built"]


def test_a_damaged_store_is_an_error_in_spite_of_an_index(project: Path) -> None:
    answer(project)
    [file] = (project / ".graft/store/accesses").rglob("*.parquet")
    file.unlink()
    result = graft(project, "impact", "raw.orders", "--change", "rows")
    assert result.exit_code == 1
    assert "the lineage store is damaged" in result.stderr


def test_without_logs_the_index_is_dbt_s_alone_and_says_so(project: Path) -> None:
    shutil.rmtree(project / ".graft/store")
    found = [graft(project, "impact", "raw.orders", "--change", "rows") for _ in range(2)]
    assert found[0].output == found[1].output
    assert found[1].stderr.count("this is dbt's lineage alone") == 1


def test_a_graft_of_a_damaged_store_writes_no_index(project: Path) -> None:
    [file] = (project / ".graft/store/accesses").rglob("*.parquet")
    file.unlink()
    assert graft(project, "site").exit_code == 1
    assert not (project / INDEX).exists()


def test_a_collect_between_leaves_no_index(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = Project.build

    def late(asked: Project, records: Records) -> Lineage:
        lineage = build(asked, records)
        monkeypatch.setattr(Project, "build", build)
        collect_more(project)
        return lineage

    monkeypatch.setattr(Project, "build", late)
    answer(project)
    assert not (project / INDEX).exists()


@pytest.mark.parametrize(
    "command", [("clean",), ("forget", "declared:lineage.yml", "--yes"), ("purge",)]
)
def test_what_is_taken_out_of_the_store_stays_in_no_index(
    project: Path, command: tuple[str, ...]
) -> None:
    add_setting("keep: {statements: 90d}")(project)
    answer(project)
    index = project / ".graft/artifacts/lineage_index.bin"
    assert index.is_file()
    assert (
        CliRunner().invoke(main, ["store", *command, "-c", str(project / "graft.yml")]).exit_code
        == 0
    )
    assert not index.exists()
