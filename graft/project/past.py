"""The configuration and the records of a past state."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from dbt_graft.analysis.render.phrases import time_text
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.view import Moment
from dbt_graft.lineage.building.as_of import as_of, oldest
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.records import Records


def past_config(
    config: Config, past: Moment, output: str, out: Path | None, target_dir: Path | None
) -> Config:
    """The configuration for a past state: outputs beside the usual ones, and no URL.

    The site of a past state is published elsewhere than the usual one, or nowhere.
    """
    artifacts, site = config.artifacts, config.site.out
    folders = {
        key: f"{name.rstrip('/')}-as-of-{past.slug}"
        for key, name in (("artifacts", artifacts), ("site.out", site))
    }
    if out:
        folders[output] = str(out.absolute())
    section = replace(config.site, out=folders["site.out"], url="", audiences={})
    dbt = config.dbt
    if target_dir:
        dbt = replace(dbt, target_dir=str(target_dir.absolute()))
    return replace(config, artifacts=folders["artifacts"], site=section, dbt=dbt)


def past_records(store_folder: str, records: Records, past: Moment | None) -> Records:
    """The records of a store as of a time.

    Args:
        store_folder: The store, for the error.
        past: None for all of them.

    Raises:
        GraftError: It has none as old.
    """
    if past is None:
        return records
    dated = as_of(records, past.at)
    if records.accesses and not (dated.accesses or dated.runs or dated.node_results):
        first = oldest(records)
        begins = f"it begins {time_text(first)} UTC" if first else "it has no times"
        raise GraftError(
            f"the lineage store has nothing as of {past.text}",
            place=store_folder,
            remedy=f"{begins}: name a later time",
        )
    return dated


def past_notice(past: Moment, models_of: object) -> str:
    """The line on each page of a site of the past.

    Args:
        models_of: When dbt's artifacts were made, as they have it.
    """
    try:
        built = datetime.fromisoformat(str(models_of)).astimezone(UTC)
        of = f"of the build of {built.day} {built:%b %Y}"
    except ValueError:
        of = "of dbt's last build"
    return f"Lineage as of {past.text}. dbt's models are those {of}."
