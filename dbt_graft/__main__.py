"""The command `graft`, also as `python -m dbt_graft`."""

import sys

# Commands that only read. pyarrow imports numpy wherever it is installed, which takes as long as
# many an answer; what starts Spark needs it.
_READERS = {"check", "diff", "impact", "incident", "query", "review", "show"}


def main() -> None:
    """Run the command; Ctrl-C ends in one line even before all modules are loaded."""
    try:
        if not _READERS.isdisjoint(sys.argv[1:2]) or sys.argv[1:3] == ["store", "info"]:
            sys.modules["numpy"] = None  # type: ignore[assignment]  # as if it were not installed
        from dbt_graft.graft.commands.cli import main as graft

        graft(prog_name="graft")
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
