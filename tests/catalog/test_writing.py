"""Work beside other work gives the same as work in its place."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest

from dbt_graft.catalog.writing import Beside
from dbt_graft.lineage.errors import GraftError

FORKED = pytest.mark.parametrize("forked", [False, True])


@FORKED
def test_the_result_is_what_the_work_returns(forked: bool) -> None:
    with closing(Beside(lambda: {"a": [1, 2]}, forked)) as work:
        assert work.result() == {"a": [1, 2]}
        assert work.busy() == 0


def test_forked_work_is_done_in_another_process() -> None:
    with closing(Beside(os.getpid, forked=True)) as work:
        assert work.result() != os.getpid()


@FORKED
def test_what_the_work_raises_is_raised_where_its_result_is_wanted(forked: bool) -> None:
    def fails() -> None:
        raise GraftError("no room", place="site/")

    with closing(Beside(fails, forked)) as work, pytest.raises(GraftError) as raised:
        work.result()
    assert (str(raised.value), raised.value.place) == (
        str(GraftError("no room", place="site/")),
        "site/",
    )


def test_a_process_that_ends_early_is_an_error_not_a_wait() -> None:
    with (
        closing(Beside(lambda: os._exit(3), forked=True)) as work,
        pytest.raises(GraftError, match="ended early, with 3"),
    ):
        work.result()


def test_after_an_error_elsewhere_nothing_is_written_any_more(tmp_path: Path) -> None:
    read, write = os.pipe()

    def writes() -> None:
        os.read(read, 1)
        (tmp_path / "late").touch()

    def interrupted() -> None:
        with closing(Beside(writes, forked=True)) as work:
            assert work.busy() == 1
            os.write(write, b"x")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        interrupted()
    assert (tmp_path / "late").exists()


def test_work_that_is_not_forked_takes_no_processor_of_its_own() -> None:
    assert Beside(int, forked=False).busy() == 0
