"""Hostile text in every place where a page shows a value."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from dbt_graft.analysis.history.changes import (
    NO_BUILDS,
    BuildHistory,
    ChangeKind,
    PublishedDataset,
    PublishedNames,
    update_history,
)
from dbt_graft.catalog.build import build
from dbt_graft.catalog.dbt_docs import DbtDocs
from dbt_graft.catalog.markup import printable
from dbt_graft.catalog.previous import EarlierBuilds
from dbt_graft.catalog.settings import SiteExtras, SiteSettings
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.describe import Consumer, Description, Role
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.history import History
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.names import DatasetNames
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Column,
    ColumnEdge,
    Dataset,
    Direction,
    Outcome,
    Reject,
    Run,
    Shape,
    Status,
    Subtype,
    TaskInfo,
)
from dbt_graft.lineage.urls import dataset_path, owner_path, tag_path, task_path
from dbt_graft.lineage.usage import Usage
from tests.cases import for_each
from tests.catalog.html_reader import HtmlReader, article

AT = datetime(2026, 11, 20, tzinfo=UTC)
HOSTILE = [
    '<script>alert(1)</script><img src=x onerror="alert(1)">',
    '" onmouseover="alert(1)" \' onfocus=\'alert(1)',
    "[x](javascript:alert(1)) ![y](https://evil.example.com/p.png)",
    "a | b `c` ~~~ ``` {{ config.site_url }} {% raw %} {: #top onclick=alert(1) }",
    "first\n```\nsecond\n~~~\n\n# heading\n\n    code\n---\n",
    "</div></section></table></article> --> ]]> <!--",
    "emoji 🌱 名前 \u202e\x00\x1b\x02wzxhzdk:0\x03",
    "long" * 500,
]


def _hostile_lineage(text: str) -> tuple[Lineage, dict[DatasetId, Description], list[Consumer]]:
    """One dataset and one task in which every string is the hostile one."""
    source, target = DatasetId("spark", f"raw.{text}"), DatasetId(f"mssql://{text}", text)
    run = Run("r", text, text, status=Status.FAILED, error=text, engine_version=text, origin=text)
    started = replace(run, parent_run_id="o")
    names = f"{text}/{text}/{text}"
    orchestrator = Run("o", text, "airflow", application_id=names, url=f"javascript:{text}")
    usages = (
        Usage(text, source, Direction.READ, (Operation.SELECT,), (text,), procedures=(text,)),
        Usage(text, target, Direction.WRITE, (Operation.INSERT,), (text,), procedures=(text,)),
    )
    info = TaskInfo(
        *(text, text, f"javascript:{text}", text, f"https://{text}", text, (text,)), rerun=text
    )
    lineage = Lineage(
        datasets={
            source: Dataset(source, Kind.VIEW, (Column(text, text),), (target,)),
            target: Dataset(target, Kind.TABLE, (Column(text, text),)),
        },
        tasks={text: Task(text, (text,), usages, (run, started), info)},
        flows=(Flow(source, target, text, hops=(source,), shapes=(text,)),),
        names=DatasetNames(aliases={source: (target,), target: (source,)}),
        shapes={text: Shape(text, text, text, text, Outcome.PARTIAL, text)},
        rejects=(Reject(text, text, text, text),),
        history=History(orchestrator_runs={"o": orchestrator}),
        column_edges=tuple(
            ColumnEdge(text, target, to, source, name, kind.type, kind, False, text)
            for kind in (Subtype.IDENTITY, Subtype.FILTER)
            for to, name in ((text, text), ("*", text), ("*", "*"))
        ),
    )
    description = Description(
        *(source, f"model.{text}.{text}", text, Role.MODEL, text, text, (text,), {text: text}),
        labels=(text,),
        column_labels={text: (text,)},
    )
    consumer = Consumer(
        f"exposure.x.{text}", f"{text}!", text, (target,), text, text, f"javascript:{text}", (text,)
    )
    return lineage, {source: description}, [consumer]


def _hostile_history(lineage: Lineage, text: str) -> BuildHistory:
    """A build before, from which everything has changed but the name and the role of a dataset."""
    source = next(iter(lineage.datasets))
    gone = DatasetId(text, f"gone{text}")
    columns = (Column(text, f"other {text}"), Column(f"gone{text}", text))
    datasets = (PublishedDataset(gone), PublishedDataset(source, text, columns))
    edges = ((gone, source), (source, f"gone{text}"))
    names = PublishedNames(datasets, (f"gone{text}",), edges)
    return update_history(NO_BUILDS, names, {}, AT)


@for_each("text", HOSTILE)
def test_hostile_text_in_every_place_is_shown_as_text(text: str, tmp_path: Path) -> None:
    lineage, descriptions, consumers = _hostile_lineage(text)
    built = build(
        DescribedLineage(lineage, descriptions, consumers),
        SiteSettings(built_at=AT),
        tmp_path / "site",
        extras=SiteExtras(dbt_docs=DbtDocs.DBT_1),
        earlier=EarlierBuilds(history=_hostile_history(lineage, text)),
    )
    assert set(ChangeKind) - built.history.builds[0].counts.keys() == {
        ChangeKind.RENAMED_DATASET,
        ChangeKind.PROMOTED,
        ChangeKind.OTHER_TASKS,
        ChangeKind.NEW_COLUMN,
    }
    for file in (tmp_path / "site").rglob("*.html"):
        read = HtmlReader(file.read_text(encoding="utf-8"))
        assert "alert(1)" not in read.scripts, file
        for tag, attributes in read.tags:
            assert not [key for key in attributes if key.startswith("on")], (file, tag, attributes)
            assert "javascript:" not in attributes.get("href", "").lower(), file
            assert tag != "img" or "images/" in attributes["src"], file
    for path in (
        *(dataset_path(dataset) for dataset in lineage.datasets),
        task_path(text),
        task_path(f"{text}!"),
        tag_path(text),
        owner_path(text),
    ):
        html = (tmp_path / "site" / path / "index.html").read_text(encoding="utf-8")
        assert html.count("<article") == html.count("</article>") == 1
        assert printable(text).split("\n")[0] in HtmlReader(article(html)).text, path
