"""dbt's artifacts as files: manifest.json, catalog.json and sources.json.

The formats are dbt's: https://schemas.getdbt.com/dbt/manifest/v12.json, /dbt/catalog/v1.json and
/dbt/sources/v3.json on the same host. Unknown keys are written as they were read.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import field
from itertools import islice
from pathlib import Path
from typing import Any
from zlib import crc32

import orjson

from dbt_graft.injector.index.catalog import (
    catalog_of,
    freshness_of,
    has_first_columns_only,
    index_notices,
)
from dbt_graft.injector.index.tables import DbtIndex, read_index
from dbt_graft.injector.index_files import index_files
from dbt_graft.injector.malformed import (
    CATALOG,
    MANIFEST,
    SOURCES,
    JsonType,
    is_well_formed,
    without_malformed,
)
from dbt_graft.injector.report import Grafted
from dbt_graft.injector.undecoded import Undecoded, decode_manifest
from dbt_graft.injector.undo import Change, changes, restore
from dbt_graft.lineage.errors import GraftError, write_error
from dbt_graft.lineage.frozen import frozen
from dbt_graft.replaced_file import replaced_file

Document = dict[str, Any]

_REPORT, _UNDO = "graft_report.json", "graft_undo.json"
INDEX = "index"
# dbt 1.5 to 2; added nodes have only fields that all of them know.
_VERSIONS = ("v9", "v10", "v11", "v12")
# Other artifacts of dbt, which lie beside the manifest.
_OTHERS = ("catalog", "run-results", "sources")
# Nodes that are serialized at once: some 1 MB.
_ENTRIES = 250


@frozen
class Artifacts:
    """Artifacts of a dbt project.

    Attributes:
        manifest: The parsed manifest.json.
        catalog: The parsed catalog.json; an empty one if there is no file.
        has_catalog: Whether there is a catalog.json.
        has_types: Whether types are known: by a catalog.json, or by the index.
        freshness: Source id -> its result in sources.json; empty if there is no file.
        adapter: The type of dbt's adapter: `spark`, `sqlserver`…
        dbt_version: The version of dbt that wrote the manifest.
        notices: Messages about missing or unusable input.
        repairs: File name -> the changes that restore malformed values, see `injector.undo`.
        index: The index of dbt 2; None where dbt wrote none.
    """

    manifest: Document
    catalog: Document
    adapter: str
    dbt_version: str
    notices: tuple[str, ...] = ()
    freshness: Mapping[str, Document] = field(default_factory=dict)
    has_catalog: bool = True
    repairs: Mapping[str, list[Change]] = field(default_factory=dict)
    index: DbtIndex | None = None

    @property
    def has_types(self) -> bool:
        return self.has_catalog or bool(self.catalog["nodes"] or self.catalog["sources"])


def find_manifest(target: Path) -> Path:
    """The manifest.json of a dbt target folder.

    Raises:
        GraftError: There is none.
    """
    path = target / "manifest.json"
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise GraftError(
            "there is no manifest.json",
            place=str(target),
            remedy="run `dbt docs generate` (or `dbt parse`) in the dbt project first",
        ) from error
    return path


def check_manifest(target: Path) -> None:
    """Whether dbt's manifest can be read, for who works for long before it is needed.

    Raises:
        GraftError: There is none, it is damaged, or of a version that is not read.
    """
    path = find_manifest(target)
    metadata = _load(path).get("metadata")
    if isinstance(metadata, dict):
        _check_version(metadata, path)


def read(target: Path) -> Artifacts:
    """Read manifest.json, catalog.json and sources.json of a dbt target folder.

    Raises:
        GraftError: There is no manifest, a file is not JSON or truncated, or the version of the
            manifest is not one of v9 to v12.
    """
    path = find_manifest(target)
    original, manifest, malformed = _read(path, MANIFEST)
    metadata = manifest.get("metadata") or {}
    _check_version(metadata, path)
    if not isinstance(manifest.get("nodes"), dict) or not isinstance(manifest.get("sources"), dict):
        raise GraftError(
            "the manifest has no `nodes` or no `sources`",
            place=str(path),
            remedy="run `dbt docs generate` again",
        )
    index = read_index(target)
    catalog, repairs, notices = _catalog(
        target / "catalog.json", metadata.get("generated_at"), index
    )
    freshness, unread = _freshness(target / "sources.json", index)
    if index:
        notices += tuple(index_notices(index, manifest))
    return Artifacts(
        manifest=manifest,
        catalog=catalog,
        adapter=str(metadata.get("adapter_type") or ""),
        dbt_version=str(metadata.get("dbt_version") or ""),
        notices=(*malformed, *notices, *unread),
        repairs={"manifest.json": changes(original, manifest), "catalog.json": repairs},
        freshness=freshness,
        has_catalog=(target / "catalog.json").is_file(),
        index=index,
    )


def write(grafted: Grafted, folder: Path) -> None:
    """Write manifest.json, catalog.json, graft_report.json and graft_undo.json into a folder.

    With an index of dbt 2 also `index/`: the files that dbt wrote, grafted.

    No file is there in part, and none is new unless all could be written.

    Raises:
        GraftError: They cannot be written.
    """
    files = index_files(grafted.index, grafted) if grafted.index else {}
    with _replaced_files() as write_parts:
        undo: Document = {"version": 1}
        for name, document in (
            ("catalog.json", grafted.catalog),
            ("manifest.json", grafted.manifest),
        ):
            checksum = write_parts(folder / name, _dump_parts(document))
            undo[name] = {"crc32": checksum, "changes": grafted.undo[name]}
        write_parts(folder / _REPORT, [dump(grafted.report.to_json())])
        write_parts(folder / _UNDO, [dump(undo)])
        for name, content in files.items():
            write_parts(folder / INDEX / name, [content])
    for path in (folder / INDEX).glob("*.parquet"):
        if path.name not in files:
            path.unlink()  # of an earlier index


def undo(folder: Path) -> tuple[Path, ...]:
    """Restore manifest.json and catalog.json of a folder to the values that dbt wrote.

    Returns:
        The restored files; a catalog.json that dbt did not write is removed.

    Raises:
        GraftError: The folder has no graft, or its files were changed since.
    """
    if not (folder / _UNDO).is_file():
        raise GraftError(
            f"there is no {_UNDO}: nothing to undo",
            place=str(folder),
            remedy="pass the folder that `graft inject` wrote: `artifacts` in graft.yml",
        )
    recorded = _load(folder / _UNDO)
    restored: dict[Path, Document | None] = {}
    for name in ("manifest.json", "catalog.json"):
        path = folder / name
        entry = recorded.get(name)
        entry = entry if isinstance(entry, dict) else {}
        if not path.is_file() or crc32(path.read_bytes()) != entry.get("crc32"):
            raise GraftError(
                "the file was changed after the graft; nothing was undone",
                place=str(path),
                remedy="run `graft inject` again, or `dbt docs generate` for dbt's own artifacts",
            )
        document = _load(path)
        if entry["changes"] is not None:
            restore(document, entry["changes"])
        restored[path] = document if entry["changes"] is not None else None
    with _replaced_files() as write_parts:
        for path, original in restored.items():
            if original is not None:
                write_parts(path, _dump_parts(original))
    for path, original in restored.items():
        if original is None:
            path.unlink()
    for name in (_REPORT, _UNDO):
        (folder / name).unlink(missing_ok=True)
    shutil.rmtree(folder / INDEX, ignore_errors=True)  # dbt's own is in its target folder
    return tuple(path for path, original in restored.items() if original is not None)


@contextmanager
def _replaced_files() -> Iterator[Callable[[Path, Iterable[bytes | memoryview]], int]]:
    """A function that writes a file and returns its checksum; none is new unless all are written.

    Raises:
        GraftError: One cannot be written.
    """
    path = Path()

    def write_parts(target: Path, parts: Iterable[bytes | memoryview]) -> int:
        nonlocal path
        path, checksum = target, 0
        with files.enter_context(replaced_file(target)).open("wb") as file:
            for part in parts:
                checksum = crc32(part, checksum)
                file.write(part)
        return checksum

    try:
        with ExitStack() as files:
            yield write_parts
    except OSError as error:
        remedy = "make it writable, or name another folder as `artifacts` in graft.yml"
        raise write_error(error, error.filename2 or path, remedy) from error


def dump(document: Any) -> bytes:
    """Serialize a document or a part of it to JSON in UTF-8, keys in their order."""
    try:
        return orjson.dumps(document, default=_written_by_dbt)
    except TypeError:
        # A lone surrogate or a number over 64 bits, neither of which orjson writes.
        return json.dumps(document, separators=(",", ":"), default=dict).encode()


def _dump_parts(document: Document) -> Iterator[bytes | memoryview]:
    """The bytes of `dump`, which at once would take as much memory as the document."""
    before = b"{"
    for key, value in document.items():
        yield before + dump(key) + b":"
        yield from _dump_entries(value) if isinstance(value, dict) and value else [dump(value)]
        before = b","
    yield b"}" if document else b"{}"


def _dump_entries(values: Document) -> Iterator[bytes | memoryview]:
    entries, before = iter(values.items()), b"{"
    while part := dict(islice(entries, _ENTRIES)):
        yield before
        yield memoryview(dump(part))[1:-1]
        before = b","
    yield b"}"


def _written_by_dbt(node: Undecoded) -> orjson.Fragment:
    return orjson.Fragment(node.content)


def _catalog(
    path: Path, generated_at: Any, index: DbtIndex | None
) -> tuple[Document, list[Change], tuple[str, ...]]:
    notices: list[str] = []
    if path.is_file():
        original, catalog, malformed = _read(path, CATALOG)
        notices += malformed
    elif index:
        original = catalog = catalog_of(index)
        if has_first_columns_only(index):
            notices.append(
                f"{index.folder}: dbt wrote only the first column of each relation with its type; "
                "`dbt compile --write-catalog` writes all of them into catalog.json"
            )
    else:
        notices.append(
            f"{path}: there is no catalog.json: column types and sizes are missing; "
            "`dbt docs generate` writes it"
        )
        original = catalog = {
            "metadata": {
                "dbt_schema_version": "https://schemas.getdbt.com/dbt/catalog/v1.json",
                **({"generated_at": generated_at} if generated_at else {}),
            },
            "nodes": {},
            "sources": {},
            "errors": None,
        }
    # The docs page stays blank without these two.
    for part in ("nodes", "sources"):
        if not isinstance(catalog.get(part), dict):
            notices.append(f"{path}: `{part}` is missing")
            catalog = {**catalog, part: {}}
    return catalog, changes(original, catalog), tuple(notices)


def _freshness(path: Path, index: DbtIndex | None) -> tuple[dict[str, Document], tuple[str, ...]]:
    """Results of `dbt source freshness` by source; an unreadable file is only a notice."""
    if not path.is_file():
        return (freshness_of(index) if index else {}), ()
    try:
        _, document, notices = _read(path, SOURCES)
    except GraftError as error:
        return {}, (f"{error.place}: {error.problem}; freshness is not shown",)
    results = document.get("results") or ()
    return {str(result.get("unique_id")): result for result in results}, notices


def _check_version(metadata: Any, path: Path) -> None:
    url = metadata.get("dbt_schema_version") if isinstance(metadata, dict) else None
    _, kind, name = f"//{str(url or '').removesuffix('.json')}".rsplit("/", 2)
    if kind in _OTHERS:
        problem = f"the file is not a manifest: its metadata say {kind}"
        raise GraftError(problem, place=str(path), remedy="run `dbt docs generate` again")
    if name not in _VERSIONS:
        version_text = f"has version {name}" if name else "has no version in its metadata"
        raise GraftError(
            f"the manifest {version_text}; dbt-graft reads {_VERSIONS[0]} to {_VERSIONS[-1]}",
            place=str(path),
            remedy="run `dbt docs generate` with dbt 1.5 to 2",
        )


def _read(path: Path, expected: JsonType) -> tuple[Document, Document, tuple[str, ...]]:
    """An artifact, itself without its malformed values, and a notice for each of these."""
    content = path.read_bytes()
    if expected is MANIFEST and (manifest := decode_manifest(content)) is not None:
        return manifest, manifest, ()
    original = _parse(content, path)
    if is_well_formed(content, expected):
        return original, original, ()
    return original, *without_malformed(original, expected, path)


def _load(path: Path) -> Document:
    return _parse(path.read_bytes(), path)


def _parse(content: bytes, path: Path) -> Document:
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        document = _load_leniently(content, path, error)
    if not isinstance(document, dict):
        raise GraftError(
            "the file is not a JSON object",
            place=str(path),
            remedy="run `dbt docs generate` again",
        )
    return document


def _load_leniently(content: bytes, path: Path, error: orjson.JSONDecodeError) -> Any:
    """Parse JSON that orjson refuses: lone surrogates, NaN, a byte order mark."""
    try:
        return json.loads(content, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        ended = error.pos >= len(content.decode("utf-8", "replace").rstrip())
        raise GraftError(
            "the file is truncated" if ended else f"the file is not JSON: {error.msg}",
            place=f"{path}, line {error.lineno}, byte {_byte(content, error.pos)}",
            remedy="run `dbt docs generate` again",
        ) from error


def _byte(content: bytes, position: int) -> int:
    """The offset in bytes of a position in characters."""
    return len(content.decode("utf-8", "replace")[:position].encode())
