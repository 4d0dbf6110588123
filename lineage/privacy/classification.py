"""Classifications of columns, the ways in which labels name them, and what operations do to them.

An operation lowers a classification by rule only: a masked value may be a hash, and a hash of a
mail address is as sensitive as the address.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum

from dbt_graft.lineage.records import Subtype

_WORD = re.compile(r"[^a-z0-9]+")


class Classification(IntEnum):
    """The classification of a column, the least sensitive first."""

    PUBLIC = 0
    INTERNAL = 1
    CONFIDENTIAL = 2
    PII = 3
    RESTRICTED_PII = 4
    SECRET = 5

    @property
    def text(self) -> str:
        """As reports and `graft.yml` have it: `restricted_pii`."""
        return self.name.lower()


# What teams write in tags and `meta`, beside the names themselves.
_OTHERS = {
    "confidential": Classification.CONFIDENTIAL,
    "credential": Classification.SECRET,
    "gdpr": Classification.PII,
    "hipaa": Classification.RESTRICTED_PII,
    "highly_sensitive": Classification.RESTRICTED_PII,
    "password": Classification.SECRET,
    "personal": Classification.PII,
    "personal_data": Classification.PII,
    "phi": Classification.RESTRICTED_PII,
    "private": Classification.CONFIDENTIAL,
    "restricted": Classification.CONFIDENTIAL,
    "sensitive": Classification.CONFIDENTIAL,
    "sensitive_pii": Classification.RESTRICTED_PII,
    "special_category": Classification.RESTRICTED_PII,
    "spii": Classification.RESTRICTED_PII,
}

_NAMES = {**_OTHERS, **{one.text: one for one in Classification}}


def classification(text: str) -> Classification | None:
    """The classification that a label names: `PII`, `restricted-pii`; None for other labels."""
    word = _WORD.sub("_", text.casefold()).strip("_")
    return _NAMES.get(word)


@dataclass(frozen=True, slots=True)
class PrivacyRules:
    """The most that is left of a classification behind an operation; None where it stays.

    Attributes:
        masked: Masked, tokenised, hashed or encrypted: logs do not tell which.
        aggregated: Aggregated: `max(mail)` shows one, `count(mail)` none; logs do not tell which.
    """

    masked: Classification | None = None
    aggregated: Classification | None = None


def left_behind(
    found: Classification, subtype: Subtype, rules: PrivacyRules, *, masking: bool
) -> Classification:
    """The classification that is left of one behind a DIRECT edge."""
    aggregated = rules.aggregated if subtype is Subtype.AGGREGATION else None
    limits = [one for one in (aggregated, rules.masked if masking else None) if one is not None]
    return min([found, *limits])
