"""dbt's artifacts: whether they exist and are newer than the project."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.analysis.render.phrases import ago, count, join_names
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.dbt_folders import PROJECT_FILE, read_project
from dbt_graft.graft.project.dbt_relations import dbt_platform
from dbt_graft.graft.project.project import Project
from dbt_graft.injector import artifacts
from dbt_graft.injector.artifacts import Artifacts
from dbt_graft.injector.index.agreement import index_agreement
from dbt_graft.injector.index.tables import DbtIndex
from dbt_graft.injector.index_page import read_page
from dbt_graft.lineage.errors import GraftError

_warning = partial(Finding, "DBT_ARTIFACTS", Severity.WARNING)
_SHOWN = 5
# Keys of dbt_project.yml and their defaults: the folders that make up a manifest.
_FOLDERS = {
    "model-paths": ["models"],
    "seed-paths": ["seeds"],
    "snapshot-paths": ["snapshots"],
    "macro-paths": ["macros"],
    "test-paths": ["tests"],
}


def dbt_artifacts(project: Project) -> Iterator[Finding]:
    """The version, age and size of dbt's artifacts.

    Raises:
        GraftError: There is no manifest, or it cannot be read.
    """
    config, folder = project.config, project.config.target_dir
    read = project.dbt.artifacts if project.dbt else artifacts.read(folder)
    written = _written_at(read, folder / "manifest.json")
    files = ["manifest.json", *(["catalog.json"] if read.has_catalog else [])]
    files += ["index/"] if read.index else []
    nodes = [node.get("resource_type") for node in read.manifest["nodes"].values()]
    yield Finding(
        "DBT_ARTIFACTS",
        Severity.NOTE,
        str(folder),
        f"dbt {read.dbt_version} wrote {join_names(files)} {ago(written)} for {read.adapter}: "
        f"{count(nodes.count('model'), 'model')}, "
        f"{count(len(read.manifest['sources']), 'source')}, "
        f"all in namespace {dbt_platform(config, read.adapter).namespace}",
    )
    for notice in read.notices:
        path, _, problem = notice.partition(": ")
        yield _warning(path, problem)
    yield from _find_outdated(config.project_dir, written)
    if read.index and read.index.rows("dbt.column_lineage"):
        yield _compare_columns(project, read.index)


def project_file(config: Config) -> Iterator[Finding]:
    """Nothing, where dbt's own project file can be read: without it the target folder is a guess.

    Raises:
        GraftError: It cannot be read, or the project's folder is not there.
    """
    if not config.project_dir.is_dir():
        raise GraftError(
            "there is no such folder",
            place=str(config.project_dir),
            remedy="correct `dbt.project_dir` in graft.yml, or DBT_PROJECT_DIR",
        )
    path = config.project_dir / PROJECT_FILE
    if path.is_file():
        read_project(path)
    return iter(())


def docs_page(config: Config) -> Iterator[Finding]:
    """Whether the docs page of dbt 2 will ask hosts on the internet.

    Raises:
        GraftError: The page is of a version that we do not know, or a file of DuckDB is missing.
    """
    page = read_page(config.target_dir)
    if page is None:
        return
    page.shipped(config.duckdb)
    if page.duckdb_host and not config.duckdb:
        yield Finding(
            "DBT_DOCS",
            Severity.NOTE,
            str(page.target / "index.html"),
            f"browsers will load DuckDB for it from {page.duckdb_host}, and DuckDB its extensions "
            "from extensions.duckdb.org: without the internet it shows next to nothing",
            "let the site have DuckDB: `docs.duckdb`, see docs/dbt-versions.md",
        )


def _compare_columns(project: Project, index: DbtIndex) -> Finding:
    """The agreement of dbt's own column lineage with ours."""
    assert project.dbt
    nodes = {dataset: node_id for node_id, dataset in project.dbt.relations.datasets.items()}
    compared = index_agreement(index, project.grafted().followed.edges, nodes)
    differences = compared.differences
    of_all = compared.same + len(differences)
    problem = f"dbt's own column lineage and ours agree on {compared.same:,} of {of_all:,} columns"
    return Finding(
        "COLUMN_LINEAGE",
        Severity.WARNING if differences else Severity.NOTE,
        str(index.folder),
        f"{problem}; not on {join_names(differences, _SHOWN)}" if differences else problem,
        "dbt's stays in its page; report where ours is wrong" if differences else "",
    )


def _written_at(read: Artifacts, manifest: Path) -> datetime:
    try:
        written = datetime.fromisoformat(str(read.manifest["metadata"]["generated_at"]))
    except (KeyError, ValueError):
        return datetime.fromtimestamp(manifest.stat().st_mtime, UTC)
    return written if written.tzinfo else written.replace(tzinfo=UTC)


def _find_outdated(project: Path, written: datetime) -> Iterator[Finding]:
    """A warning if a file of the project is newer; after a checkout all files are."""
    newest = max(_files(project), key=lambda path: path.stat().st_mtime, default=None)
    if newest and newest.stat().st_mtime > written.timestamp():
        yield _warning(
            str(newest),
            "is newer than dbt's artifacts",
            "run `dbt docs generate`, or `graft build --dbt`",
        )


def _files(project: Path) -> Iterator[Path]:
    path = project / PROJECT_FILE
    if not path.is_file():
        return
    yield path
    try:
        keys = read_project(path)
    except GraftError:  # a check of its own reports it
        keys = {}
    for key, default in _FOLDERS.items():
        folders = keys.get(key)
        for folder in folders if isinstance(folders, list) else default:
            yield from (file for file in (project / str(folder)).rglob("*") if file.is_file())
