"""The command `graft`, also as `python -m dbt_graft`."""

import sys


def main() -> None:
    """Run the command; Ctrl-C ends in one line even before all modules are loaded."""
    try:
        from dbt_graft.graft.commands.cli import main as graft

        graft(prog_name="graft")
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
