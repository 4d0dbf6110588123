"""Groups of commands that are imported when they are used."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from dbt_graft.graft.commands.command import CommandGroup

Commands = Mapping[str, Mapping[str, tuple[str, str]]]


class LazyGroup(CommandGroup):
    """A group that imports a command when it is used: its `--help` needs none of them.

    Attributes:
        lazy: Purpose -> command -> the module of `dbt_graft.graft.commands` that has it, under the
            command's name with `_` for `-`, and its line in the group's `--help`.
    """

    def __init__(self, *args: Any, lazy: Commands, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.lazy = {name: place for commands in lazy.values() for name, place in commands.items()}
        self.purposes = lazy
        self.commands = {name: click.Command(name) for name in self.lazy}  # until they are used
        self._imported: set[str] = set()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command by its name; None if there is none."""
        if cmd_name in self.lazy and cmd_name not in self._imported:
            self._imported.add(cmd_name)
            module, _ = self.lazy[cmd_name]
            imported = import_module(f"dbt_graft.graft.commands.{module}")
            self.add_command(getattr(imported, cmd_name.replace("-", "_")))
        return super().get_command(ctx, cmd_name)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands and options that begin with a text."""
        commands = [
            CompletionItem(name, help=line)
            for lines in self.purposes.values()
            for name, (_, line) in lines.items()
            if name.startswith(incomplete)
        ]
        return commands or click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands into the help."""
        widest = max(map(len, self.lazy))
        for purpose, commands in self.purposes.items():
            with formatter.section(purpose):
                lines = [(name.ljust(widest), line) for name, (_, line) in commands.items()]
                formatter.write_dl(lines)
