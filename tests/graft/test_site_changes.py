"""Changes from one `graft site` to the next."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

from dbt_graft.analysis.history.changes import Build
from dbt_graft.collectors.store import door as store
from dbt_graft.graft.commands.cli import main
from tests.graft.test_inject import folder  # noqa: F401 (a fixture)

# ruff: noqa: F811 (a fixture of another module)


def published(folder: Path) -> tuple[str, list[Build]]:
    """The home page after a build, and the builds in the store."""
    done = CliRunner().invoke(main, ["site", "-q", "-c", str(folder / "graft.yml")])
    assert done.exit_code == 0, done.output
    html = (folder / "build/site/index.html").read_text("utf-8")
    return html, list(store.build_history(str(folder / ".graft/store")).builds)


def without_mart(folder: Path) -> None:
    """Take the model out of the dbt project."""
    path = folder / "target/manifest.json"
    manifest = orjson.loads(path.read_bytes())
    [source] = manifest["sources"]
    maps = {"nodes": {}, "parent_map": {source: []}, "child_map": {source: []}}
    path.write_bytes(orjson.dumps({**manifest, **maps}))


@pytest.mark.slow
def test_the_store_remembers_each_build_that_changed_something(folder: Path) -> None:
    home, builds = published(folder)
    assert 'id="changes"' not in home
    assert [build.number for build in builds] == [1]
    assert published(folder) == (home, builds)

    without_mart(folder)
    home, builds = published(folder)
    assert [build.number for build in builds] == [2, 1]
    assert "other role in dbt" in builds[0].counts
    assert 'id="changes">What changed' in home
    assert published(folder) == (home, builds)

    newest = orjson.loads((folder / "build/site/changes.json").read_bytes())["builds"][0]
    assert newest["at"] == builds[0].at.isoformat()


def test_labels_that_are_hidden_are_not_on_the_home_page(folder: Path) -> None:
    config = folder / "graft.yml"
    home, _ = published(folder)
    assert "Data team" in home
    config.write_text(config.read_text() + "site: {labels: {hide: ['Data *']}}\n")
    home, _ = published(folder)
    assert "Data team" not in home
    assert list((folder / "build/site/owners").glob("data-team-*/index.html"))
