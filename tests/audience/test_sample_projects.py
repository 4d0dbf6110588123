"""Public projects, with labels put on by rule: no site for an audience has a word of the rest.

The texts of what is to be hidden get canaries, which a reader of the tests looks for, as it does
for the ids of hidden nodes.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from tests.audience.published import canaries_in
from tests.cases import for_each
from tests.graft.audience_project import graft

SAMPLES = Path(__file__).parents[3] / "shared/samples/dbt-artifacts"
PROJECTS = (
    "ATanskiy_MatchStream",
    "Aidbox_dbt-sample-project",
    "CentricaGroupDataAI_energy-model-tests",
    "Viktor-Soltesz_salary-survey-dbt-docs",
    "godatadriven_dbt-bouncer_v20",
    "incubateur-ademe_quefairedemesobjets",
)
DATA = ("model", "seed", "snapshot", "source")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not SAMPLES.is_dir(), reason="the samples are not beside the checkout"),
]


def labelled_project(name: str, folder: Path, unlabelled: str) -> tuple[set[str], set[str]]:
    """Write a project in which a third of the tables is secret and a third public.

    Returns:
        The ids of the secret tables, and those of the public ones.
    """
    source = SAMPLES / name
    manifest = json.loads(gzip.decompress((source / "manifest.json.gz").read_bytes()))
    (folder / "target").mkdir()
    catalog = gzip.decompress((source / "catalog.json.gz").read_bytes())
    (folder / "target/catalog.json").write_bytes(catalog)
    secret, public = set(), set()
    for key, node in _tables(manifest):
        number = crc32(key.encode()) % 3
        if number == 0:
            secret.add(key)
            node["meta"] = {**(node.get("meta") or {}), "classification": "secret"}
            node["description"] = f"{node.get('description') or ''} zqhid{crc32(key.encode()):08x}"
            node["tags"] = [*(node.get("tags") or ()), f"zqhid{crc32(key[::-1].encode()):08x}"]
        elif number == 1:
            public.add(key)
            node["meta"] = {**(node.get("meta") or {}), "classification": "public"}
            node["description"] = f"{node.get('description') or ''} zqseen{crc32(key.encode()):08x}"
        for column, described in (node.get("columns") or {}).items():
            if number == 0 or crc32(f"{key}{column}".encode()) % 5 == 0:
                described["meta"] = {**(described.get("meta") or {}), "classification": "pii"}
                described["description"] = f"zqhid{crc32(f'{key}{column}'.encode()):08x}"
    (folder / "target/manifest.json").write_text(json.dumps(manifest))
    (folder / "dbt_project.yml").write_text("name: x\nversion: '1'\nprofile: x\n")
    (folder / "graft.yml").write_text(
        f"site: {{audience: public, unlabelled: {unlabelled}, data: true, out: build/public}}\n"
    )
    return secret, public


def _tables(manifest: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for part in ("nodes", "sources"):
        for key, node in manifest[part].items():
            if node.get("resource_type") in DATA:
                yield key, node


@pytest.mark.parametrize("unlabelled", ["hide", "show"])
@for_each("name", PROJECTS)
def test_the_site_of_an_audience_has_no_word_of_the_rest(
    tmp_path: Path, name: str, unlabelled: str
) -> None:
    secret, public = labelled_project(name, tmp_path, unlabelled)
    done = graft(tmp_path, "site")
    assert done.exit_code == 0, done.output
    site = tmp_path / "build/public"
    assert canaries_in(site, re.compile("zqhid[0-9a-f]{8}")) == {}
    docs = (site / "dbt/index.html").read_text()
    assert {key for key in secret if f'"{key}"' in docs} == set()
    shown = canaries_in(site, re.compile("zqseen[0-9a-f]{8}"))
    assert secret
    assert bool(shown) == bool(public)
