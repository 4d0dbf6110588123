"""Projects that differ only in what is hidden are published as the same bytes.

No name tells here: counts, orders, places, dates and numbers would. What docs/publishing.md says
that an audience can infer is the same in both: that one table flows from another, and when.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt_graft.collectors.store import door
from dbt_graft.collectors.store.arrow_tables import table, tables
from dbt_graft.graft.questions.audience import site
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import ALL_DATES
from dbt_graft.lineage.recorded_taint import RecordedTaint
from dbt_graft.lineage.records import NodeResult, Status
from tests.audience.canaries import AT
from tests.cases import for_each
from tests.collectors.openlineage.events import (
    PRODUCERS,
    event,
    parent,
    records,
    results_of,
    written,
)
from tests.graft.audience_project import graft
from tests.graft.small_project import empty_catalog, empty_manifest

Document = dict[str, Any]
# Everything hidden is called so.
HIDDEN = "zqh"
SECRET: Document = {"tags": ["secret"]}
DAYS = range(1, 21)


def job_events(
    name: str,
    reads: Iterable[str],
    writes: Iterable[str],
    *,
    days: Iterable[int] = (10, 11, 12),
    hour: int = 5,
    sql: str = "",
    columns: str = "",
    state: str = "COMPLETE",
    dag: str = "",
) -> list[Document]:
    """The events of a task's runs, one a day, which wrote 5 rows each.

    Args:
        columns: The column of each output that is made of it of each input.
        dag: The DAG whose runs start them, if there is one.
    """
    events = []
    for day in days:
        at = datetime(2026, 11, day, hour, tzinfo=UTC)
        number = (sum(name.encode()) * 24 + hour) * 100 + day
        inputs = [{"namespace": "spark", "name": table} for table in reads]
        fields = {columns: {"inputFields": [{**each, "field": columns} for each in inputs]}}
        facets = {"columnLineage": {"fields": fields}} if columns else {}
        outputs = [
            {
                "namespace": "spark",
                "name": table,
                "facets": facets,
                "outputFacets": {"outputStatistics": {"rowCount": 5}},
            }
            for table in writes
        ]
        interval = {"nominalStartTime": at.isoformat(), "nominalEndTime": at.isoformat()}
        run_facets = {"nominalTime": interval, **(parent(day, dag) if dag else {})}
        job_facets = {"sql": {"query": sql}} if sql else {}
        for state_then, passed in (("START", 0), (state, 1)):
            events.append(
                event(
                    *(state_then, name, number),
                    at=(at + passed * timedelta(hours=1)).isoformat(),
                    inputs=inputs,
                    outputs=outputs,
                    run_facets=run_facets,
                    job_facets=job_facets,
                )
            )
    return events


@dataclass
class PairedProject:
    """A project with visible and hidden parts, of which a test changes the hidden ones.

    Attributes:
        config: graft.yml.
        events: Those of runs.
        hidden_events: Those of hidden tasks that came later.
        taints: Datasets with bad dates, in the order of their incidents.
        results: dbt's, by node.
    """

    manifest: Document = field(default_factory=empty_manifest)
    catalog: Document = field(default_factory=empty_catalog)
    config: Document = field(default_factory=dict)
    declared: Document = field(default_factory=dict)
    events: list[Document] = field(default_factory=list)
    hidden_events: list[Document] = field(default_factory=list)
    taints: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)

    def add_model(
        self,
        name: str,
        parents: Sequence[str] = (),
        columns: Sequence[str] = ("id", "n"),
        **facts: object,
    ) -> None:
        """Add a model: a hidden one where its name is."""
        reads = [f"model.shop.{parent}" for parent in parents]
        label = "secret" if name.startswith(HIDDEN) else "public"
        inputs = " cross join ".join(f"db.{parent}" for parent in parents) or "db.given"
        code = f"select {', '.join(f'1 as {column}' for column in columns)} from {inputs}"
        node = {
            "resource_type": "model",
            "unique_id": f"model.shop.{name}",
            "name": name,
            "alias": name,
            "schema": "db",
            "database": None,
            "language": "sql",
            "relation_name": f"db.{name}",
            "package_name": "shop",
            "description": "",
            "original_file_path": f"models/{name}.sql",
            "fqn": ["shop", name],
            "tags": [],
            "meta": {"classification": label},
            "config": {"materialized": "table"},
            "raw_code": code,
            "compiled_code": code,
            "refs": [{"name": parent} for parent in parents],
            "depends_on": {"macros": [], "nodes": reads},
            "columns": {
                column: {
                    "name": column,
                    "meta": {"classification": "secret"} if column.startswith(HIDDEN) else {},
                }
                for column in columns
            },
            **facts,
        }
        self.manifest["nodes"][node["unique_id"]] = node
        self.catalog["nodes"][node["unique_id"]] = {
            "unique_id": node["unique_id"],
            "metadata": {"type": "table", "schema": "db", "name": name},
            "columns": {
                column: {"name": column, "type": "int", "index": place, "comment": None}
                for place, column in enumerate(columns, 1)
            },
            "stats": {},
        }

    def add_test(self, name: str, model: str, column: str, *others: str) -> None:
        """Add a test, which failed."""
        node_id = f"test.shop.{name}"
        reads = [f"model.shop.{read}" for read in (model, *others)]
        self.manifest["nodes"][node_id] = {
            "resource_type": "test",
            "unique_id": node_id,
            "name": name,
            "package_name": "shop",
            "attached_node": reads[0],
            "column_name": column,
            "test_metadata": {"name": "not_null", "kwargs": {"column_name": column}},
            "depends_on": {"macros": [], "nodes": reads},
            "columns": {},
            "config": {},
        }
        self.results.append(node_id)

    def add_exposure(self, name: str, *models: str) -> None:
        """Add a dashboard."""
        self.manifest["exposures"][f"exposure.shop.{name}"] = {
            "resource_type": "exposure",
            "unique_id": f"exposure.shop.{name}",
            "name": name,
            "type": "dashboard",
            "package_name": "shop",
            "owner": {"name": f"{name} owner"},
            "refs": [{"name": model} for model in models],
            "depends_on": {"macros": [], "nodes": [f"model.shop.{model}" for model in models]},
        }

    def node(self, name: str) -> Document:
        """A model."""
        node: Document = self.manifest["nodes"][f"model.shop.{name}"]
        return node

    def hide_task(self, name: str, *args: Any, **facts: Any) -> None:
        """Add a hidden task, by its label, and its runs."""
        self.config["tasks"][name] = SECRET
        self.hidden_events += job_events(name, *args, **facts)

    def rename(self, old: str, new: str) -> None:
        """Write another text for one, everywhere."""
        for part in fields(self):
            content = json.dumps(getattr(self, part.name)).replace(old, new)
            setattr(self, part.name, json.loads(content))

    def publish(self, folder: Path) -> None:
        """Write, collect and publish it."""
        manifest = self.manifest
        for part in ("nodes", "exposures"):
            for key, node in manifest[part].items():
                parents = manifest["parent_map"][key] = node["depends_on"]["nodes"]
                manifest["child_map"].setdefault(key, [])
                for each in parents:
                    manifest["child_map"].setdefault(each, []).append(key)
        (folder / "target").mkdir(parents=True)
        (folder / "target/manifest.json").write_text(json.dumps(manifest))
        (folder / "target/catalog.json").write_text(json.dumps(self.catalog))
        (folder / "graft.yml").write_text(yaml.safe_dump(self.config))
        (folder / "lineage.yml").write_text(yaml.safe_dump(self.declared))
        done = graft(folder, "collect")
        assert done.exit_code == 0, done.output
        store, logs = str(folder / ".graft/store"), []
        for name in ("events", "hidden_events"):
            path = written(folder / f"{name}.jsonl", *getattr(self, name))
            logs.append(tables(records(results_of(path)), {name: "1"}))
        results = [
            NodeResult(node_id, "1", "test", "fail", Status.FAILED, AT, AT, failures=3, origin="r")
            for node_id in self.results
        ]
        logs.append(tables(records(()), {"r": "1"}, node_results=table(NodeResult, results)))
        door.commit(store, logs)
        for number, name in enumerate(self.taints, 1):
            dataset = DatasetId("spark", name)
            tainted = {("end", dataset): ALL_DATES}
            taint = RecordedTaint(number, AT, AT, dataset, ALL_DATES, tainted=tainted)
            door.write_taint(store, taint)
        done = graft(folder, "site")
        assert done.exit_code == 0, done.output


def paired_project() -> PairedProject:
    """The project of all pairs."""
    project = PairedProject()
    project.config = {
        "collect": [{"declared": {"path": "lineage.yml"}}],
        "tasks": {"zqhpay": SECRET, "load": {"owner": "Team"}},
        "privacy": {
            "tables": [
                {"tables": "zqhdark.*", "is": "secret"},
                {"tables": "open.*", "is": "public"},
            ],
            "columns": [{"columns": "open.one.zqhnote", "is": "secret"}],
        },
        "site": {
            "out": "team",
            "data": True,
            "impact": True,
            "url": "https://data.example.com/",
            "audiences": {
                "public": {"out": "public", "url": "https://data.example.com/"},
                "partners": {"out": "partners", "sees": "pii", "unlabelled": "show"},
            },
        },
    }
    project.declared = {
        "version": 1,
        "tasks": {"deliver": {"flows": [{"from": ["sftp/in"], "to": ["spark/db.given"]}]}},
        "consumers": {
            "board": {"type": "dashboard", "reads": ["spark/open.two"], "deadline": "08:00"}
        },
    }
    project.add_model("first")
    project.add_model("second", ["first"], ["id", "zqhname", "n"])
    project.add_model("zqhmiddle", ["first"])
    project.add_model("last", ["zqhmiddle", "second"])
    project.add_test("id_is_there", "last", "id")
    project.add_test("zqhtest", "second", "zqhname")
    project.add_exposure("report", "last", "zqhmiddle")
    project.events = [
        *job_events("load", ["db.first"], ["open.one"], days=DAYS, columns="id", dag="shop.night"),
        *job_events("copy", ["open.one"], ["open.three"]),
        # So often that pages show them by day; one task is called after what is hidden.
        *(
            each
            for task in ("refresh", "count_zqhdark")
            for hour in (5, 17)
            for each in job_events(task, ["open.given"], ["db.last"], days=DAYS, hour=hour)
        ),
        *job_events("fix", [], ["open.one"], sql="UPDATE open.one SET id = ?"),
        *job_events("fix_note", ["db.first"], ["open.one"], columns="zqhnote"),
        *job_events("fix_too", [], ["open.one"], sql="UPDATE open.one SET zqhnote = ?"),
        # Through a hidden table, and by a hidden task.
        *job_events("zqhfill", ["open.one"], ["zqhdark.one"], dag="shop.night"),
        *job_events("end", ["zqhdark.one"], ["open.two"], days=DAYS),
        *job_events("zqhpay", ["open.one"], ["db.second"], columns="id"),
        *job_events("zqhrest", ["zqhdark.one"], ["zqhdark.two"]),
    ]
    project.config["tasks"]["zqhfill"] = SECRET
    project.taints = ["open.two"]
    return project


Change = Callable[[PairedProject], object]
NEW = "zqhnew"


def change_all_names(to: str) -> Change:
    return lambda project: project.rename(HIDDEN, to)


def move_hidden_inputs(project: PairedProject) -> None:
    """The hidden input comes last, in all lists."""
    node = project.node("last")
    for inputs in (node["depends_on"]["nodes"], node["refs"]):
        inputs.append(inputs.pop(0))
    for document in (project.manifest, project.catalog):
        nodes = document["nodes"]
        nodes["model.shop.zqhmiddle"] = nodes.pop("model.shop.zqhmiddle")


def add_hidden_input(project: PairedProject) -> None:
    project.add_model(NEW, ["first"])
    node = project.node("last")
    node["depends_on"]["nodes"].insert(0, f"model.shop.{NEW}")
    node["refs"].insert(0, {"name": NEW})


def add_hidden_input_of_task(project: PairedProject) -> None:
    for each in project.events:
        if each["job"]["name"] == "copy":
            each["inputs"].append({"namespace": "spark", "name": "zqhdark.one"})


def add_hidden_column(project: PairedProject) -> None:
    project.add_model("second", ["first"], ["zqhfirst", "id", "zqhname", "n"])


def build_elsewhere(project: PairedProject) -> None:
    """A model of another dbt project is a task, by the name of its job."""
    job = "db.dw.zqhother.last.build.run"
    project.config["tasks"][job] = SECRET
    for each in job_events(job, [], ["db.last"], days=DAYS):
        each["producer"] = PRODUCERS["dbt"]
        each["job"]["facets"]["dbt_node"] = {"unique_id": "model.zqhother.last"}
        each["run"]["facets"]["dbt_run"] = {"invocation_id": "1"}
        project.hidden_events.append(each)


def lengthen_hidden_path(project: PairedProject) -> None:
    project.events = json.loads(
        json.dumps(project.events)
        .replace("zqhdark.one", "zqhdark.end")
        .replace('"zqhfill"', '"zqhstart"')
    )
    project.config["tasks"]["zqhstart"] = SECRET
    for each in project.events:
        if each["job"]["name"] == "zqhstart":
            each["outputs"][0]["name"] = "zqhdark.start"
    project.hide_task(NEW, ["zqhdark.start"], ["zqhdark.end"])


def double_hidden_path(project: PairedProject) -> None:
    project.hide_task(NEW, ["open.one"], ["zqhdark.also"])
    project.hide_task(f"{NEW}2", ["zqhdark.also"], ["zqhdark.one"])


def change_hidden_statement(project: PairedProject) -> None:
    """Its id, which is a digest, stands before or after those of others."""
    for each in project.events:
        query = each["job"]["facets"].get("sql", {})
        if "zqhnote" in query.get("query", ""):
            query["query"] = "UPDATE open.one SET zqhnote = ? WHERE zqhnote > ?"


def add_hidden_group(project: PairedProject) -> None:
    group = {"unique_id": f"group.shop.{NEW}", "name": NEW, "owner": {"name": "zqhboss"}}
    group |= {"resource_type": "group", "package_name": "shop"}
    project.manifest["groups"] |= {f"group.shop.{NEW}": group}
    project.manifest["group_map"] |= {NEW: ["model.shop.zqhmiddle"]}
    project.node("zqhmiddle").update(group=NEW, tags=["zqhtag"], description="The zqhboss's.")


CHANGES: dict[str, Change] = {
    "hidden names stand first": change_all_names("aah"),
    "more hidden columns": add_hidden_column,
    "more hidden tasks on the same way": lambda project: project.hide_task(
        NEW, ["open.one"], ["db.second"], columns="id"
    ),
    "hidden names stand last": change_all_names("zzzh"),
    "hidden inputs stand elsewhere": move_hidden_inputs,
    "more hidden inputs": add_hidden_input,
    "more hidden readers": lambda project: project.add_model(NEW, ["first", "last"]),
    "more hidden tables": lambda project: project.add_model(NEW),
    "more hidden tests": lambda project: project.add_test(NEW, "last", "id", "zqhmiddle"),
    "more hidden exposures": lambda project: project.add_exposure(NEW, "zqhmiddle"),
    "a hidden group, tag and owner": add_hidden_group,
    "hidden tests without results": lambda project: project.results.pop(),
    "other hidden statements": change_hidden_statement,
    "hidden readers among tasks": lambda project: project.hide_task(
        NEW, ["open.one", "open.given"], ["zqhdark.two"], days=range(1, 29)
    ),
    "hidden writers of visible tables": lambda project: project.hide_task(
        NEW, [], ["db.last"], days=range(1, 29)
    ),
    "hidden writers that the store has by other names": build_elsewhere,
    "a longer hidden way": lengthen_hidden_path,
    "more hidden ways": double_hidden_path,
    "a hidden way beside a visible one": add_hidden_input_of_task,
    "hidden tasks alone": lambda project: project.hide_task(
        NEW, ["zqhdark.two"], ["zqhdark.new"], days=range(1, 29)
    ),
    "later hidden runs that fail": lambda project: project.hide_task(
        "zqhrest", ["zqhdark.one"], ["zqhdark.two"], days=[28], state="FAIL"
    ),
    "hidden tasks in a visible DAG": lambda project: project.hide_task(
        NEW, [], ["zqhdark.two"], days=DAYS, state="FAIL", dag="shop.night"
    ),
    "hidden DAGs": lambda project: project.hide_task(
        NEW, [], ["zqhdark.two"], days=DAYS, dag="zqhdag.night"
    ),
    "earlier hidden incidents": lambda project: project.taints.insert(0, "zqhdark.two"),
}


def publish(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *changes: Change
) -> dict[str, dict[str, bytes]]:
    """The published files of each site, by path, of the project with some changes."""
    monkeypatch.setattr(door, "collected_at", lambda *_: AT)
    # Each page says how many tables and columns are left out.
    monkeypatch.setattr(site, "_notice", lambda *_: "Some are left out.")
    project = paired_project()
    for change in changes:
        change(project)
    project.publish(folder)
    return {
        name: {
            str(path.relative_to(folder / name)): path.read_bytes()
            for path in (folder / name).rglob("*")
            if path.is_file()
        }
        for name in ("team", "public", "partners")
    }


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, bytes]]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        return publish(tmp_path_factory.mktemp("pairs") / "before", monkeypatch)


@for_each("change", CHANGES, quick=3)
def test_what_differs_in_hidden_data_only_is_published_as_the_same_bytes(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    published: dict[str, dict[str, bytes]],
    change: str,
) -> None:
    after = publish(tmp_path / "after", monkeypatch, CHANGES[change])
    for name in ("public", "partners"):
        paths = published[name].keys() | after[name].keys()
        differing = {path for path in paths if published[name].get(path) != after[name].get(path)}
        assert differing == set()
    assert published["team"] != after["team"]


@pytest.mark.parametrize("name", ["refresh", "left_out_1"])
def test_the_page_of_a_visible_task_has_its_days_whatever_it_is_called(
    published: dict[str, dict[str, bytes]], name: str
) -> None:
    page = published["public"][f"tasks/{name}/index.html"].decode()
    assert "at most 2 a day" in page
