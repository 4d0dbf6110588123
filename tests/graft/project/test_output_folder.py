"""Output folders: graft writes into its own only, and removes nothing that it did not write."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dbt_graft.graft.commands.cli import main
from dbt_graft.graft.project import config as configuration
from dbt_graft.graft.project.output_folder import MARKER, OutputFolder
from dbt_graft.graft.project.outputs import check_outputs
from dbt_graft.lineage.errors import GraftError
from tests.cases import for_each


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A dbt project in a repository, in a home folder, with people's own files."""
    home = tmp_path / "people" / "ada"
    folder = home / "work" / "shop"
    for name in (
        "models/orders.sql",
        "target/manifest.json",
        "docs/handbook.md",
        ".graft/store/batches/one.parquet",
        "notes.txt",
        "../.git/HEAD",
        "../../.git/HEAD",
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{name} of Ada")
    (folder / "empty").mkdir()
    (folder / "locked").mkdir()
    (folder / "link").symlink_to("models")
    monkeypatch.setenv("HOME", str(home))
    access = os.access
    monkeypatch.setattr(
        os, "access", lambda path, mode: "locked" not in str(path) and access(path, mode)
    )
    return folder


def _files(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in folder.rglob("*")
        if path.is_file()
    }


REFUSED = {
    "the project": (".", "is, or holds, the project"),
    "its parent, a repository": ("..", "is a folder of git"),
    "above the project": ("../../../", "is, or holds, a home folder"),
    "people's files": ("docs", "has files that graft did not write, such as handbook.md"),
    "models": ("models", "has files that graft did not write, such as orders.sql"),
    "a link to models": ("link", "has files that graft did not write, such as orders.sql"),
    "the store": (".graft/store", "is, or holds, the lineage store"),
    "inside of the store": (".graft/store/batches/site", "is inside of the lineage store"),
    "above the store": (".graft", "is, or holds, the lineage store"),
    "dbt's target": ("target", "is, or holds, dbt's target"),
    "inside of dbt's target": ("target/site", "is inside of dbt's target"),
    "git": ("../.git", "is a folder of git"),
    "inside of git": ("../.git/hooks", "is a folder of git"),
    "home": ("~", "is a folder of git"),
    "the users' folder": ("/home", "is, or holds, a home folder"),
    "somebody's home": ("/home/somebody-else", "is, or holds, a home folder"),
    "the top": ("/", "is the top of the file system"),
    "a file": ("notes.txt", "is a file"),
    "below a file": ("notes.txt/site", "is a file"),
    "read-only": ("locked", "is read-only"),
    "below read-only": ("locked/site", "is read-only"),
}


@pytest.mark.parametrize("key", ["site.out", "artifacts"])
@pytest.mark.parametrize(("out", "reason"), REFUSED.values(), ids=REFUSED)
def test_a_folder_is_refused(project: Path, key: str, out: str, reason: str) -> None:
    config = _config(project, key, str(Path.home()) if out == "~" else out)
    before = _files(project.parent)
    with pytest.raises(GraftError) as caught:
        check_outputs(config)
    error = caught.value
    assert reason in error.problem
    assert f"`{key}`" in error.problem
    assert f"`{key}` in graft.yml" in error.remedy
    assert Path(error.place).is_absolute()
    assert _files(project.parent) == before


def _config(project: Path, key: str, out: str) -> configuration.Config:
    line = f"site: {{out: '{out}'}}" if key == "site.out" else f"artifacts: '{out}'"
    (project / "graft.yml").write_text(f"{line}\n")
    return configuration.load(project / "graft.yml")


@pytest.mark.parametrize(
    ("site", "artifacts", "reason"),
    [
        ("out", "out", "`artifacts` is the same folder as `site.out`"),
        ("out", "empty/../out/", "`artifacts` is the same folder as `site.out`"),
        ("out", "out/artifacts", "`site.out` holds `artifacts`"),
        ("out/site", "out", "`artifacts` holds `site.out`"),
    ],
)
def test_two_keys_never_name_one_folder(
    project: Path, site: str, artifacts: str, reason: str
) -> None:
    (project / "graft.yml").write_text(f"site: {{out: {site}}}\nartifacts: {artifacts}\n")
    with pytest.raises(GraftError) as caught:
        check_outputs(configuration.load(project / "graft.yml"))
    assert caught.value.problem == reason


@pytest.mark.parametrize("store", ["target", "target/store", "models/../target/x"])
def test_a_store_that_dbt_clean_would_delete_is_refused(project: Path, store: str) -> None:
    (project / "graft.yml").write_text(f"store: {store}\n")
    with pytest.raises(GraftError) as caught:
        check_outputs(configuration.load(project / "graft.yml"))
    assert str(caught.value) == (
        f"graft.yml: `store: {store}`: lies in dbt's target, which `dbt clean` deletes\n"
        "  name a folder elsewhere, such as .graft/store"
    )


@pytest.mark.parametrize("out", ["new", "new/deep/er", "empty", "build/site", "../elsewhere"])
def test_a_new_or_empty_folder_is_accepted(project: Path, out: str) -> None:
    config = _config(project, "site.out", out)
    check_outputs(config)
    folder = OutputFolder("site.out", Path(config.path(out)))
    folder.claim()
    (folder.path / "foreign.txt").write_text("with the marker it is ours")
    check_outputs(config)


@pytest.mark.parametrize("command", ["build", "site", "inject", "collect"])
def test_commands_refuse_before_they_do_anything(
    project: Path, command: str, capfd: pytest.CaptureFixture[str]
) -> None:
    _config(project, "artifacts", "target")
    before = _files(project)
    with pytest.raises(SystemExit, match="1"):
        main([command, "--config", str(project / "graft.yml")])
    assert "`artifacts` is, or holds, dbt's target" in capfd.readouterr().err
    assert _files(project) == before


@for_each(
    "line, fault",
    [
        (r'site: {out: "a\0b"}', "`site.out`: write a path without control characters"),
        (r'artifacts: "a\nb"', "`artifacts`: write a path without control characters"),
        ("site: {out: 's3://bucket/site'}", "`site.out`: write a folder of this machine"),
        ("site: {url: not a url}", "`site.url`: write the address of the published site"),
        ("site: {url: 'javascript:alert(1)'}", "`site.url`: write the address"),
        ("site: {url: 'https://x.example/\"><script>'}", "`site.url`: write the address"),
        ("site: {url: 'https://ada:secret@x.example/'}", "`site.url`: write the address"),
    ],
)
def test_impossible_outputs_are_faults_of_graft_yml(tmp_path: Path, line: str, fault: str) -> None:
    (tmp_path / "graft.yml").write_text(line)
    with pytest.raises(configuration.ConfigError) as caught:
        configuration.load(tmp_path / "graft.yml")
    assert fault in str(caught.value)
    assert "graft.yml:1" in str(caught.value)
    assert "secret" not in str(caught.value)


def _publish(folder: Path, files: dict[str, str]) -> None:
    with OutputFolder("site.out", folder).replaced() as content:
        for name, text in files.items():
            (content / name).parent.mkdir(parents=True, exist_ok=True)
            (content / name).write_text(text)


def _published(folder: Path) -> dict[str, str]:
    return {name: text for name, text in _files(folder).items() if name != MARKER}


def test_only_what_graft_wrote_is_replaced(tmp_path: Path) -> None:
    site = tmp_path / "site"
    _publish(site, {"index.html": "old", "gone/deep/index.html": "old", "mixed/index.html": "old"})
    foreign = {"CNAME": "data.example.com", ".nojekyll": "", "mixed/report.pdf": "x", "blog/a": "b"}
    for name, text in foreign.items():
        (site / name).parent.mkdir(exist_ok=True)
        (site / name).write_text(text)
    _publish(site, {"index.html": "new", "more/index.html": "new"})
    assert _published(site) == {"index.html": "new", "more/index.html": "new", **foreign}
    assert not (site / "gone").exists()


def test_what_is_kept_stays_as_it_is(tmp_path: Path) -> None:
    site = tmp_path / "site"
    _publish(site, {"index.html": "old", "kept/index.html": "same", "gone/index.html": "old"})
    before = (site / "kept/index.html").stat()
    with OutputFolder("site.out", site).replaced({"kept/index.html"}) as content:
        (content / "index.html").write_text("new")
    assert _published(site) == {"index.html": "new", "kept/index.html": "same"}
    after = (site / "kept/index.html").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    _publish(site, {"index.html": "new"})
    assert _published(site) == {"index.html": "new"}


def test_what_graft_did_not_write_is_not_kept(tmp_path: Path) -> None:
    site = tmp_path / "site"
    _publish(site, {"index.html": "old"})
    (site / "CNAME").write_text("data.example.com")
    with (
        pytest.raises(GraftError, match="in the way: graft did not write it"),
        OutputFolder("site.out", site).replaced({"CNAME"}) as content,
    ):
        (content / "index.html").write_text("new")
    assert _published(site) == {"index.html": "old", "CNAME": "data.example.com"}


def test_a_file_may_become_a_folder(tmp_path: Path) -> None:
    _publish(tmp_path / "site", {"a": "file"})
    _publish(tmp_path / "site", {"a/b": "folder"})
    assert _published(tmp_path / "site") == {"a/b": "folder"}


@pytest.mark.parametrize("foreign", ["a/index.html", "a"])
def test_what_somebody_else_put_in_the_way_stays_and_so_does_the_old_site(
    tmp_path: Path, foreign: str
) -> None:
    site = tmp_path / "site"
    _publish(site, {"index.html": "old"})
    (site / foreign).parent.mkdir(exist_ok=True)
    (site / foreign).write_text("mine")
    with pytest.raises(GraftError, match="is in the way: graft did not write it"):
        _publish(site, {"a/index.html": "new", "index.html": "new"})
    assert _published(site) == {"index.html": "old", foreign: "mine"}


def test_a_link_inside_of_the_site_is_not_followed(tmp_path: Path) -> None:
    site, elsewhere = tmp_path / "site", tmp_path / "elsewhere"
    _publish(site, {"index.html": "old"})
    elsewhere.mkdir()
    (site / "tasks").symlink_to(elsewhere)
    with pytest.raises(GraftError, match="is in the way"):
        _publish(site, {"index.html": "new", "tasks/index.html": "new"})
    assert _files(elsewhere) == {}


def test_a_folder_that_cannot_be_renamed_is_published_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mount point cannot be renamed or removed, and its parent may be read-only."""
    site = tmp_path / "mounted"
    site.mkdir()
    identity = site.stat().st_ino
    rename = os.replace

    def replace(source: str | Path, target: str | Path) -> None:
        assert site in Path(source).parents
        assert site in Path(target).parents
        rename(source, target)

    monkeypatch.setattr(Path, "replace", replace)
    _publish(site, {"index.html": "old"})
    _publish(site, {"index.html": "new"})
    assert _published(site) == {"index.html": "new"}
    assert site.stat().st_ino == identity
    assert [path.name for path in tmp_path.iterdir()] == ["mounted"]


def test_behind_a_symbolic_link_the_other_files_stay(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "site"
    target.mkdir()
    link.symlink_to(target)
    _publish(link, {"index.html": "old"})
    (target / "CNAME").write_text("x")
    _publish(link, {"index.html": "new"})
    assert link.is_symlink()
    assert _published(target) == {"index.html": "new", "CNAME": "x"}


def test_a_failed_build_leaves_the_old_site(tmp_path: Path) -> None:
    site = tmp_path / "site"
    _publish(site, {"index.html": "old"})

    def fails() -> None:
        with OutputFolder("site.out", site).replaced() as content:
            (content / "index.html").write_text("half")
            raise OSError(28, "No space left on device")

    with pytest.raises(GraftError, match="cannot be written: No space left"):
        fails()
    assert _published(site) == {"index.html": "old"}


@pytest.mark.parametrize("moves", range(5))
def test_a_crash_while_files_are_replaced_leaves_each_old_or_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moves: int
) -> None:
    site = tmp_path / "site"
    _publish(site, {"index.html": "old", "a/index.html": "old", "gone": "old"})
    (site / "CNAME").write_text("x")
    done = []
    rename = os.replace

    def replace(source: str | Path, target: str | Path) -> None:
        if len(done) == moves:
            raise KeyboardInterrupt
        done.append(target)
        rename(source, target)

    monkeypatch.setattr(Path, "replace", replace)
    new = {"index.html": "new", "a/index.html": "new", "b/index.html": "new"}
    with pytest.raises(KeyboardInterrupt):
        _publish(site, new)
    left = _published(site)
    assert set(left.values()) <= {"old", "new", "x", _marker_beside(site)}
    assert {"index.html", "a/index.html"} <= set(left)
    monkeypatch.undo()
    _publish(site, new)
    assert _published(site) == {**new, "CNAME": "x"}


def _marker_beside(site: Path) -> str:
    beside = site / f"{MARKER}.new"
    return beside.read_text() if beside.exists() else "new"


KILLED = """
import os, sys
from pathlib import Path
from dbt_graft.graft.project.output_folder import OutputFolder
with OutputFolder("site.out", Path(sys.argv[1])).replaced() as content:
    (content / "index.html").write_text("half")
    os._exit(9)
"""


def test_what_a_killed_run_left_is_swept(tmp_path: Path) -> None:
    site = tmp_path / "site"
    done = subprocess.run([sys.executable, "-c", KILLED, str(site)], check=False)
    assert done.returncode == 9
    assert len(_files(site)) > 1
    _publish(site, {"index.html": "new"})
    assert _published(site) == {"index.html": "new"}
    assert [path.name for path in site.iterdir() if path.is_dir()] == []


def test_two_at_once_publish_one_after_the_other(tmp_path: Path) -> None:
    site = tmp_path / "site"
    inside, go = threading.Event(), threading.Event()

    def first() -> None:
        with OutputFolder("site.out", site).replaced() as content:
            (content / "index.html").write_text("first")
            inside.set()
            go.wait(10)

    thread = threading.Thread(target=first)
    thread.start()
    inside.wait(10)
    second = threading.Thread(target=_publish, args=(site, {"index.html": "second"}))
    second.start()
    second.join(0.3)
    assert second.is_alive()
    go.set()
    thread.join(10)
    second.join(10)
    assert _published(site) == {"index.html": "second"}


@pytest.mark.parametrize("content", ["", "[]", '{"files": 3}', "{"])
def test_a_damaged_marker_is_an_error_not_a_guess(tmp_path: Path, content: str) -> None:
    site = tmp_path / "site"
    _publish(site, {"index.html": "old"})
    (site / MARKER).write_text(content)
    with pytest.raises(GraftError, match="is damaged: what graft wrote there is not known"):
        _publish(site, {"index.html": "new"})
    assert _published(site)["index.html"] == "old"


def test_a_forged_marker_removes_nothing_outside(tmp_path: Path) -> None:
    site, outside = tmp_path / "site", tmp_path / "outside.txt"
    outside.write_text("mine")
    _publish(site, {"index.html": "old"})
    (site / MARKER).write_text(f'{{"files": ["../outside.txt", "{outside}", "", "a/../../b"]}}')
    (site / "index.html").unlink()
    _publish(site, {"index.html": "new"})
    assert outside.read_text() == "mine"
