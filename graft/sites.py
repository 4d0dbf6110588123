"""The sites of a build: that of the team, and those for other audiences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dbt_graft.graft import pipeline
from dbt_graft.graft.config import Config
from dbt_graft.graft.past import Moment
from dbt_graft.graft.progress import Progress
from dbt_graft.injector.report import Grafted

if TYPE_CHECKING:
    from dbt_graft.catalog.build import PublishedSite


def publish_sites(
    config: Config,
    progress: Progress,
    grafted: Grafted,
    *,
    full: bool = False,
    past: Moment | None = None,
) -> PublishedSite:
    """Publish the site, and those of `site.audiences`; as `pipeline.publish`.

    Returns:
        The first of them.
    """
    published = pipeline.publish(config, progress, grafted, full=full, past=past)
    for one in _of_audiences(config):
        pipeline.publish(one, progress, grafted, full=full)
    return published


def _of_audiences(config: Config) -> Iterator[Config]:
    for name, entry in config.site.audiences.items():
        update = {"out": entry.out, "url": entry.url, "audience": name, "audiences": {}}
        yield config.model_copy(update={"site": config.site.model_copy(update=update)})
