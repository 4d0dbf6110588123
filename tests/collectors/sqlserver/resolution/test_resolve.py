"""A text that kills or hangs the parser is one failed shape; all others count."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from contextlib import closing

from dbt_graft.collectors.sqlserver.resolution.resolve import SentText, TextResolver
from dbt_graft.collectors.statements import parse as statements
from dbt_graft.collectors.statements.earlier import ColumnLookup
from dbt_graft.collectors.statements.shape import ParsedShape
from dbt_graft.collectors.statements.text.dialect import Dialect


def test_a_deadly_text_is_one_failed_shape() -> None:
    def fragile(text: str, dialect: Dialect, columns: ColumnLookup) -> Sequence[ParsedShape]:
        if "deadly" in text:
            os.kill(os.getpid(), signal.SIGSEGV)
        if "endless" in text:
            time.sleep(600)
        return statements.parse(text, dialect, columns)

    names = [f"t{number}" for number in range(40)] + ["deadly", "endless", "deadly_too"]
    texts = [SentText(f"SELECT a FROM {name}", "Shop") for name in names]
    with closing(TextResolver("mssql://sql01:1433", parse=fragile, seconds=1.0)) as resolver:
        resolved = resolver.resolve(texts)
    parsed = {sent.text: found.statements for sent, found in resolved.items()}

    assert {text.split()[-1] for text in parsed} == set(names)
    reasons = {text.split()[-1]: found[0].shape.reason for text, found in parsed.items()}
    assert {name: reason for name, reason in reasons.items() if reason} == {
        "deadly": "crashed the parser (SIGSEGV)",
        "deadly_too": "crashed the parser (SIGSEGV)",
        "endless": "took longer than 1 s",
    }
    for text, (statement,) in parsed.items():
        name = text.split()[-1]
        assert statement.shape.shape_id
        assert statement.shape.outcome == ("failed" if reasons[name] else "parsed")
        read = [] if reasons[name] else [f"Shop.dbo.{name}"]
        assert [access.dataset.name for access in statement.reads] == read
