"""The command, run in this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from dbt_graft.graft.commands.cli import main


class Ended(NamedTuple):
    """The way in which a command ended, and what it printed."""

    code: int
    out: str
    err: str


Graft = Callable[..., Ended]


@pytest.fixture
def graft(capfd: pytest.CaptureFixture[str]) -> Graft:
    """Runs the command: `graft("collect", "--quiet")`."""

    def run(*arguments: str) -> Ended:
        with pytest.raises(SystemExit) as ended:
            main.main(arguments, prog_name="graft")
        assert isinstance(ended.value.code, int)
        return Ended(ended.value.code, *capfd.readouterr())

    return run
