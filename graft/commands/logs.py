"""The group `graft logs`: what engines log, looked at and set up."""

from __future__ import annotations

import click

from dbt_graft.graft.commands.lazy import LazyGroup

LOGS = {
    "Look at": {
        "spark": ("logs_spark", "Print the tasks of an application: what they read and wrote."),
        "xel": ("logs_xel", "Print the events in FILES, or folders of .xel files."),
        "openlineage": ("logs_openlineage", "Compare emitted events with expected ones."),
    },
    "Set up a SQL Server": {
        "sqlserver-session": (
            "logs_sqlserver_session",
            "Print the script of an event session that captures what lineage needs.",
        ),
        "sqlserver-snapshot": (
            "logs_sqlserver_snapshot",
            "Save the schemas of databases: tables, views, columns, synonyms and procedures.",
        ),
    },
}


@click.group(cls=LazyGroup, lazy=LOGS, epilog="\b\nExample: graft logs spark spark-events/ --json")
def logs() -> None:
    """Look at logs of engines, and set up what SQL Server logs."""
