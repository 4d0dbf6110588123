"""The command `graft`; each command below it is imported when it is used."""

from __future__ import annotations

import click

from dbt_graft import __version__
from dbt_graft.graft.commands.lazy import LazyGroup

_EXIT_CODES = """
Exit codes: 0 success, 1 error, 2 invalid command line or graft.yml, 3 what --fail-on or --strict
names was found, 5 another graft works on this store, 130 interrupted.
"""
_EXAMPLE = "Example: graft init && dbt docs generate && graft build"
# Messages name pages below it, as `docs/logs.md`: who installed a wheel has no such folder.
DOCS_URL = "https://github.com/dbt-graft/dbt-graft/tree/main/docs"

# Purpose -> command -> the module that has it, and its line in `graft --help`.
COMMANDS = {
    "Set up": {
        "init": ("init", "Write a commented graft.yml beside the dbt project in FOLDER."),
        "doctor": ("doctor", "Check a project, and print what is wrong and how to fix it."),
        "schema": (
            "schema",
            "Print the JSON schema of graft.yml, or of another file, for an editor or a CI job.",
        ),
        "logs": ("logs", "Look at logs of engines, and set up what SQL Server logs."),
    },
    "Build": {
        "build": ("build", "Run collect, inject and site."),
        "collect": ("collect", "Read new logs into the lineage store."),
        "inject": ("inject", "Add the lineage in the store to copies of dbt's artifacts."),
        "site": (
            "site",
            "Build the site from the store and dbt's artifacts, without reading logs.",
        ),
        "serve": ("serve", "Show the published site on this machine, until Ctrl-C."),
    },
    "Ask": {
        "diff": ("diff", "Show what is new, gone and changed in the lineage between two times."),
        "impact": ("impact", "Show what a change of a table or a column does downstream."),
        "incident": (
            "incident",
            "Show what bad data went into and what must run again: open, close, list, show.",
        ),
        "query": ("query", "Query the lineage with SQL."),
        "show": ("show", "Show a table, a column, a task, a dashboard or a run."),
    },
    "Gate": {
        "check": ("check", "Run all checks at once, and print what to do."),
        "review": ("review", "Show what a change of the project does, against a base."),
    },
    "Export": {
        "export": ("export", "Write the lineage for other tools."),
    },
    "Look after": {
        "store": (
            "store",
            "Look after the lineage store: info, clean, compact, purge, forget, backup.",
        ),
    },
}


@click.group(
    cls=LazyGroup,
    lazy=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=f"\b\n{_EXIT_CODES}\n\n\b\n{_EXAMPLE}\ndocs/: {DOCS_URL}",
)
@click.version_option(__version__, prog_name="graft")
def main() -> None:
    """Read the lineage of your Python tasks from engine logs and add it to your dbt docs.

    The steps: collect (logs -> lineage store), inject (lineage -> dbt's artifacts) and
    site (artifacts -> static site). `graft build` runs all of them.
    """
