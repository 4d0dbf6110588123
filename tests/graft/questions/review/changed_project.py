"""Any dbt project, changed in one of many ways: each as a user would, in SQL, YAML or a macro."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import yaml

Document = dict[str, Any]
Edit = Callable[[Path, Document], bool]
# The configurations that a model gets in a `config(…)` of its own.
CONFIGS = {
    "incremental": "materialized='incremental', unique_key='id'",
    "table": "materialized='table'",
    "view": "materialized='view'",
    "alias": "alias='another_name'",
    "schema": "schema='another'",
    "meta": "meta={'owner': 'Ada'}",
    "tags": "tags=['another']",
    "hook": "post_hook='select 1'",
    "header": "sql_header='set threads = 2;'",
    "grants": "grants={'select': ['ada']}",
    "persisted": "persist_docs={'relation': true, 'columns': true}",
    "color": "docs={'node_color': 'red'}",
    "access": "access='public'",
    "event_time": "event_time='id'",
    "full_refresh": "full_refresh=false",
}


def owned(manifest: Document, kind: str) -> list[Document]:
    """The nodes of the project itself, of one kind, in a stable order."""
    name = manifest["metadata"]["project_name"]
    parts = ("nodes", "sources", "exposures", "metrics", "semantic_models", "unit_tests")
    nodes = [node for part in parts for node in manifest.get(part, {}).values()]
    mine = [node for node in nodes if (node["resource_type"], node["package_name"]) == (kind, name)]
    return sorted(mine, key=lambda node: str(node["unique_id"]))


def _sql(manifest: Document, at: int) -> str:
    """The file of a model."""
    models = [node for node in owned(manifest, "model") if not node.get("version")]
    return str(models[at % len(models)]["original_file_path"])


def _in_sql(change: Callable[[str], str], at: int) -> Edit:
    def edit(folder: Path, manifest: Document) -> bool:
        file = folder / _sql(manifest, at)
        file.write_text(change(file.read_text()))
        return True

    return edit


def _ephemeral(folder: Path, manifest: Document) -> bool:
    """A model is no relation any more, which dbt refuses of one that a semantic model measures."""
    measured = {
        key for node in owned(manifest, "semantic_model") for key in node["depends_on"]["nodes"]
    }
    models = owned(manifest, "model")
    at = max(place for place, node in enumerate(models) if node["unique_id"] not in measured)
    file = folder / models[at]["original_file_path"]
    file.write_text(f"{{{{ config(materialized='ephemeral') }}}}\n{file.read_text()}")
    return True


def _in_yaml(change: Callable[[Document], bool]) -> Edit:
    """An edit of the first file of properties in which there is something to change."""

    def edit(folder: Path, manifest: Document) -> bool:
        for file in sorted(folder.glob("*/**/*.yml")):
            if {"target", "dbt_packages"} & {*file.parts}:
                continue
            document = yaml.safe_load(file.read_text())
            if isinstance(document, dict) and change(document):
                file.write_text(yaml.safe_dump(document, sort_keys=False))
                return True
        return False

    return edit


def _in_project(change: Callable[[Document, str], None]) -> Edit:
    def edit(folder: Path, manifest: Document) -> bool:
        file = folder / "dbt_project.yml"
        document = yaml.safe_load(file.read_text())
        change(document, document["name"])
        file.write_text(yaml.safe_dump(document, sort_keys=False))
        return True

    return edit


def _entry(part: str, change: Callable[[Document], Any]) -> Edit:
    """An edit of the first exposure, metric, unit test…"""

    def edit(document: Document) -> bool:
        entries = document.get(part) or []
        if entries:
            change(entries[0])
        return bool(entries)

    return _in_yaml(edit)


def _columns(document: Document) -> Iterator[Document]:
    for model in document.get("models") or []:
        yield from model.get("columns") or []


def _tests(document: Document) -> Iterator[tuple[list[Any], int]]:
    for column in _columns(document):
        for key in ("data_tests", "tests"):
            for at in range(len(column.get(key) or [])):
                yield column[key], at


def _without_test(document: Document) -> bool:
    for tests, at in _tests(document):
        del tests[at]
        return True
    return False


def _test_config(config: Document) -> Edit:
    def edit(document: Document) -> bool:
        for tests, at in _tests(document):
            test = tests[at]
            if isinstance(test, str):
                tests[at] = {test: {"config": config}}
                return True
        return False

    return _in_yaml(edit)


def _column_text(document: Document) -> bool:
    for column in _columns(document):
        column["description"] = "Another description."
        return True
    return False


def _source_table(change: Document) -> Edit:
    def edit(source: Document) -> None:
        source["tables"][0] |= change

    return _entry("sources", edit)


def _moved(folder: Path, manifest: Document) -> bool:
    file = folder / _sql(manifest, 0)
    target = file.parent / "elsewhere" / file.name
    target.parent.mkdir()
    file.rename(target)
    return True


def _another_macro(own: bool) -> Edit:
    """A macro that a node uses, of the project or of a package, is another."""

    def edit(folder: Path, manifest: Document) -> bool:
        name = manifest["metadata"]["project_name"]
        nodes = [*manifest["nodes"].values()]
        used = sorted({key for node in nodes for key in node["depends_on"].get("macros") or ()})
        for key in used:
            macro = manifest["macros"].get(key) or {}
            package = str(macro.get("package_name"))
            root = folder if package == name else folder / "dbt_packages" / package
            if (
                (package == name) is own
                and package != "dbt"
                and (root / "dbt_project.yml").exists()
            ):
                file = root / macro["original_file_path"]
                text = str(macro["macro_sql"])
                other = text.replace("%}", "%}/* another */", 1)
                file.write_text(file.read_text().replace(text, other))
                return True
        return False

    return edit


def _another_seed(folder: Path, manifest: Document) -> bool:
    for seed in owned(manifest, "seed"):
        file = folder / seed["original_file_path"]
        lines = file.read_text().rstrip("\n").split("\n")
        file.write_text("\n".join([*lines, lines[-1]]) + "\n")
        return True
    return False


def _seed_types(folder: Path, manifest: Document) -> bool:
    for seed in owned(manifest, "seed"):
        text = (folder / seed["original_file_path"]).read_text()
        column = text.split("\n", 1)[0].split(",")[0].strip('"')
        types = {seed["name"]: {"+column_types": {column: "varchar(90)"}}}
        return _in_project(partial(_configured, part="seeds", settings=types))(folder, manifest)
    return False


def _configured(project: Document, name: str, part: str, settings: Document) -> None:
    settings_of_project = project.setdefault(part, {}).setdefault(name, {})
    settings_of_project.update(settings)


def _without_model(folder: Path, manifest: Document) -> bool:
    """A model is gone that nothing reads."""
    read = {key for keys in manifest["child_map"].values() for key in keys}
    for node in owned(manifest, "model"):
        if not manifest["child_map"].get(node["unique_id"]) and node["unique_id"] in read:
            file = folder / node["original_file_path"]
            file.unlink()
            return not node.get("patch_path")
    return False


def _new_model(folder: Path, manifest: Document) -> bool:
    (folder / Path(_sql(manifest, 0)).parent / "entirely_new.sql").write_text("select 1 as id")
    return True


def _singular_test(folder: Path, manifest: Document) -> bool:
    for test in owned(manifest, "test"):
        if not test.get("test_metadata"):
            file = folder / test["original_file_path"]
            file.write_text(f"{file.read_text()}\n-- another\n limit 7")
            return True
    return False


def _variables(project: Document, name: str) -> None:
    variables = project.setdefault("vars", {})
    for key, value in variables.items():
        if isinstance(value, str):
            variables[key] = "Europe/Berlin"


EDITS: dict[str, Edit] = {
    "body": _in_sql(lambda text: f"{text.rstrip()}\nlimit 7", 0),
    "comment": _in_sql(lambda text: f"{text}\n-- a remark", 1),
    **{
        f"config {name}": _in_sql(lambda text, code=code: f"{{{{ config({code}) }}}}\n{text}", at)  # type: ignore[misc]
        for at, (name, code) in enumerate(CONFIGS.items())
    },
    "config ephemeral": _ephemeral,
    "own setting": _in_sql(lambda text: f"{{{{ config(team_setting='a') }}}}\n{text}", 2),
    "description": _entry("models", lambda model: model.update(description="Another one.")),
    "column description": _in_yaml(_column_text),
    "test removed": _in_yaml(_without_test),
    "test severity": _test_config({"severity": "warn"}),
    "test where": _test_config({"where": "1 = 1"}),
    "test tags": _test_config({"tags": ["nightly"]}),
    "source identifier": _source_table({"identifier": "elsewhere"}),
    "source description": _source_table({"description": "Another description."}),
    "source loaded_at": _source_table({"config": {"loaded_at_field": "another_at"}}),
    "source freshness": _source_table(
        {"config": {"freshness": {"warn_after": {"count": 9, "period": "day"}}}}
    ),
    "source schema": _entry("sources", lambda source: source.update(schema="elsewhere")),
    "source quoting": _entry("sources", lambda source: source.update(quoting={"schema": True})),
    "exposure": _entry("exposures", lambda part: part.update(url="https://example.org/another")),
    "exposure owner": _entry("exposures", lambda part: part.update(owner={"email": "b@c.de"})),
    "metric": _entry("metrics", lambda part: part.update(label="Another label")),
    "metric filter": _entry(
        "metrics", lambda part: part.update(description="Another description.")
    ),
    "semantic model": _entry("semantic_models", lambda part: part["measures"].pop()),
    "saved query": _entry("saved_queries", lambda part: part["query_params"]["metrics"].pop()),
    "unit test": _entry("unit_tests", lambda part: part["expect"]["rows"].pop()),
    "singular test": _singular_test,
    "moved": _moved,
    "macro": _another_macro(own=True),
    "macro of a package": _another_macro(own=False),
    "seed": _another_seed,
    "seed types": _seed_types,
    "model removed": _without_model,
    "model added": _new_model,
    "folder": _in_project(
        lambda project, name: _configured(project, name, "models", {"+post-hook": ["select 1"]})
    ),
    "variables": _in_project(_variables),
    "quoting": _in_project(lambda project, name: project.update(quoting={"identifier": True})),
    "run hook": _in_project(lambda project, name: project.update({"on-run-start": ["select 2"]})),
    "test folder": _in_project(
        lambda project, name: _configured(project, name, "data_tests", {"+severity": "warn"})
    ),
    "docs of all": _in_project(
        lambda project, name: _configured(
            project, name, "models", {"+persist_docs": {"relation": True}}
        )
    ),
}
