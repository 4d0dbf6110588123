"""The views as Parquet files, with a JSON document that describes them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import orjson

from dbt_graft.exporters.data.view_data import ViewData
from dbt_graft.exporters.data.views import FILE_VIEWS, VIEWS
from dbt_graft.lineage.described import DescribedLineage

# Rows of a group of rows: what a reader takes at a time.
_GROUP = 100_000


def write_views(described: DescribedLineage, folder: Path) -> None:
    """Write the views of the lineage and `views.json`; the same lineage gives the same bytes.

    Raises:
        OSError: A file cannot be written.
    """
    import pyarrow.parquet as pq  # who asks for the names of views writes none

    folder.mkdir(parents=True, exist_ok=True)
    counts = {}
    for view in FILE_VIEWS:
        rows = 0
        with pq.ParquetWriter(
            folder / f"{view.name}.parquet", view.schema(), compression="zstd"
        ) as file:
            for batch in view.batches(ViewData(described)):
                file.write_batch(batch, _GROUP)
                rows += batch.num_rows
        counts[view.name] = rows
    document = orjson.dumps(
        views_document(counts), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    )
    (folder / "views.json").write_bytes(document)


def views_document(counts: Mapping[str, int] | None = None) -> dict[str, object]:
    """The columns of all views, as a document for tools."""
    return {
        "views": [
            {
                "name": view.name,
                "description": view.text,
                **({"file": f"{view.name}.parquet", "rows": counts[view.name]} if counts else {}),
                "columns": [
                    {"name": column.name, "type": column.type.value, "description": column.text}
                    for column in view.columns
                ],
            }
            for view in (FILE_VIEWS if counts else VIEWS)
        ]
    }
