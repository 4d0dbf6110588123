"""Entries of graft.yml that fit nothing are named, each with what there is instead."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dbt_graft.graft.project.config import load
from dbt_graft.graft.questions.checks.unused_entries import find_unused_entries, foreign_namespace
from dbt_graft.injector.platform import Platform
from dbt_graft.lineage.dataset import Kind, parse_dataset_id
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Column, Dataset, Direction, Records
from tests.cases import for_each


def records(*names: str, columns: dict[str, str] | None = None) -> Records:
    ids = {name: parse_dataset_id(name) for name in names}
    return Records(
        accesses=tuple(
            Access("load", "r", one, Kind.TABLE, Direction.READ, Operation.SELECT, "s")
            for one in ids.values()
        ),
        datasets=tuple(
            Dataset(ids[name], columns=tuple(Column(column) for column in text.split()))
            for name, text in (columns or {}).items()
        ),
    )


A, B = "mssql://a/Shop.dbo.orders", "mssql://b/Old.dbo.orders"
COLLECT = "collect: [{spark: {path: logs}}]\n"
TO_ONE = 'names: [{from: "mssql://a/Shop.dbo.*", to: "spark/raw.*"},'
TO_ONE += ' {from: "mssql://b/Old.dbo.*", to: "spark/raw.*"}]'
FILES = 'names: [{from: "file/landing/orders", to: "spark/raw.orders"}]'
CASES = {
    "all fits": ("", records("spark/raw.orders"), []),
    "nothing was collected": ("tasks: {lod: {}}", Records(), []),
    "a task that no log has": (
        "tasks: {lod: {}, load: {}}",
        records("spark/x"),
        ["`tasks` has 1 task that no log has: lod"],
    ),
    "a path without a file": (
        "tasks: {load: {path: etl/lod.py}}",
        records("spark/x"),
        ["`tasks.load.path`: there is no file etl/lod.py"],
    ),
    "a path in a repository": (
        "tasks: {load: {path: etl/lod.py, repo: https://git.example.com/etl}}",
        records("spark/x"),
        [],
    ),
    "code without a file": (
        "tasks: {load: {code: etl/lod.py, repo: https://git.example.com/etl}}",
        records("spark/x"),
        ["`tasks.load.code`: there is no file etl/lod.py"],
    ),
    "a path with a file": ("tasks: {load: {path: graft.yml}}", records("spark/x"), []),
    "a rule that matches nothing": (
        "names: [{from: 'mssql://crm/*', to: 'spark/*'}]",
        records("spark/x"),
        ["the rule from mssql://crm/* is never used: it matches no dataset"],
    ),
    "a rule behind another": (
        "names: [{from: 'a/*', to: 'spark/*'}, {from: 'a/b', to: 'spark/c'}]",
        records("a/b"),
        ["the rule from a/b is never used: earlier rules match all its datasets"],
    ),
    "two tables made one": (
        TO_ONE,
        records(A, B),
        [f"rules under `names` make one dataset spark/raw.orders of {A} and {B}"],
    ),
    "one table on two servers": (
        TO_ONE,
        records(A, B, columns={A: "id amount", B: "ID Amount"}),
        [],
    ),
    "a folder and its table": (FILES, records("file/landing/orders", "spark/raw.orders"), []),
    "a folder and a table with other columns": (
        FILES,
        records(
            "file/landing/orders",
            "spark/raw.orders",
            columns={"file/landing/orders": "id x", "spark/raw.orders": "id y"},
        ),
        [
            "rules under `names` make one dataset spark/raw.orders of file/landing/orders "
            "and spark/raw.orders"
        ],
    ),
}


@for_each("name", CASES)
def test_an_entry_without_effect_is_named(name: str, tmp_path: Path) -> None:
    text, known, problems = CASES[name]
    (tmp_path / "graft.yml").write_text(COLLECT + text)
    findings = [*find_unused_entries(load(tmp_path / "graft.yml"), known)]
    assert [finding.problem for finding in findings] == problems
    assert all(finding.remedy for finding in findings)


def test_no_log_to_collect_is_named(tmp_path: Path) -> None:
    (tmp_path / "graft.yml").write_text("collect: []")
    (finding,) = find_unused_entries(load(tmp_path / "graft.yml"), Records())
    assert finding.problem == "`collect` names no log"


def test_code_that_is_not_there_is_named(tmp_path: Path) -> None:
    paths = ["nope/", "nope/*.py", "."]
    entries = "".join(f"\n- python: {{path: '{path}'}}" for path in paths)
    (tmp_path / "graft.yml").write_text(f"collect:\n- spark: {{path: logs}}{entries}\n")
    findings = find_unused_entries(load(tmp_path / "graft.yml"), Records())
    problems = [finding.problem for finding in findings]
    assert problems == ["`collect` names code where nothing is: nope/"]


def test_temporary_tables_are_no_names_to_correct_a_rule_by(tmp_path: Path) -> None:
    (tmp_path / "graft.yml").write_text(COLLECT + "names: [{from: 'a/*', to: 'b/*'}]")
    known = records("mssql://a/#t~1", "mssql://a/Shop.dbo.orders")
    first, second = known.accesses
    known = Records(accesses=(replace(first, kind=Kind.TEMPORARY), second))
    (finding,) = find_unused_entries(load(tmp_path / "graft.yml"), known)
    assert finding.remedy == "correct `from`; the logs have mssql://a/Shop.dbo.orders"


@pytest.mark.parametrize(
    ("platform", "problem"),
    [
        (Platform("raw"), ""),
        (Platform("duckdb", frozenset({"dbt", "SPARK"})), ""),
        (
            Platform("duckdb"),
            "no dataset of the logs is in the namespace duckdb, which holds dbt's relations; "
            "the logs have spark (1)",
        ),
    ],
)
def test_a_namespace_of_dbt_that_no_log_has_is_named(
    platform: Platform, problem: str, tmp_path: Path
) -> None:
    rule = 'names: [{from: "spark/x.*", to: "raw/x.*"}]' if platform.namespace == "raw" else ""
    (tmp_path / "graft.yml").write_text(f"{COLLECT}{rule}")
    known = records("spark/x.orders")
    config = load(tmp_path / "graft.yml")
    findings = foreign_namespace(known, config.name_rules, platform)
    assert [finding.problem for finding in findings] == ([problem] if problem else [])


def test_a_path_that_dbt_reads_is_in_its_namespace() -> None:
    """dbt-duckdb's external sources: the logs have no other names than those of files."""
    of_logs = records("file/lake/raw/orders")
    relation = parse_dataset_id("duckdb://shop.duckdb/shop.raw.orders")
    platform = Platform("duckdb://shop.duckdb")
    assert [*foreign_namespace(of_logs, lambda _: relation, platform)] == []
    assert len([*foreign_namespace(of_logs, lambda dataset: dataset, platform)]) == 1
