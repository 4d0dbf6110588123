"""The command `graft`; each command below it is imported when it is used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from dbt_graft import __version__
from dbt_graft.graft.command import CommandGroup

_EXIT_CODES = """
Exit codes: 0 success, 1 error, 2 invalid command line or graft.yml,
3 success, but some log input was rejected (only with --strict),
4 inject --check found a forbidden change, 130 interrupted.
"""

# Command -> the module that has it, and its line in `graft --help`.
COMMANDS = {
    "build": ("steps", "Run collect, inject and site."),
    "collect": ("steps", "Read new logs into the lineage store."),
    "columns": (
        "columns",
        "Show where a column's values come from and go, to the dashboards at the end.",
    ),
    "declared": ("declared", "Check files of declared lineage, or print their JSON schema."),
    "doctor": ("doctor.command", "Check a project, and print what is wrong and how to fix it."),
    "explain": ("explain", "Explain why a table or task has, or lacks, edges."),
    "init": ("steps", "Write a commented graft.yml beside the dbt project in FOLDER."),
    "inject": ("steps", "Add the lineage in the store to copies of dbt's artifacts."),
    "java": ("steps", "Print the JAVA_HOME on which graft starts Spark."),
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
    "xel": ("xel", "Print the events in FILES, or folders of .xel files."),
}


class LazyGroup(CommandGroup):
    """A group that imports a command when it is used: `graft --help` needs none of them."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.commands = {name: click.Command(name) for name in COMMANDS}  # until they are used
        self._imported: set[str] = set()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command by its name; None if there is none."""
        if cmd_name in COMMANDS and cmd_name not in self._imported:
            self._imported.add(cmd_name)
            module, _ = COMMANDS[cmd_name]
            self.add_command(getattr(import_module(f"dbt_graft.graft.{module}"), cmd_name))
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands into the help."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in sorted(COMMANDS.items())])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=f"\b\n{_EXIT_CODES}\n\n\b\nExample: graft init && dbt docs generate && graft build",
)
@click.version_option(__version__, prog_name="graft")
def main() -> None:
    """Read the lineage of your Python tasks from engine logs and add it to your dbt docs.

    The steps: collect (logs -> lineage store), inject (lineage -> dbt's artifacts) and
    site (artifacts -> static site). `graft build` runs all of them.
    """
