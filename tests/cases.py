"""Many cases in one item of pytest, which names all those that fail.

For seeds and products, of which only those are of interest that fail. A case that deserves a line
of its own in a report is one of `pytest.mark.parametrize`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import pytest

Test = Callable[..., None]
# So many failures are shown with where they happened; the others are named.
SHOWN = 10


def for_each(
    names: str, cases: Iterable[object], *, quick: int | None = None
) -> Callable[[Test], Test]:
    """Run a test with each case, as `parametrize` would, in one item or two.

    Each case has its own `tmp_path` and `monkeypatch`; other fixtures are those of the item.

    Args:
        names: The parameters, with commas between them.
        cases: Their values; tuples where there are several names.
        quick: So many cases are an item of `make test`, the others one of `make test-all` alone.
    """
    keys = names.replace(",", " ").split()
    rows = [dict(zip(keys, case if len(keys) > 1 else (case,), strict=True)) for case in cases]  # type: ignore[arg-type]
    assert rows, f"no cases: {names}"
    items = [pytest.param(rows[:quick], id="first" if quick else "all")]
    if rows[:quick] != rows:
        items.append(pytest.param(rows[quick:], id="others", marks=pytest.mark.exhaustive))

    def loop(test: Test) -> Test:
        @wraps(test)
        def run(cases_of_item: list[dict[str, object]], **fixtures: Any) -> None:
            failures: list[tuple[str, BaseException]] = []
            for number, case in enumerate(cases_of_item):
                try:
                    _run_case(test, number, {**fixtures, **case})
                except (Exception, pytest.fail.Exception) as error:
                    failures.append((_text(case), error))
            if failures:
                texts, errors = zip(*failures, strict=True)
                failed = f"{len(failures)} of {len(cases_of_item)} cases fail: {'; '.join(texts)}"
                raise BaseExceptionGroup(failed, errors[:SHOWN])

        given = inspect.signature(test).parameters
        asked = ["cases_of_item", *(name for name in given if name not in keys)]
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


def _text(case: dict[str, object]) -> str:
    """A case in a line: `seed=17`."""
    return ", ".join(f"{key}={repr(value)[:60]}" for key, value in case.items())
