"""Whether there is any lineage to ask about."""

from __future__ import annotations

from dbt_graft.collectors.store.batches import collected_at
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.dbt_alone import note_dbt_alone
from dbt_graft.graft.project.view import Moment
from dbt_graft.lineage.errors import GraftError


def check_collected(config: Config, past: Moment | None = None) -> None:
    """Refuse to go on without any lineage; say so where it is dbt's alone.

    Raises:
        GraftError: Nothing was collected yet, and there are no artifacts of dbt, or they are not of
            the past.
    """
    store_folder = config.path(config.store)
    if collected_at(store_folder) is None:
        if past or not (config.target_dir / "manifest.json").exists():
            raise GraftError(
                "there is no lineage: nothing was collected yet",
                place=store_folder,
                remedy="run `graft collect`",
            )
        note_dbt_alone(config)
