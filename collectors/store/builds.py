"""Names that the last builds published, in files of the store: `builds/000017.json.zst`.

Each file is a build that published something else than the one before it: two lines of JSON,
compressed. The first has the build and what changed, so that a list of many builds reads little;
the second all names and edges, with which the next build is compared. Like the addresses they are
no records of logs, and no batch has them.
"""

from __future__ import annotations

import io
from typing import Any

import orjson
from pyarrow import fs

from dbt_graft.analysis.history.change_json import build_from_json, build_json
from dbt_graft.analysis.history.changes import (
    BUILDS,
    Build,
    BuildHistory,
    PublishedDataset,
    PublishedNames,
)
from dbt_graft.collectors.files import filesystem, numbered_files
from dbt_graft.collectors.store.errors import StoreError
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import Column

_FOLDER = "builds"


def build_history(store: str) -> BuildHistory:
    """The last builds, newest first, with all that the newest published.

    Raises:
        StoreError: A file is damaged.
    """
    files, root = filesystem(store)
    builds: list[Build] = []
    names: PublishedNames | None = None
    for number in sorted(numbered_files(files, f"{root}/{_FOLDER}", ".json.zst"), reverse=True)[
        :BUILDS
    ]:
        name = _name(number)
        try:
            with _lines(files, f"{root}/{name}") as lines:
                builds.append(build_from_json(orjson.loads(lines.readline())))
                if names is None:
                    names = _names(orjson.loads(lines.readline()))
        except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
            raise StoreError(
                "the names that a build published cannot be read",
                place=f"{store}/{name}",
                remedy="restore the file from a backup, or delete it: only what changed then is "
                "lost",
            ) from error
    return BuildHistory(tuple(builds), names)


def write_build_history(store: str, history: BuildHistory) -> None:
    """Write the newest build, in place of its own file if it has one; remove those too old."""
    if history.names is None:
        return
    files, root = filesystem(store)
    files.create_dir(f"{root}/{_FOLDER}")
    newest = history.builds[0]
    lines = (orjson.dumps(build_json(newest)), orjson.dumps(_names_json(history.names)), b"")
    beside = f"{root}/{_FOLDER}/.new"
    with files.open_output_stream(beside, compression="zstd") as out:
        out.write(b"\n".join(lines))
    files.move(beside, f"{root}/{_name(newest.number)}")
    for number in numbered_files(files, f"{root}/{_FOLDER}", ".json.zst"):
        if number <= newest.number - BUILDS:
            files.delete_file(f"{root}/{_name(number)}")


def _name(number: int) -> str:
    return f"{_FOLDER}/{number:06}.json.zst"


def _lines(files: fs.FileSystem, path: str) -> io.BufferedReader:
    content: Any = files.open_input_stream(path, compression="zstd")
    return io.BufferedReader(content)


def _names_json(names: PublishedNames) -> dict[str, Any]:
    """Names once; edges by the place of their datasets."""
    places = {dataset.id: index for index, dataset in enumerate(names.datasets)}
    return {
        "datasets": [
            [
                dataset.id.namespace,
                dataset.id.name,
                dataset.role,
                [[column.name, column.type] for column in dataset.columns],
            ]
            for dataset in names.datasets
        ],
        "tasks": names.tasks,
        "edges": [
            [places[source], target if isinstance(target, str) else places[target]]
            for source, target in names.edges
        ],
    }


def _names(value: dict[str, Any]) -> PublishedNames:
    datasets = [
        PublishedDataset(
            DatasetId(namespace, name), role, tuple(Column(*column) for column in columns)
        )
        for namespace, name, role, columns in value["datasets"]
    ]
    ids = [dataset.id for dataset in datasets]
    return PublishedNames(
        tuple(datasets),
        tuple(value["tasks"]),
        tuple(
            (ids[source], target if isinstance(target, str) else ids[target])
            for source, target in value["edges"]
        ),
    )
