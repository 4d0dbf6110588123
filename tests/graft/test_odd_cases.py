"""Odd cases: wrong configuration, missing and wrong files, permissions, odd paths.

Each row has the exact message and exit code; none of them ends in an unexpected error.
"""

# ruff: noqa: F811 (a fixture of another module)

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

# An account without rights may not read the modules: they are loaded before.
from dbt_graft.catalog import build as _  # noqa: F401
from dbt_graft.graft.commands.cli import main
from tests.account import NOBODY, nobody
from tests.cases import for_each
from tests.collectors.openlineage.events import event
from tests.graft.test_inject import folder  # noqa: F401 (a fixture)

Change = Callable[[Path], None]


@dataclass(frozen=True)
class Odd:
    """A case.

    Attributes:
        change: What makes the project odd.
        command: The arguments of `graft`.
        message: Standard error; `{folder}` is the project's.
    """

    change: Change
    command: str
    message: str = ""
    code: int = 1


def text(name: str, content: str | bytes) -> Change:
    """A file with a content, whatever was there."""

    def write(folder: Path) -> None:
        remove(folder / name)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)

    return write


def directory(name: str) -> Change:
    """A folder, whatever was there."""

    def make(folder: Path) -> None:
        remove(folder / name)
        (folder / name).mkdir(parents=True)

    return make


def gone(name: str) -> Change:
    return lambda folder: remove(folder / name)


def rights(name: str, mode: int) -> Change:
    return lambda folder: (folder / name).chmod(mode)


def link(name: str, to: str) -> Change:
    return lambda folder: (folder / name).symlink_to(to)


def remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def config(content: str) -> Change:
    return text("graft.yml", content)


def collects(entry: str) -> Change:
    return config(f"collect: [{entry}]")


def each(*changes: Change) -> Change:
    def change(folder: Path) -> None:
        for one in changes:
            one(folder)

    return change


def unchanged(_: Path) -> None:
    pass


ALLOWED = (
    "Allowed: dbt, collect, names, tasks, check, lineage, openlineage, store, artifacts, engine, "
    "spark, site, docs, airflow, dates, impact, review, keep, privacy, rules, contracts"
)
LIST = "must be a list: begin each entry with `- `"
KEYS = "must hold keys, such as `key: value`"
CONTROL = "write a path without control characters"


def fault(key: str, message: str, line: int = 1) -> str:
    return f"error: graft.yml:{line}: `{key}`{message}\n"


WRONG_CONFIG = {
    "a: b: c": "error: graft.yml:1: is not valid YAML: mapping values are not allowed here\n",
    "- a": "error: graft.yml: must hold keys such as `collect:` and `dbt:`\n",
    "stroe: x": fault("stroe", f" is not a key here; did you mean `store`? {ALLOWED}"),
    "2: 3": fault("2", " is not a key: write it in quotes"),
    "store: a\nstore: b": fault("store", " is there twice: put all below that of line 1", 2),
    "store: ''": fault("store", " must not be empty"),
    "store: 5": fault("store", " must be text: write it in quotes"),
    'store: "\\0"': fault("store", f": {CONTROL}"),
    'dbt: {project_dir: "\\0"}': fault("dbt.project_dir", f": {CONTROL}"),
    'dbt: {target_dir: "\\0"}': fault("dbt.target_dir", f": {CONTROL}"),
    'site: {out: "\\0"}': fault("site.out", f": {CONTROL}"),
    "dbt: target": fault("dbt", f" {KEYS}"),
    "dbt: {tags: task}": fault("dbt.tags", f" {LIST}"),
    "dbt: {tags: [foo]}": fault("dbt.tags.0", " must be 'python_task', 'engine', 'task' or 'team'"),
    "collect: spark": fault("collect", f" {LIST}"),
    "collect: {spark: {path: a}}": fault("collect", f" {LIST}"),
    "collect: [spark]": fault("collect.0", f" {KEYS}"),
    "collect: [{spark: {path: no}}]": fault(
        "collect.0.spark.path", " must be text: write it in quotes"
    ),
    "collect: [{spark: {path: a}, declared: {path: b}}]": fault(
        "collect.0",
        ": name exactly one kind of log: sqlserver, spark, openlineage, declared, dbt or python",
    ),
    "collect:\n- sqlserver: {path: a, server: 'mssql://c', idle_minutes: 0}": fault(
        "collect.0.sqlserver.idle_minutes", " must be at least 1", 2
    ),
    "names: x": fault("names", f" {LIST}"),
    "names: [{from: a/b}]": fault("names.0.to", " is missing"),
    "tasks: [x]": fault("tasks", f" {KEYS}"),
    "tasks: {a: b}": fault("tasks.a", f" {KEYS}"),
    "lineage: {failed: maybe}": fault("lineage.failed", " must be true or false"),
    "check: {accept: all}": fault("check.accept", f" {LIST}"),
    "site: {url: not a url}": fault(
        "site.url", ": write the address of the published site: http(s)://<host>/<path>/"
    ),
    "spark: local": fault("spark", f" {KEYS}"),
    "store: \"{{ env_var('X') }}\"": fault(
        "store", ": this file has no Jinja: write ${NAME} for an environment variable"
    ),
    "site: {name: 2026-01-01}": fault("site.name", " must be text: write it in quotes"),
    "site: &a {name: *a}": fault("site.name", " must be text: write it in quotes"),
    "collect: &a [*a]": fault("collect.0", f" {KEYS}"),
    "site: !!python/object/apply:os.system [id]": (
        "error: graft.yml:1: is not valid YAML: could not determine a constructor for the tag "
        "'tag:yaml.org,2002:python/object/apply:os.system'\n"
    ),
    "site: {name: x}\n---\nsite: {}": (
        "error: graft.yml:2: is not valid YAML: but found another document\n"
    ),
    "tasks: " + "[" * 3000: "error: graft.yml: is nested too deeply\n",
}
MASTER = (
    ": 'locall[2]' is not a master of Spark: write local[2], yarn, spark://host:7077 or "
    "k8s://https://host"
)
WRONG_CONFIG |= {
    "names: []\nnames: [{from: a/b, to: a/c}]": fault(
        "names", " is there twice: put all below that of line 1", 2
    ),
    "store:\n\t- a": (
        "error: graft.yml:2: is not valid YAML: found character '\\t' that cannot start any token\n"
        "  indent with spaces: YAML allows no tabs there\n"
    ),
    'store: "C:\\logs"': (
        "error: graft.yml:1: is not valid YAML: found unknown escape character 'l'\n"
        "  a backslash in double quotes begins an escape: write 'C:\\logs' in single quotes\n"
    ),
    "spark: {master: 'locall[2]'}": fault("spark", MASTER),
    "collect: [{spark: {path: ev}}, {spark: {path: ./ev/}}]": fault(
        "collect", ": two entries read ./ev/: leave one of them out"
    ),
}
WRONG_CONFIG |= {
    "collect:\n- spark:\n  path: ev": fault(
        "collect.0.path", " is a key of `spark`: indent it further than `spark:`", 3
    ),
    "collect:\n- spark: {path: ev}\n  task_from: app_name": fault(
        "collect.0.task_from", " is a key of `spark`: indent it further than `spark:`", 3
    ),
    "site:\nname: Shop": fault("name", " is a key of `site`: indent it further than `site:`", 2),
    "collect: [{history_server: 'http://h'}]": fault(
        "collect.0.history_server", " is a key of spark: write it below"
    ),
}
MISSING = "\n  run `dbt docs generate` (or `dbt parse`) in the dbt project first\n"
AGAIN = "\n  run `dbt docs generate` again\n"
MANIFEST = "error: {folder}/target/manifest.json"
NOTHING_THERE = (
    "error: logs: there is nothing at this path\n"
    "  correct the path; that of a source is `path` in graft.yml\n"
)
OLD_MANIFEST = '{"metadata": {"dbt_schema_version": "manifest/v1.json"}}'
NOT_A_FILE = "error: target: is a folder, not a file\n"
NO_PROJECT = (
    "error: dbt_project.yml: does not exist: graft.yml belongs beside a dbt project\n"
    "  run `graft init` in the project's folder, or `graft init FOLDER`\n"
)
OWN_SITE = "  name a folder of its own as `site.out` in graft.yml, such as build/site\n"
project_file = text("dbt_project.yml", "name: shop")


def usage(command: str, arguments: str, problem: str) -> str:
    return (
        f"Usage: graft {command} [OPTIONS]{arguments and ' '}{arguments}\n"
        f"Try 'graft {command} --help' for help.\n\nError: {problem}\n"
    )


CASES = {
    **{
        repr(key)[:80]: Odd(config(key), "site -q", value, 2) for key, value in WRONG_CONFIG.items()
    },
    "no graft.yml": Odd(
        gone("graft.yml"),
        "inject -q",
        "error: graft.yml: there is no such file\n  run `graft init` to write one\n",
        2,
    ),
    "graft.yml is a folder": Odd(
        directory("graft.yml"), "inject -q", "error: graft.yml: is a folder, not a file\n", 2
    ),
    "graft.yml in Latin-1": Odd(
        text("graft.yml", b"site:\n  name: \xe9"), "inject", "error: graft.yml:2: is not UTF-8\n", 2
    ),
    "graft.yml in UTF-16": Odd(
        text("graft.yml", "site: {name: x}".encode("utf-16")),
        "inject",
        "error: graft.yml:1: is not UTF-8\n",
        2,
    ),
    "graft.yml of Windows": Odd(
        text("graft.yml", b"\xef\xbb\xbfsite:\r\n  name: x\r\n"), "inject -q", code=0
    ),
    "a folder as --config": Odd(unchanged, "inject -c target", NOT_A_FILE, 2),
    "keys without entries": Odd(config("collect:\nnames:\nsite:"), "site -q", code=0),
    "no favicon": Odd(
        config("docs: {favicon: no.ico}"),
        "site -q",
        "error: {folder}/no.ico: the favicon cannot be read: No such file or directory\n"
        "  correct `docs.favicon` in graft.yml\n",
    ),
    "no target": Odd(
        gone("target"), "inject -q", "error: {folder}/target: there is no manifest.json" + MISSING
    ),
    "the target is a file": Odd(
        text("target", ""),
        "inject -q",
        "error: {folder}/target: there is no manifest.json" + MISSING,
    ),
    "the manifest is a dangling link": Odd(
        each(gone("target/manifest.json"), link("target/manifest.json", "nowhere")),
        "inject -q",
        "error: {folder}/target: there is no manifest.json" + MISSING,
    ),
    "the manifest is empty": Odd(
        text("target/manifest.json", ""),
        "inject -q",
        f"{MANIFEST}, line 1, byte 0: the file is truncated{AGAIN}",
    ),
    "the manifest is a list": Odd(
        text("target/manifest.json", "[]"),
        "inject -q",
        f"{MANIFEST}: the file is not a JSON object{AGAIN}",
    ),
    "the manifest is of another dbt": Odd(
        text("target/manifest.json", OLD_MANIFEST),
        "inject -q",
        f"{MANIFEST}: the manifest has version v1; dbt-graft reads v9 to v12\n"
        "  run `dbt docs generate` with dbt 1.5 to 2\n",
    ),
    "the manifest is a catalog": Odd(
        text(
            "target/manifest.json",
            '{"metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/catalog/v1.json"}}',
        ),
        "inject -q",
        f"{MANIFEST}: the file is not a manifest: its metadata say catalog{AGAIN}",
    ),
    "the target is a link to itself": Odd(
        each(gone("target"), link("target", "target")),
        "inject -q",
        f"{MANIFEST}: Too many levels of symbolic links\n"
        "  a symbolic link leads back to itself; correct it\n",
    ),
    "the store is a file": Odd(
        text(".graft/store", ""),
        "inject -q",
        "error: {folder}/.graft/store: cannot be read: Not a directory\n"
        "  let `store` in graft.yml name a folder that this account can read\n",
    ),
    "a store below a file": Odd(
        each(
            config("collect: [{declared: {path: l.yml}}]\nstore: graft.yml/store"),
            text("l.yml", "version: 1\ntasks: {t: {flows: [{from: [a/b], to: [a/c]}]}}"),
        ),
        "collect -q",
        "error: {folder}/graft.yml: is a file; `store` must be a folder\n"
        "  name another folder as `store` in graft.yml\n",
    ),
    "an incident of no run": Odd(
        unchanged,
        "incident show nosuch",
        "error: nosuch: there is no such run in the store\n"
        '  `graft query "from runs"` lists runs\n',
    ),
    "an incident that is not on record": Odd(
        unchanged,
        "incident show 99",
        "error: 99: there is no incident of this id, and no such run in the store\n"
        "  no incident is on record; `graft incident open` records bad data\n",
    ),
    "an impact of no change": Odd(
        unchanged,
        "impact orders",
        usage(
            "impact",
            "TABLE[.COLUMN]",
            "name what changes of orders, as in `--change remove`: remove, rename, type, narrow, "
            "widen, add, meaning, unit, rows, freshness, privacy, data_incorrect, deprecate",
        ),
        2,
    ),
    "an age of 14 digits": Odd(
        unchanged,
        "check --max-age 12345678901234d",
        usage(
            "check",
            "",
            "Invalid value for '--max-age': '12345678901234d' has too many digits: at most six, "
            "and three after a point",
        ),
        2,
    ),
    "a damaged manifest before logs": Odd(
        each(collects("{spark: {path: logs}}"), text("target/manifest.json", "{")),
        "build -q",
        f"{MANIFEST}, line 1, byte 1: the file is truncated{AGAIN}",
    ),
    "an old manifest before logs": Odd(
        each(
            collects("{spark: {path: logs}}"),
            text(
                "target/manifest.json", '{"metadata": {"dbt_schema_version": "manifest/v1.json"}}'
            ),
        ),
        "build -q",
        f"{MANIFEST}: the manifest has version v1; dbt-graft reads v9 to v12\n"
        "  run `dbt docs generate` with dbt 1.5 to 2\n",
    ),
    "dates of no table": Odd(
        unchanged,
        "show marts --dates",
        "error: marts: there is no such table, column, task or run\n"
        "  did you mean mssql/Shop.analytics.mart?\n",
    ),
    "a time before the store": Odd(
        unchanged,
        "show load --as-of 2001-01-01",
        "error: {folder}/.graft/store: the lineage store has nothing as of 1 Jan 2001\n"
        "  it begins 2026-11-20 02:00 UTC: name a later time\n",
    ),
    "no log is named": Odd(config("collect: []"), "collect -q", code=0),
    "a Spark log in UTF-16": Odd(
        text("log", '{"Event":"SparkListenerApplicationStart"}\n'.encode("utf-16")),
        "logs spark log",
        "",
        0,
    ),
    "the store lies in the site": Odd(
        config("store: build/site/store"),
        "site -q",
        "error: {folder}/build/site: `site.out` is, or holds, the lineage store "
        "({folder}/build/site/store)\n" + OWN_SITE,
    ),
    "the site is a link to the project": Odd(
        each(link("out", "."), config("site: {out: out}")),
        "site -q",
        "error: {folder}: `site.out` is, or holds, the project ({folder})\n" + OWN_SITE,
    ),
    "one folder for artifacts and site": Odd(
        config("artifacts: same\nsite: {out: same}"),
        "site -q",
        "error: {folder}/same: `artifacts` is the same folder as `site.out`\n"
        "  name a folder of its own as `artifacts` in graft.yml, such as .graft/artifacts\n",
    ),
    "no site to serve": Odd(
        unchanged,
        "serve --port 0",
        "error: {folder}/build/site: there is no site here\n  run `graft build`\n",
    ),
    "nothing collected to show": Odd(
        gone(".graft/store"),
        "show load",
        "note: {folder}/.graft/store: nothing was collected yet: this is dbt's lineage alone\n"
        "error: load: there is no such table, column, task or run\n"
        '  `graft query "from datasets"` lists all; `graft doctor` checks the logs\n',
    ),
    "no such source to read again": Odd(
        collects("{declared: {path: l.yml}}"),
        "collect -q --again nope",
        "error: --again: there is no source 'nope'\n  name one of declared:l.yml\n",
    ),
    "a favicon that is a folder": Odd(
        config("docs: {favicon: target}"),
        "site -q",
        "error: {folder}/target: the favicon is not an image\n"
        "  set `docs.favicon` to an .ico, .png, .svg, .gif, .jpg or .webp file\n",
    ),
    "the catalog is a page": Odd(
        text("target/catalog.json", "<html>"),
        "inject -q",
        "error: {folder}/target/catalog.json, line 1, byte 0: the file is not JSON: "
        f"unexpected character, expected a JSON value{AGAIN}",
    ),
    "artifacts are a file": Odd(
        text(".graft/artifacts", ""),
        "inject -q",
        "error: {folder}/.graft/artifacts: is a file; `artifacts` must be a folder\n"
        "  name another folder as `artifacts` in graft.yml\n",
    ),
    "a folder in the place of an artifact": Odd(
        each(
            directory(".graft/artifacts/manifest.json"),
            text(".graft/artifacts/.dbt-graft.json", '{"files": []}'),
        ),
        "inject -q",
        "error: {folder}/.graft/artifacts/manifest.json: cannot be written: Is a directory\n"
        "  make it writable, or name another folder as `artifacts` in graft.yml\n",
    ),
    "a file on the way to the site": Odd(
        text("build", ""),
        "site -q",
        "error: {folder}/build: is a file; `site.out` must be a folder\n"
        "  name another folder as `site.out` in graft.yml\n",
    ),
    "a damaged marker": Odd(
        text("build/site/.dbt-graft.json", "{"),
        "site -q",
        "error: {folder}/build/site/.dbt-graft.json: is damaged: what graft wrote there is not "
        "known\n  empty the folder\n",
    ),
    "init in no folder": Odd(
        unchanged, "init nowhere", NO_PROJECT.replace("dbt_pr", "nowhere/dbt_pr", 1)
    ),
    "init in no project": Odd(unchanged, "init", NO_PROJECT),
    "init again": Odd(
        project_file, "init", "error: graft.yml: already exists\n  overwrite it with --force\n"
    ),
    "init where graft.yml is a folder": Odd(
        each(project_file, directory("graft.yml")),
        "init --force",
        "error: graft.yml: Is a directory\n  a file must lie there; move the folder away\n",
    ),
    "init with a list as project": Odd(
        text("dbt_project.yml", "[1]"),
        "init --force",
        "error: dbt_project.yml: must hold keys such as `name:`\n  run `dbt parse`\n",
    ),
    "init with a project that is no YAML": Odd(
        text("dbt_project.yml", "a:\n- ["),
        "init --force",
        "error: dbt_project.yml:2: is not valid YAML\n  run `dbt parse`\n",
    ),
    "a report into a folder": Odd(
        unchanged,
        "inject -q --report target",
        "error: target: cannot be written: Is a directory\n  name another file as `--report`\n",
    ),
    "a report into no folder": Odd(
        unchanged,
        "inject -q --report no/x.txt",
        "error: no/x.txt: cannot be written: No such file or directory\n"
        "  name another file as `--report`\n",
    ),
    "nothing to undo": Odd(
        unchanged,
        "inject --undo",
        "error: {folder}/.graft/artifacts: there is no graft_undo.json: nothing to undo\n"
        "  pass the folder that `graft inject` wrote: `artifacts` in graft.yml\n",
    ),
    "no logs": Odd(
        collects("{spark: {path: logs}}"),
        "collect -q",
        NOTHING_THERE,
    ),
    "no logs of two sources": Odd(
        collects("{spark: {path: logs}}, {declared: {path: l/*.yml}}"),
        "collect -q",
        "error: no source of `collect` in graft.yml can be read\n"
        "  logs: there is nothing at this path\n"
        "    correct the path; that of a source is `path` in graft.yml\n"
        "  l/*.yml: there is no such file\n    correct `path` in graft.yml\n",
    ),
    "wrong declared lineage": Odd(
        each(collects("{declared: {path: l.yml}}"), text("l.yml", "version: 1\ntask: {}")),
        "collect -q",
        "error: {folder}/l.yml:2: `task` is not a key here; did you mean `tasks`? "
        "Allowed: version, tasks, consumers, datasets\n",
    ),
    "no connection string": Odd(
        collects("{sqlserver: {connection: 'env:NOPE', session: s, server: 'mssql://c'}}"),
        "collect -q",
        "error: env:NOPE: the environment variable is not set or empty\n"
        "  let it hold an ODBC connection string: SERVER=…;DATABASE=…;UID=…;PWD=…\n",
    ),
    "no authorization": Odd(
        collects("{spark: {history_server: 'http://127.0.0.1:9', authorization: 'env:NOPE'}}"),
        "collect -q",
        "error: env:NOPE: the environment variable is not set, or has more than one line\n"
        "  set it to the value of the header `Authorization`: Bearer <token>\n",
    ),
    "no dbt project": Odd(
        unchanged,
        "build --dbt -q",
        "error: {folder}: there is no dbt_project.yml\n"
        "  name the folder of your dbt project as `dbt.project_dir` in graft.yml\n",
    ),
    "a task's code is a folder": Odd(directory("tasks/load_orders.py"), "inject -q", code=0),
    "no log to show": Odd(
        unchanged,
        "logs spark logs",
        NOTHING_THERE,
    ),
    "an empty folder to show": Odd(
        directory("logs"), "logs spark logs", "error: logs: there are no Spark event logs\n"
    ),
    "a script into no folder": Odd(
        unchanged,
        "logs sqlserver-session --out no/x.sql",
        "error: no/x.sql: cannot be written: No such file or directory\n"
        "  name another file as `--out`\n",
    ),
}


WHO = "\n  check who may read and write it\n"
READ_ONLY = "\n  make it writable, or name another folder as `{}` in graft.yml\n"
# Cases that need an account which may not do everything.
# `Path.is_dir` raises no PermissionError from Python 3.13 on, so another file is read first.
FIRST_READ = "manifest.json" if sys.version_info >= (3, 13) else "index"
DENIED = {
    "graft.yml": Odd(
        rights("graft.yml", 0),
        "inject -q",
        "error: graft.yml: cannot be read: Permission denied\n",
        2,
    ),
    "the manifest": Odd(
        rights("target/manifest.json", 0), "inject -q", f"{MANIFEST}: Permission denied{WHO}"
    ),
    "the target": Odd(
        rights("target", 0),
        "inject -q",
        f"error: {{folder}}/target/{FIRST_READ}: Permission denied{WHO}",
    ),
    "the store": Odd(
        each(
            config("collect: [{declared: {path: l.yml}}]\nstore: st/store"),
            text("l.yml", "version: 1\ntasks: {t: {flows: [{from: [a/b], to: [a/c]}]}}"),
            directory("st"),
            rights("st", 0o555),
        ),
        "collect -q",
        "error: {folder}/st: `store` is read-only" + READ_ONLY.format("store"),
    ),
    "a batch": Odd(
        each(
            config("collect: [{declared: {path: l.yml}}]\nstore: store"),
            text("l.yml", "version: 1\ntasks: {t: {flows: [{from: [a/b], to: [a/c]}]}}"),
            directory("store/batches"),
            rights("store/batches", 0o555),
        ),
        "collect -q --engine local",
        f"error: {{folder}}/store/batches/batch_id=…: Permission denied{WHO}",
    ),
    "the artifacts": Odd(
        rights(".graft", 0o555),
        "inject -q",
        "error: {folder}/.graft: `artifacts` is read-only" + READ_ONLY.format("artifacts"),
    ),
    "the site": Odd(
        each(directory("build"), rights("build", 0o555)),
        "site -q",
        "error: {folder}/build: `site.out` is read-only" + READ_ONLY.format("site.out"),
    ),
    "a task's code": Odd(rights("tasks/load_orders.py", 0), "inject -q", code=0),
    "init": Odd(
        each(project_file, gone("graft.yml"), rights(".", 0o555)),
        "init",
        f"error: graft.yml: Permission denied{WHO}",
    ),
    "the project file": Odd(
        each(project_file, rights("dbt_project.yml", 0)),
        "init --force",
        f"error: dbt_project.yml: Permission denied{WHO}",
    ),
}


def run(odd: Odd, folder: Path, capfd: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit code and standard error of a command, run here."""
    with pytest.raises(SystemExit) as ended:
        main.main(shlex.split(odd.command), prog_name="graft")
    code = ended.value.code
    assert isinstance(code, int)
    return code, capfd.readouterr().err


@pytest.mark.parametrize("odd", CASES.values(), ids=CASES)
def test_an_odd_case_has_its_message(
    odd: Odd,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    odd.change(folder)
    assert run(odd, folder, capfd) == (odd.code, odd.message.replace("{folder}", str(folder)))


@pytest.fixture
def place(folder: Path) -> Iterator[Path]:
    """The project where an account without rights reaches it."""
    with tempfile.TemporaryDirectory() as top:
        Path(top).chmod(0o755)
        copy = Path(shutil.copytree(folder, Path(top) / "shop"))
        for path in [copy, *copy.rglob("*")]:
            if not os.geteuid():
                os.chown(path, NOBODY, NOBODY)
        yield copy


@pytest.mark.parametrize("odd", DENIED.values(), ids=DENIED)
def test_a_denied_place_has_its_message(
    odd: Odd, place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    with nobody():
        odd.change(place)
        code, error = run(odd, place, capfd)
    error = re.sub(r"(?<=batch_id=)\w+", "…", error)
    assert (code, error) == (odd.code, odd.message.replace("{folder}", str(place)))


@for_each(
    "entry, label",
    [
        ("spark: {path: empty}", "empty"),
        ("openlineage: {path: empty}", "empty"),
        ("dbt: {path: empty}", "dbt:empty"),
        ("sqlserver: {path: empty, server: 'mssql://crm:1433'}", "empty"),
    ],
)
def test_each_collect_names_the_folders_that_never_had_a_log(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    entry: str,
    label: str,
) -> None:
    """Also where others have logs, as dbt's target folder has its results."""
    monkeypatch.chdir(folder)
    declared = "{declared: {path: lineage.yml}}"
    each(config(f"store: new\ncollect: [{{{entry}}}, {declared}]"), directory("empty"))(folder)
    (folder / "lineage.yml").write_text(
        "version: 1\ntasks: {a: {flows: [{from: [a/b], to: [a/c]}]}}\n"
    )
    says = f"warning  {label}: there are no logs of this kind here\n  enable logging, or correct"
    for time in ("the first", "the second"):
        code, error = run(Odd(unchanged, "collect --engine local"), folder, capfd)
        assert (code, error.count(says)) == (0, 1), f"{time}: {error}"


def test_a_folder_whose_logs_were_collected_may_be_empty(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    each(config("store: new\ncollect: [{openlineage: {path: ol}}]"), directory("ol"))(folder)
    (folder / "ol/a.json").write_text(json.dumps(event()))
    assert run(Odd(unchanged, "collect -q --engine local"), folder, capfd) == (0, "")
    (folder / "ol/a.json").unlink()
    assert run(Odd(unchanged, "collect -q --engine local"), folder, capfd) == (0, "")


def test_code_that_cannot_be_read_is_a_warning(
    place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    with nobody():
        (place / "tasks/load_orders.py").chmod(0)
        code, error = run(Odd(unchanged, "inject"), place, capfd)
    assert code == 0, error
    assert (
        "tasks/load_orders.py: the code of load_orders cannot be read: Permission denied" in error
    )


@pytest.mark.parametrize(
    "name", ["two words", "a#b%20c", "Größe 表", "[x]*?", "-c", "it's", "a\nb"]
)
def test_a_project_may_lie_in_a_folder_of_any_name(
    name: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    moved = folder / name
    moved.mkdir()
    for part in ("target", "tasks", "graft.yml", ".graft"):
        (folder / part).rename(moved / part)
    monkeypatch.chdir(moved)
    assert run(Odd(unchanged, "site -q"), moved, capfd) == (0, "")
    assert (moved / "build/site/index.html").is_file()


SHELL = {
    "standard error is closed": ("inject 2>&-", 0, ""),
    "standard output is closed": ("inject -q >&-", 0, ""),
    "standard input is closed": ("inject -q <&-", 0, ""),
    "a full disk behind standard output": (
        "inject -q >/dev/full",
        1,
        "error: No space left on device\n  free some space, then run the command again\n",
    ),
    "no temporary folder": ("inject -q", 0, ""),
    "no home": ("inject -q", 0, ""),
    "an account without UTF-8": ("inject -q", 0, ""),
}
SETTINGS = {
    "no temporary folder": {"TMPDIR": "/nowhere"},
    "no home": {"HOME": ""},
    "an account without UTF-8": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"},
}


def test_a_query_without_duckdb_names_its_extra(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert run(Odd(unchanged, "query 'from tasks'"), folder, capfd) == (
        1,
        "error: queries need DuckDB, which is not installed\n  install dbt-graft with its extra "
        "`query`: 'dbt-graft[query]' for `pip install`, `pipx install --force` or `uv tool install "
        "--force`\n",
    )


@pytest.mark.parametrize("case", SHELL)
def test_an_odd_environment_has_its_message(case: str, folder: Path) -> None:
    arguments, code, message = SHELL[case]
    done = subprocess.run(
        ["sh", "-c", f"{shlex.quote(sys.executable)} -m dbt_graft {arguments}"],
        cwd=folder,
        env={**os.environ, **SETTINGS.get(case, {})},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (code, message)


@pytest.mark.slow
def test_dbt_s_own_output_is_shown_while_it_runs(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """A failed dbt ends the step; its output is shown once, also with --quiet."""
    monkeypatch.chdir(folder)
    (folder / "dbt_project.yml").write_text("name: shop\nprofile: none")
    (folder / "profiles.yml").write_text("{}")
    code, error = run(Odd(unchanged, "build --dbt -q"), folder, capfd)
    assert code == 1
    assert error.count("Encountered an error") == 1
    assert "dbt      done" not in error
    assert f"error: {folder}: `dbt docs generate` failed" in error
