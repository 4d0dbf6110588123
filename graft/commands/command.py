"""The class of all our commands: `--debug`, and how errors and Ctrl-C end a command."""

from __future__ import annotations

import errno
import json
import logging
import os
import re
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dbt_graft import __version__
from dbt_graft.analysis.render.github import annotation, findings
from dbt_graft.analysis.render.terminal import one_line
from dbt_graft.collectors import debug
from dbt_graft.lineage.errors import (
    FREE_SPACE,
    FULL_DISK,
    GraftError,
    exception_summary,
    exception_traceback,
)

if TYPE_CHECKING:
    from dbt_graft.graft.project.config import Config

INTERRUPTED = 130  # as shells report a process that SIGINT ended: 128 + 2
_ARTIFACTS = f"{__name__}.artifacts"
_FORM = f"{__name__}.form"
_QUOTED = re.compile(r"'([^']+)'")
_REMEDIES = {
    errno.EACCES: "check who may read and write it",
    errno.EPERM: "check who may read and write it",
    errno.EROFS: "name a place that can be written",
    **dict.fromkeys(FULL_DISK, FREE_SPACE),
    errno.EISDIR: "a file must lie there; move the folder away",
    errno.ENOTDIR: "a folder must lie there; move the file away",
    errno.ENAMETOOLONG: "use a shorter path",
    errno.ELOOP: "a symbolic link leads back to itself; correct it",
}
_log = logging.getLogger(__name__)


class CommandGroup(click.Group):
    """A group whose commands all have `--debug`, and whose errors end in one line.

    A `GraftError` is printed, and its exit code is that of the process. Any other error is ours:
    one line names a file with the traceback.
    """

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.params.append(_debug_option())

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command, and give it the option."""
        super().add_command(cmd, name)
        if not isinstance(cmd, CommandGroup):
            cmd.params.append(_debug_option())

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments, and remember the form of the output: errors have it too."""
        if not ctx.parent:
            ctx.meta[_FORM] = _form(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; the outermost group reports its errors."""
        if ctx.parent:
            return super().invoke(ctx)
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            _print_error(ctx, GraftError(error.format_message()), error.exit_code)
            raise
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # nothing is left but to end
            click.echo("interrupted", err=True)
            sys.exit(INTERRUPTED)
        except GraftError as error:
            _log.debug("the command failed", exc_info=True)
            click.echo(f"error: {error}", err=True)
            _print_error(ctx, error, error.exit_code)
            sys.exit(error.exit_code)
        except Exception as error:
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                raise  # a reader that has enough, as `| head` is: click ends without a word
            _log.debug("the command failed", exc_info=True)
            if problem := _system_problem(error):
                click.echo(f"error: {problem}", err=True)
                _drop_unwritable_output()
                _print_error(ctx, problem)
                sys.exit(1)
            text = _unexpected(error, _write_traceback(error, ctx))
            click.echo(text, err=True)
            _print_error(ctx, GraftError(text.removeprefix("error: ")))
            sys.exit(1)


config_option = click.option(
    "-c",
    "--config",
    "config_path",
    type=click.Path(path_type=Path, readable=False),
    help="Path of graft.yml.  [default: here or in a folder above]",
)


def load_config(path: Path | None) -> Config:
    """Read a `graft.yml`, and remember its artifacts folder for the file of an unexpected error.

    Args:
        path: The file; by default the nearest one.

    Raises:
        ConfigError: It is missing or not valid.
    """
    from dbt_graft.graft.project.config import find, load  # the help needs none of it

    path = path or find(Path())
    config = load(path)
    context = click.get_current_context()
    context.meta[_ARTIFACTS] = Path(config.path(config.artifacts))
    _log.debug("%s: %d sources, store %s", path, len(config.collect), config.store)
    return config


def _debug_option() -> click.Option:
    return click.Option(
        ["--debug"],
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=_start_debugging,
        help="Log what is done, with tracebacks, on standard error and in Spark's log "
        f"(or set {debug.VARIABLE}=1).",
    )


def _start_debugging(_: click.Context, __: click.Parameter, value: bool) -> None:
    if value:
        os.environ[debug.VARIABLE] = "1"
        debug.start_logging()


def _form(args: list[str]) -> str:
    pairs = {*zip(["", *args], args, strict=False)}
    for form in ("github", "json"):
        if f"--format={form}" in args or ("--format", form) in pairs:
            return form
    return "json" if "--json" in args else ""


def _print_error(context: click.Context, error: GraftError, exit_code: int = 1) -> None:
    """Print an error once more on standard output if it is read by a program."""
    form = context.meta.get(_FORM)
    if form == "github":
        for finding in findings(error):
            click.echo(annotation(finding))
    elif form == "json":
        fields = {"problem": error.problem, "place": error.place, "remedy": error.remedy}
        click.echo(json.dumps({"error": fields, "exit_code": exit_code}, ensure_ascii=False))


def _system_problem(error: Exception) -> GraftError | None:
    """An error of the system that its user can mend, such as a full disk; None if it is none."""
    remedy = _REMEDIES.get(error.errno or 0) if isinstance(error, OSError) else None
    if not isinstance(error, OSError) or not remedy:
        return None
    # Arrow names the file in its message alone: Cannot create directory '/store/batches/…'.
    quoted = _QUOTED.search(str(error))
    place = error.filename or (quoted[1] if quoted else "")
    place = place if isinstance(place, str | Path) else ""
    return GraftError(os.strerror(error.errno or 0), place=one_line(str(place)), remedy=remedy)


def _drop_unwritable_output() -> None:
    """Drop what cannot be written to standard output: Python would try again at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _unexpected(error: Exception, file: Path | None) -> str:
    system = f" ({error.strerror})" if isinstance(error, OSError) and error.strerror else ""
    advice = f"please report it with the file {file}" if file else "please report it"
    return one_line(f"error: unexpected {exception_summary(error)}{system}: {advice}")


def _write_traceback(error: Exception, context: click.Context) -> Path | None:
    """Write what a report needs; None where no folder takes the file."""
    import platform
    import tempfile

    from dbt_graft.graft.project.output_folder import OutputFolder

    text = (
        f"{context.command_path} {context.invoked_subcommand or ''}\n"
        f"dbt-graft {__version__}, Python {platform.python_version()}, {platform.platform()}\n\n"
        f"{exception_traceback(error)}"
    )
    folder: Path | None = context.meta.get(_ARTIFACTS)
    if folder:
        try:
            OutputFolder("artifacts", folder).claim()
            path = folder / "error.txt"
            path.write_text(text, encoding="utf-8")
        except (OSError, GraftError):
            pass
        else:
            return path
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", prefix="graft-error-", suffix=".txt", delete=False
        ) as file:
            file.write(text)
    except OSError:
        return None
    return Path(file.name)
