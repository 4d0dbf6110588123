"""The folders that the command writes, by their keys in `graft.yml`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from dbt_graft.graft.project import output_folder
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.output_folder import OutputFolder
from dbt_graft.lineage.errors import GraftError

_OUTPUTS: Mapping[str, Callable[[Config], str]] = {
    "artifacts": lambda config: config.artifacts,
    "site.out": lambda config: config.site.out,
}


def check_outputs(config: Config, *keys: str) -> None:
    """Refuse output folders that are not graft's own, before any work is done.

    Args:
        keys: The keys of `graft.yml` whose folders are written; of all without any.

    Raises:
        GraftError: A folder is refused, or the store lies where dbt deletes it.
    """
    project = [config.folder, config.project_dir]
    store_folder = config.path(config.store)
    # Other than `Path.resolve`, it follows a link to itself without an error.
    target, real_store = (
        Path(os.path.realpath(path)) for path in (config.target_dir, store_folder)
    )
    if "://" not in store_folder and target in (real_store, *real_store.parents):
        raise GraftError(
            "lies in dbt's target, which `dbt clean` deletes",
            place=f"graft.yml: `store: {config.store}`",
            remedy="name a folder elsewhere, such as .graft/store",
        )
    protected = {
        "the project": project,
        output_folder.TARGET: [config.target_dir],
        output_folder.STORE: [] if "://" in store_folder else [Path(store_folder)],
    }
    outputs = [output_of(config, key) for key in keys or _OUTPUTS]
    if any(output.key == "site.out" for output in outputs):
        outputs += [
            OutputFolder(f"site.audiences.{name}.out", Path(config.path(audience.out)))
            for name, audience in config.site.audiences.items()
        ]
    output_folder.check(outputs, protected)


def output_of(config: Config, key: str) -> OutputFolder:
    """The folder that a key of `graft.yml` names."""
    return OutputFolder(key, Path(config.path(_OUTPUTS[key](config))))
