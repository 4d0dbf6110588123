"""The last door of the lineage store: no row with a secret passes it, whatever it was read from.

Names of datasets come clean from `DatasetId`; here all other texts are looked at too, and rows
that were written before names were cleaned.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import fs

from dbt_graft.collectors.store.batch_records import with_utc_times
from dbt_graft.lineage.redaction import KEY_BEGINNINGS, redact_code, redact_name, redact_text

# Keys with which a log is found again, and what a collector serialised of its own.
_AS_THEY_ARE = frozenset({"origin", "position", "settings", "shape_id", "temporaries"})
_OF_DATASETS = frozenset({"namespace", "name", "to_namespace", "to_name"})
_OF_DATASETS |= {"from_namespace", "from_name"}
_PREFIX = "clean-"
# What a text with a secret has at least: most have none of it, and Arrow looks for it.
_SIGNS = "|".join(["[=@%\"']", "(?i:bearer |basic )", *map(re.escape, KEY_BEGINNINGS)])
_RANDOM_WORD = ("[A-Za-z0-9+_=-]{32,}", "[A-Z]", "[a-z]", "[0-9]")


def redact_rows(rows: pa.Table) -> pa.Table:
    """Rows of a table without secrets; the same object if they have none."""
    for index, field in enumerate(rows.schema):
        if field.name in _AS_THEY_ARE or not any(secret_texts(field.name, rows[field.name])):
            continue
        values = [_redact(field.name, value) for value in rows[field.name].to_pylist()]
        rows = rows.set_column(index, field, pa.array(values, field.type))
    return rows


def secret_texts(column: str, values: Any) -> Iterator[str]:
    """The texts with secrets in a column, each once; those in its arrays and structs too."""
    if pa.types.is_string(values.type) and column not in _AS_THEY_ARE:
        redact = _redactor(column)
        yield from (text for text in _suspects(values) if redact(text) != text)
    elif pa.types.is_list(values.type):
        yield from secret_texts(column, pc.list_flatten(values))
    elif pa.types.is_struct(values.type):
        for index in range(values.type.num_fields):
            name = _field_name(column, values.type.field(index).name)
            yield from secret_texts(name, pc.struct_field(values, [index]))


def _suspects(values: Any) -> list[str]:
    """The texts that may hold a secret, each once."""
    texts = pc.drop_null(pc.unique(values))
    is_random = reduce(pc.and_, (pc.match_substring_regex(texts, part) for part in _RANDOM_WORD))
    may_hold = pc.or_(is_random, pc.match_substring_regex(texts, _SIGNS))
    suspects: list[str] = texts.filter(may_hold).to_pylist()
    return suspects


def redact_folder(files: fs.FileSystem, folder: str) -> None:
    """Take the secrets out of the files that Spark wrote into a folder, before they count."""
    for info in files.get_file_info(fs.FileSelector(folder, allow_not_found=True)):
        if info.base_name.endswith(".parquet") and not info.base_name.startswith((".", "_")):
            _redact_file(files, folder, info.base_name)


def _redact_file(files: fs.FileSystem, folder: str, name: str) -> None:
    """Write a file again if it has secrets: under another name, as Spark keeps a checksum of it."""
    with files.open_input_file(f"{folder}/{name}") as source:
        parquet = pq.ParquetFile(source)
        if not any(redact_rows(chunk) is not chunk for chunk in _chunks(parquet)):
            return
        with pq.ParquetWriter(
            f"{folder}/{_PREFIX}{name}", with_utc_times(parquet.schema_arrow), filesystem=files
        ) as writer:
            for chunk in _chunks(parquet):
                writer.write_table(redact_rows(chunk))
    files.delete_file(f"{folder}/{name}")


def _chunks(parquet: pq.ParquetFile) -> Iterator[pa.Table]:
    schema = with_utc_times(parquet.schema_arrow)
    for chunk in parquet.iter_batches():
        yield pa.Table.from_batches([chunk]).cast(schema)


def _redact(column: str, value: Any) -> Any:
    if isinstance(value, str):
        return _redactor(column)(value)
    if isinstance(value, list):
        return [_redact(column, entry) for entry in value]
    if isinstance(value, dict):
        return {key: _redact(_field_name(column, key), entry) for key, entry in value.items()}
    return value


def _field_name(column: str, field: str) -> str:
    """The name of a field within a column; a column's name is none of a dataset."""
    return f"{column}.{field}" if column == "columns" else field


def _redactor(column: str) -> Callable[[str], str]:
    if column in _OF_DATASETS:
        return redact_name
    return redact_code if column == "text" else redact_text
