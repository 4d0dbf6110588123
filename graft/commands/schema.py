"""The command `graft schema`: JSON schemas for editors and CI jobs."""

from __future__ import annotations

import click
import orjson

from dbt_graft.collectors.declared.document import schema as declared_schema
from dbt_graft.graft.project.config import json_schema


@click.command(
    epilog="\b\nExamples:\n"
    "  graft schema > graft.schema.json\n"
    "  graft schema declared > declared-lineage.schema.json"
)
@click.argument("name", type=click.Choice(["graft", "declared"]), default="graft")
def schema(name: str) -> None:
    """Print the JSON schema of graft.yml, or of another file, for an editor or a CI job.

    `declared` is that of files of declared lineage. Those of answers are in docs/schemas/.
    """
    document = json_schema() if name == "graft" else declared_schema()
    click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2))
