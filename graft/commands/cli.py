"""The command `graft`; each command below it is imported when it is used."""

from __future__ import annotations

import click

from dbt_graft import __version__
from dbt_graft.graft.commands.lazy import LazyGroup

_EXIT_CODES = """
Exit codes: 0 success, 1 error, 2 invalid command line or graft.yml,
3 success, but some log input was rejected (only with --strict),
4 inject --check found a forbidden change, 5 another graft works on this store,
6 status --max-age: lineage is older, 7 the lineage store is damaged and the rest was published,
8 impact, review: --fail-on is reached; drift, privacy, quality --check: something was found,
check: --fail-on is reached; audience check: something hidden is published,
130 interrupted.
"""

# Command -> the module that has it, and its line in `graft --help`.
COMMANDS = {
    "audience": (
        "audience",
        "Search the sites of audiences for what they may not see: check.",
    ),
    "build": ("steps", "Run collect, inject and site."),
    "check": ("check", "Run all gates at once, and print what to do."),
    "collect": ("steps", "Read new logs into the lineage store."),
    "columns": (
        "columns",
        "Show where a column's values come from and go, to the dashboards at the end.",
    ),
    "declared": (
        "declared",
        "Check files of declared lineage, propose them, or print their JSON schema.",
    ),
    "diff": ("diff", "Show what is new, gone and changed in the lineage between two times."),
    "doctor": ("doctor", "Check a project, and print what is wrong and how to fix it."),
    "drift": ("drift", "Compare declared lineage with what runs are seen to do."),
    "explain": ("explain", "Explain why a table or task has, or lacks, edges."),
    "export": ("export", "Write the lineage for other tools."),
    "impact": ("impact", "Show what a change of a table or a column does downstream."),
    "incident": ("incident", "Report a bad run and all that came of it, on one page."),
    "init": ("steps", "Write a commented graft.yml beside the dbt project in FOLDER."),
    "inject": ("steps", "Add the lineage in the store to copies of dbt's artifacts."),
    "java": ("steps", "Print the JAVA_HOME on which graft starts Spark."),
    "links": ("links", "Test links to pages of the site."),
    "openlineage": ("openlineage", "Check OpenLineage events."),
    "privacy": ("privacy", "Show where sensitive values are, and how they came there: report."),
    "quality": ("quality", "Show who reads data whose tests failed, or that is late."),
    "query": ("query", "Query the lineage with SQL."),
    "review": ("review", "Show what a change of the project does, against a base."),
    "schema": ("steps", "Print the JSON schema of graft.yml, for an editor or a CI job."),
    "serve": ("serve", "Show the published site on this machine, until Ctrl-C."),
    "site": (
        "steps",
        "Build the site from the store and dbt's artifacts, without reading logs.",
    ),
    "spark": ("spark", "Look at Spark event logs."),
    "sqlserver": (
        "sqlserver",
        "Set up a SQL Server: its event session and a snapshot of its schemas.",
    ),
    "store": (
        "store",
        "Look after the lineage store: info, check, clean, compact, purge, forget, backup.",
    ),
    "states": ("states", "Show which dates of a dataset are there, complete and clean."),
    "status": ("status", "Show up to when each source is collected, and how far it is behind."),
    "taint": ("taint", "Show what bad data went into, and what must run again."),
    "xel": ("xel", "Print the events in FILES, or folders of .xel files."),
}


@click.group(
    cls=LazyGroup,
    lazy=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=f"\b\n{_EXIT_CODES}\n\n\b\nExample: graft init && dbt docs generate && graft build",
)
@click.version_option(__version__, prog_name="graft")
def main() -> None:
    """Read the lineage of your Python tasks from engine logs and add it to your dbt docs.

    The steps: collect (logs -> lineage store), inject (lineage -> dbt's artifacts) and
    site (artifacts -> static site). `graft build` runs all of them.
    """
