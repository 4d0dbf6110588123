"""Changes between builds, on the home page and on a page of their own."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import orjson

from dbt_graft.analysis.history.changes import NO_BUILDS
from dbt_graft.catalog.build import PublishedSite, build
from dbt_graft.catalog.previous import EarlierBuilds
from dbt_graft.catalog.settings import SiteSettings
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer, Description, Role
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.names import DatasetNames
from dbt_graft.lineage.records import Column, Dataset
from tests.catalog.html_reader import section, text

MONDAY, TUESDAY, FRIDAY = (datetime(2026, 11, day, 8, tzinfo=UTC) for day in (16, 17, 20))
ORDERS, SALES, MART, OLD = (
    DatasetId("spark", name) for name in ("raw.orders", "raw.sales", "mart.x", "raw.<b>old")
)


def site(
    out: Path,
    at: datetime,
    *datasets: Dataset,
    before: PublishedSite | None = None,
    lineage: Lineage = Lineage(),  # noqa: B008  # it is immutable
    roles: dict[DatasetId, Role] | None = None,
    moved: dict[str, str] | None = None,
) -> PublishedSite:
    """A site of datasets, built after another one."""
    found = roles or {}
    return build(
        DescribedLineage(
            replace(
                lineage,
                datasets={dataset.id: dataset for dataset in sorted(datasets, key=lambda d: d.id)},
            ),
            {
                one: Description(one, f"model.{one.name}", one.name, role)
                for one, role in found.items()
            },
            [Consumer("exposure.x", "dashboard", "dashboard", (MART,))] if MART in found else [],
        ),
        SiteSettings(built_at=at, moved=moved or {}),
        out,
        earlier=EarlierBuilds(
            addresses=before.addresses if before else (),
            history=before.history if before else NO_BUILDS,
        ),
    )


def html(site: PublishedSite, path: str = "") -> str:
    """A page of a site."""
    return (site.index.parent / path / "index.html").read_text("utf-8")


def test_the_first_build_has_nothing_to_show(tmp_path: Path) -> None:
    first = site(tmp_path / "1", MONDAY, Dataset(ORDERS))
    assert "What changed" not in text(html(first))
    assert "Nothing to compare with yet" in text(html(first, "changes/"))
    changes = orjson.loads((tmp_path / "1/changes.json").read_bytes())
    assert [build["changes"] for build in changes["builds"]] == [[]]


def test_what_is_new_and_what_is_gone_lead_to_their_pages(tmp_path: Path) -> None:
    first = site(tmp_path / "1", MONDAY, Dataset(ORDERS), Dataset(OLD))
    flows = Lineage(flows=(Flow(ORDERS, MART, "load"),), tasks={"load": Task("load")})
    second = site(
        tmp_path / "2",
        TUESDAY,
        *(Dataset(ORDERS, columns=(Column("id", "int"),)), Dataset(MART)),
        before=first,
        lineage=flows,
        roles={MART: Role.MODEL},
    )
    shown = section(html(second), "What changed")
    assert "Latest change 2026-11-17 08:00 UTC" in shown
    assert "compared with the build from 2026-11-16 08:00 UTC" in shown
    for expected in (
        "Datasets gone1 raw.<b>old",
        "New datasets1 mart.x",
        "New tasks2 dashboard load",
        "New edges2 raw.orders → mart.x mart.x → dashboard",
        "New columns1 raw.orders id",
    ):
        assert expected in shown
    links = re.findall(r'<a class="graft-name[^>]*href="([^"]*)"', html(second))
    assert len(links) > 6
    assert [link for link in links if not (tmp_path / "2" / link).is_file()] == []
    gone = next(link for link in links if "old" in link)
    assert "gone" in text((tmp_path / "2" / gone).read_text("utf-8"))


def test_a_build_that_publishes_the_same_leaves_every_page_as_it_is(tmp_path: Path) -> None:
    first = site(tmp_path / "1", MONDAY, Dataset(ORDERS))
    second = site(tmp_path / "2", TUESDAY, Dataset(ORDERS), Dataset(SALES), before=first)
    third = site(tmp_path / "3", FRIDAY, Dataset(ORDERS), Dataset(SALES), before=second)
    assert third.history == second.history
    for path in ("", "changes/"):
        assert html(third, path) == html(second, path)
    assert "New datasets1 raw.sales" in section(html(third), "What changed")


def test_a_rename_and_a_promotion_are_no_new_datasets(tmp_path: Path) -> None:
    first = site(tmp_path / "1", MONDAY, Dataset(ORDERS), Dataset(MART), roles={MART: Role.SOURCE})
    second = site(
        tmp_path / "2",
        TUESDAY,
        *(Dataset(SALES), Dataset(MART)),
        before=first,
        lineage=Lineage(names=DatasetNames(former={SALES: (ORDERS,)})),
        roles={MART: Role.PROMOTED},
    )
    shown = section(html(second), "What changed")
    assert "Datasets renamed1 raw.orders is now raw.sales" in shown
    assert "Sources promoted to models1 mart.x dbt source → promoted source" in shown
    assert "New datasets" not in shown


def test_datasets_of_a_former_namespace_are_renamed(tmp_path: Path) -> None:
    now = DatasetId("duckdb://shop", "raw.orders")
    first = site(tmp_path / "1", MONDAY, Dataset(ORDERS))
    second = site(
        tmp_path / "2", TUESDAY, Dataset(now), before=first, moved={"spark": "duckdb://shop"}
    )
    [build, _] = second.history.builds
    assert [(change.kind, change.dataset, change.other) for change in build.changes] == [
        ("renamed dataset", ORDERS, now)
    ]


def test_of_many_changes_the_home_page_shows_a_few(tmp_path: Path) -> None:
    tables = [Dataset(DatasetId("spark", f"raw.t{n:04}")) for n in range(700)]
    first = site(tmp_path / "1", MONDAY)
    second = site(tmp_path / "2", TUESDAY, *tables, before=first)
    shown = section(html(second), "What changed")
    assert "New datasets700 raw.t0000 raw.t0001 raw.t0002 697 more" in shown
    assert "670 more: all of them" in shown
    page = html(second, "changes/")
    assert 'id="build-2"' in page
    assert page.count('<a class="graft-name') == 500
    [newest, _] = orjson.loads((tmp_path / "2/changes.json").read_bytes())["builds"]
    assert newest["counts"] == {"new dataset": 700}
    assert len(newest["changes"]) == 700


def test_without_a_time_no_changes_are_looked_for(tmp_path: Path) -> None:
    built = build(DescribedLineage(Lineage()), SiteSettings(), tmp_path / "site")
    assert built.history == NO_BUILDS
