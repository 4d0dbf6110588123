"""The output of `graft query`: rows to the terminal or into a file, and the list of views."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dbt_graft.exporters.data.files import views_document
from dbt_graft.exporters.data.functions import FUNCTIONS
from dbt_graft.exporters.data.row_forms import write_rows
from dbt_graft.exporters.data.views import VIEWS
from dbt_graft.graft.commands.json_option import print_json
from dbt_graft.graft.project.output_file import output_file

if TYPE_CHECKING:
    import pyarrow as pa


def print_rows(rows: pa.RecordBatchReader, form: str) -> None:
    """Print rows as `table`, `csv`, `json` or `ndjson`."""
    write_rows(rows, form, sys.stdout)


def write_file(rows: pa.RecordBatchReader, form: str, out: Path) -> None:
    """Write rows into a file, which is never there in part; also as `parquet`.

    Raises:
        GraftError: It cannot be written.
    """
    with output_file(out) as beside:
        if form == "parquet":
            import pyarrow.parquet as pq  # few write one

            with pq.ParquetWriter(beside, rows.schema, compression="zstd") as file:
                for batch in rows:
                    file.write_batch(batch)
        else:
            with beside.open("w", encoding="utf-8", newline="") as stream:
                write_rows(rows, form, stream)


def print_views(*, as_json: bool) -> None:
    """Print the views and their columns, and the functions."""
    if as_json:
        print_json(views_document())
        return
    for view in VIEWS:
        click.echo(f"{view.name}: {view.text}")
        for column in view.columns:
            text = column.text.replace("`", "")
            click.echo(f"  {column.name:<15} {column.type.value:<25} {text}")
        click.echo()
    for function in FUNCTIONS.values():
        click.echo(f"{function.call}: {function.text}")
