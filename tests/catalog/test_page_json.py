"""`index.json` beside each page: of the published schema, and what the page says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dbt_graft.catalog.build import build
from dbt_graft.catalog.settings import SiteSettings
from dbt_graft.lineage.described import DescribedLineage
from tests.catalog.worlds import world


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site") / "out"
    build(DescribedLineage(*world(1).lineage()), SiteSettings(json=True), out)
    return out


def documents(site: Path) -> dict[str, Any]:
    return {
        file.parent.relative_to(site).as_posix() + "/": json.loads(file.read_text())
        for file in site.rglob("index.json")
    }


def test_each_is_of_the_published_schema(site: Path, root: Path) -> None:
    schema = json.loads((root / "docs/schemas/page.schema.json").read_text())
    found = documents(site)
    assert {one["kind"] for one in found.values()} == {"dataset", "task", "consumer"}
    for document in found.values():
        jsonschema.validate(document, schema)


def test_each_lies_beside_its_page(site: Path) -> None:
    for path, document in documents(site).items():
        assert document["page"] == path
        assert (site / path / "index.html").is_file()


def test_what_leads_downstream_leads_upstream_too(site: Path) -> None:
    found = {one["name"]: one for one in documents(site).values() if one["kind"] == "dataset"}
    for name, document in found.items():
        for flow in document["downstream"]:
            assert name in [other["dataset"] for other in found[flow["dataset"]]["upstream"]]


def test_there_is_none_unless_it_is_asked_for(tmp_path: Path) -> None:
    build(DescribedLineage(*world(1).lineage()), SiteSettings(), tmp_path / "out")
    assert not [*(tmp_path / "out").rglob("datasets/**/index.json")]
