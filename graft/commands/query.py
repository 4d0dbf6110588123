"""The command `graft query`: SQL over the lineage."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dbt_graft.collectors.store.without_pandas import leave_pandas_out
from dbt_graft.exporters.data.files import views_document
from dbt_graft.exporters.data.functions import FUNCTIONS
from dbt_graft.exporters.data.row_forms import SHOWN, write_rows
from dbt_graft.exporters.data.sql import answer
from dbt_graft.exporters.data.views import VIEWS
from dbt_graft.graft.commands.command import config_option, load_config
from dbt_graft.graft.commands.json_option import print_json
from dbt_graft.graft.commands.values import as_of_option
from dbt_graft.graft.project.output_file import output_file
from dbt_graft.graft.project.view import Moment
from dbt_graft.graft.questions.query import view_data
from dbt_graft.lineage.errors import GraftError

if TYPE_CHECKING:
    import pyarrow as pa


@click.command(
    epilog="\b\nExamples:\n"
    '  graft query "select dataset from datasets where len(writers) > 1"\n'
    "  graft query \"from downstream_of('raw.orders')\"\n"
    "  graft query --file late.sql --format csv > late.csv\n"
    "  graft query --views"
)
@click.argument("query", metavar="[SQL]", required=False)
@config_option
@click.option(
    "-f",
    "--file",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="Read the query from FILE; - is standard input.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "json", "ndjson", "parquet"]),
    default="table",
    show_default=True,
    help=f"Output format; a table shows the first {SHOWN} rows.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the answer to this file, which is never there in part.  [default: standard output]",
)
@click.option("--views", "list_views", is_flag=True, help="List the views and their columns.")
@as_of_option
def query(
    query: str | None,
    config_path: Path | None,
    file: Path | None,
    form: str,
    output: Path | None,
    *,
    as_json: bool,
    list_views: bool,
    past: Moment | None,
) -> None:
    """Query the lineage with SQL.

    --views lists the views and their columns; docs/query.md has examples. The SQL is
    DuckDB's. Spark is not started, and the store is only read.
    """
    if list_views:
        print_views(as_json=as_json or form == "json")
        return
    if (query is None) == (file is None):
        raise click.UsageError("write a query, or name its file with --file")
    text = query if query is not None else _read(file or Path())
    form = "json" if as_json else form
    if (form == "parquet") > (output is not None):
        raise click.UsageError("--format parquet needs --output")
    leave_pandas_out()
    with answer(view_data(load_config(config_path), past), text) as rows:
        if output:
            write_file(rows, form, output)
        else:
            print_rows(rows, form)


def _read(file: Path) -> str:
    try:
        with click.open_file(str(file), encoding="utf-8") as stream:
            text: str = stream.read()
    except (OSError, UnicodeDecodeError) as error:
        problem = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise GraftError(f"cannot be read: {problem}", place=str(file)) from error
    return text


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
