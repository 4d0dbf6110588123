"""Captured texts, normalised: what is remembered, and what stays distinct."""

from __future__ import annotations

import re

import pytest

from dbt_graft.collectors.sqlserver.runs import normalized_text as module
from dbt_graft.collectors.sqlserver.runs.normalized_text import NormalizedText, TextNormalizer


@pytest.fixture
def normalised(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were normalised and not looked up."""
    texts: list[str] = []
    original = module.normalized_text

    def counted(text: str, setting: str = "") -> NormalizedText:
        texts.append(text)
        return original(text, setting)

    monkeypatch.setattr(module, "normalized_text", counted)
    return texts


def test_texts_that_differ_in_values_are_normalised_once(normalised: list[str]) -> None:
    texts = TextNormalizer()
    found = {texts.batch(f"DELETE FROM dbo.t WHERE id IN ({n}, {n}) -- {n}") for n in range(9)}
    assert [one.text for one in found] == ["DELETE FROM dbo.t WHERE id IN (?)"]
    assert len(normalised) == 1


def test_the_statement_of_a_call_is_normalised_once(normalised: list[str]) -> None:
    texts = TextNormalizer()
    calls = {
        texts.call(f"exec sp_executesql N'UPDATE dbo.t SET a = ''{n}''',N'@p int',{n}")
        for n in range(9)
    }
    assert [call.statement.text for call in calls if call.statement] == ["UPDATE dbo.t SET a = ?"]
    assert len(normalised) == 1


def test_a_users_rule_looks_at_the_values_of_each_text() -> None:
    texts = TextNormalizer([re.compile("heartbeat", re.IGNORECASE)])
    noise = [
        texts.batch(f"INSERT INTO dbo.log VALUES ('{value}')").noise
        for value in ("order", "Heartbeat", "order 2")
    ]
    assert noise == ["", "heartbeat", ""]
