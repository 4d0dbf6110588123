"""Many cases in one item of pytest, which names all those that fail.

An item costs a process of `pytest -n` about as much as a case does, and each process collects all
of them: tables of more than five cases are loops. A few cases, or such as need fixtures of their
own, are `pytest.mark.parametrize`'s.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import pytest

Test = Callable[..., None]
Row = tuple[str | None, dict[str, object]]
NamedCase = type(pytest.param())
# So many failures are shown with where they happened; the others are named.
SHOWN = 10


def for_each(
    names: str, cases: Iterable[object], *, quick: int | None = None, ids: Iterable[object] = ()
) -> Callable[[Test], Test]:
    """Run a test with each case, as `parametrize` would, in one item or two.

    Each case has its own `tmp_path` and `monkeypatch`; other fixtures are those of the item.

    Args:
        names: The parameters, with commas between them.
        cases: Their values; tuples where there are several names. `pytest.param` names a case.
        quick: So many cases are an item of `make test`, the others one of `make test-all` alone.
        ids: What the cases are called where their values do not tell.
    """
    keys = names.replace(",", " ").split()
    rows = [_row(keys, case) for case in cases]
    assert rows, f"no cases: {names}"
    if names_of_cases := [str(name) for name in ids]:
        rows = [(name, row) for name, (_, row) in zip(names_of_cases, rows, strict=True)]
    items = [pytest.param(rows[:quick], id="first" if quick else "all")]
    if rows[quick or len(rows) :]:
        items.append(pytest.param(rows[quick:], id="others", marks=pytest.mark.exhaustive))

    def loop(test: Test) -> Test:
        @wraps(test)
        def run(cases_of_item: list[Row], **fixtures: Any) -> None:
            failures: list[tuple[str, BaseException]] = []
            for number, (name, case) in enumerate(cases_of_item):
                try:
                    _run_case(test, number, {**fixtures, **case})
                except (Exception, pytest.fail.Exception) as error:
                    failures.append((_text(name, case), error))
            if failures:
                texts, errors = zip(*failures, strict=True)
                failed = f"{len(failures)} of {len(cases_of_item)} cases fail: {'; '.join(texts)}"
                raise BaseExceptionGroup(failed, errors[:SHOWN])

        parameters = inspect.signature(test).parameters
        asked = ["cases_of_item", *(name for name in parameters if name not in keys)]
        kind = inspect.Parameter.KEYWORD_ONLY
        run.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in asked])  # type: ignore[attr-defined]
        return pytest.mark.parametrize("cases_of_item", items)(run)

    return loop


def _run_case(test: Test, number: int, values: dict[str, Any]) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        if "monkeypatch" in values:
            values["monkeypatch"] = monkeypatch
        if "tmp_path" in values:
            values["tmp_path"] /= str(number)
            values["tmp_path"].mkdir()
        test(**values)


def _row(keys: list[str], case: object) -> Row:
    """The name of a case, if it has one, and its values by parameter."""
    name = None
    if isinstance(case, NamedCase):
        name, case = case.id, case.values if len(keys) > 1 else case.values[0]
    return name, dict(zip(keys, case if len(keys) > 1 else (case,), strict=True))  # type: ignore[call-overload]


def _text(name: str | None, case: dict[str, object]) -> str:
    """A case in a line: its name, or else `seed=17`."""
    return name or ", ".join(f"{key}={repr(value)[:60]}" for key, value in case.items())
