"""The command as a program: what it imports, errors for other programs, the schema for editors."""

# ruff: noqa: F811 (a fixture of another module)

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml
from click.shell_completion import ShellComplete

from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.analysis.render.github import annotation, findings, with_file
from dbt_graft.graft.commands.cli import DOCS_URL, main
from dbt_graft.graft.project.config import SCHEMA_URL, json_schema
from dbt_graft.graft.steps.start import write_config
from dbt_graft.lineage.errors import GraftError
from tests.cases import for_each
from tests.graft.commands.test_impact import project  # noqa: F401 (a fixture)
from tests.graft.test_inject import folder  # noqa: F401 (a fixture)


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_the_help_imports_no_command(option: str) -> None:
    code = (
        "import sys; from dbt_graft.graft.commands.cli import main\n"
        f"main(['{option}'], standalone_mode=False)\n"
        "heavy = {'pydantic', 'pyarrow', 'yaml', 'sqlglot', 'orjson'} & {*sys.modules}\n"
        "sys.exit(', '.join(heavy) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


_STEPS = {"pyspark", "requests", "pyodbc", "mkdocs", "dbt_graft.collectors.spark.worker"}
_READERS = _STEPS | {"pydantic", "dbt_graft.collectors.python_code.script"}
_PARSING = {"numpy", "sqlglot", "jinja2", "jsonschema", "dbt_graft.injector.graft"}
_BUILDING = _PARSING | {"pyarrow", "duckdb"}
_ANSWERS = _READERS | _BUILDING | {"importlib.metadata"}
_PROJECT = "dbt_graft.graft.project.project"


def test_a_question_imports_what_it_needs(folder: Path) -> None:
    """By what the first two left, the next ones need neither the store nor a parser."""
    code = (
        "import atexit, sys; from dbt_graft.__main__ import main\n"
        "unneeded = set(sys.argv.pop(1).split(','))\n"
        "atexit.register(lambda: print(sorted(m for m in unneeded if sys.modules.get(m))))\n"
        "main()"
    )
    for unneeded, question in (
        (_STEPS, "show orders"),
        (_STEPS | _BUILDING, "show orders"),
        (_ANSWERS, "show orders --why"),
        (_ANSWERS, "show orders --json"),
        (_ANSWERS, "impact orders --change rows"),
        (_ANSWERS | {_PROJECT}, "export declared"),
        (_READERS | _PARSING | {_PROJECT}, "query 'from tasks'"),
        (_READERS | _PARSING | {_PROJECT}, "query --views"),
        (_READERS | _PARSING | {_PROJECT, "duckdb"}, "incident list"),
        (_READERS | _PARSING | {_PROJECT, "duckdb"}, "store info"),
        (_READERS | _PARSING | {"duckdb"}, "diff"),
        (_READERS | _PARSING | {_PROJECT}, "query 'from findings'"),
        (_STEPS | _PARSING, "review --base target"),
        (_ANSWERS | {_PROJECT}, "check"),
        (_READERS | {"sqlglot", "jinja2", "duckdb"}, "doctor"),
        (_ANSWERS | {"yaml.cyaml"}, "--version"),
        (_STEPS | {"numpy", "sqlglot", "dbt_graft.collectors.store.door"}, "inject"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", code, ",".join(unneeded), *shlex.split(question)],
            cwd=folder,
            capture_output=True,
            text=True,
        )
        assert done.stdout.splitlines()[-1:] == ["[]"], (question, done.stdout, done.stderr)


def test_the_shell_completes_commands_tables_columns_and_tasks(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    shell = ShellComplete(main, {}, "graft", "_GRAFT_COMPLETE")

    def complete(*words: str) -> list[str]:
        return [item.value for item in shell.get_completions([*words[:-1]], words[-1])]

    assert complete("show", "raw.") == [], "without an index nothing is read"
    assert run("impact", "raw.orders", "--change", "rows") == 0
    assert complete("in") == ["init", "inject", "incident"]
    assert complete("export", "o") == ["openlineage"]
    assert complete("show", "RAW.o") == ["raw.orders"]
    assert complete("impact", "raw.orders.n") == ["raw.orders.note"]
    assert complete("show", "last", "--task", "ma") == ["mart_to_mail"]


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main.main(list(arguments), prog_name="graft")
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_a_wrong_command_has_a_suggestion(capfd: pytest.CaptureFixture[str]) -> None:
    assert run("bild") == 2
    assert "Did you mean 'build'?" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("text", "arguments", "problem", "code"),
    [
        ("stroe: x", ["inject", "--json"], "graft.yml:1: `stroe` is not a key here; did you", 2),
        ("{}", ["inject", "--json"], "there is no manifest.json", 1),
        ("{}", ["site", "--json", "-q"], "there is no manifest.json", 1),
        ("{}", ["inject", "--jsn", "--json"], "No such option", 2),
        ("{}", ["check", "--format", "json"], "there is no lineage", 1),
        ("{}", ["check", "--format=json"], "there is no lineage", 1),
        ("{}", ["logs", "spark", "no", "--json"], "there is nothing at this path", 1),
    ],
)
def test_errors_are_json_with_json(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    text: str,
    arguments: list[str],
    problem: str,
    code: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "graft.yml").write_text(text)
    assert run(*arguments) == code
    captured = capfd.readouterr()
    document = json.loads(captured.out)
    assert document["error"]["problem"].startswith(problem)
    assert set(document["error"]) == {"problem", "place", "remedy"}
    assert document["exit_code"] == code
    assert problem in captured.err


@pytest.mark.parametrize(
    ("finding", "line"),
    [
        (
            Finding("ERROR", Severity.ERROR, "graft.yml:3", "is wrong", "mend it"),
            "::error file=graft.yml,line=3::is wrong%0Amend it",
        ),
        (
            Finding("ERROR", Severity.WARNING, "index.json, line 1, byte 2", "is cut"),
            "::warning file=index.json,title=index.json%2C line 1%2C byte 2::is cut",
        ),
        (
            Finding("ERROR", Severity.NOTE, "a,b: 100%", "100% done::"),
            "::notice title=a%2Cb%3A 100%25::100%25 done::",
        ),
        (Finding("ERROR", Severity.ERROR, "", "no place"), "::error::no place"),
        (
            Finding("ERROR", Severity.ERROR, "https://wiki/x.html:3", "is gone"),
            "::error title=https%3A//wiki/x.html%3A3::is gone",
        ),
    ],
)
def test_a_finding_is_an_annotation(finding: Finding, line: str) -> None:
    assert annotation(with_file(finding)) == line


def test_each_line_of_an_error_is_a_finding() -> None:
    two = findings(GraftError("graft.yml:1: a\ngraft.yml:2: b", remedy="mend"))
    assert [(one.subject, one.problem) for one in two] == [
        ("graft.yml:1", "a"),
        ("graft.yml:2", "b"),
    ]
    (finding,) = findings(GraftError("is wrong: very", place="x.yml"))
    assert (finding.subject, finding.problem) == ("x.yml", "is wrong: very")


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "--format", "github"],
        ["check", "--format=github"],
        ["doctor", "--format", "github"],
    ],
)
def test_a_wrong_line_of_graft_yml_is_annotated(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    arguments: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "graft.yml").write_text("names:\nstroe: x")
    assert run(*arguments) != 0
    first = capfd.readouterr().out.splitlines()[0]
    assert first.startswith(
        "::error file=graft.yml,line=2::`stroe` is not a key here; did you mean"
    )


def test_a_wrong_declared_file_is_annotated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "l.yml").write_text("version: 1\ntask: {}")
    assert run("doctor", "--format", "github", "l.yml") == 3
    assert capfd.readouterr().out.startswith("::error file=l.yml,line=2::`task` is not a key here")


def test_the_published_schema_is_that_of_the_code(root: Path) -> None:
    published = json.loads((root / "docs/schemas/graft.schema.json").read_text())
    assert published == json_schema(), "run `graft schema > docs/schemas/graft.schema.json`"


def test_the_file_that_init_writes_names_its_schema_and_obeys_it(tmp_path: Path) -> None:
    (tmp_path / "dbt_project.yml").write_text("name: shop")
    text = write_config(tmp_path).path.read_text()
    assert text.startswith(f"# yaml-language-server: $schema={SCHEMA_URL}\n")
    jsonschema.Draft202012Validator(json_schema()).validate(yaml.safe_load(text))


def test_help_and_the_written_file_lead_to_the_pages_that_messages_name(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "dbt_project.yml").write_text("name: shop")
    assert f"# docs/ is {DOCS_URL}\n" in write_config(tmp_path).path.read_text()
    with pytest.raises(SystemExit):
        main(["--help"])
    assert f"docs/: {DOCS_URL}\n" in capfd.readouterr().out


@for_each(
    "text, valid",
    [
        ("", True),
        ("collect:\nnames:", True),
        ("collect: [{spark: {path: a, task_from: app_name}}]", True),
        ("collect: [{spark: {path: a, task_from: [app_name]}}]", True),
        ("names: [{from: a/b, to: c/d}]", True),
        ("spark: {master: x, spark.sql.ansi.enabled: true}", True),
        ("stroe: x", False),
        ("collect: spark", False),
        ("collect: [{sparc: {}}]", False),
        ("names: [{from: a/b}]", False),
        ("dbt: {tags: [foo]}", False),
    ],
)
def test_the_schema_takes_what_the_code_takes(text: str, valid: bool) -> None:
    validator = jsonschema.Draft202012Validator(json_schema())
    assert validator.is_valid(yaml.safe_load(text) or {}) is valid
