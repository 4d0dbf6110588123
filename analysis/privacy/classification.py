"""Classifications of columns, the ways in which labels name them, and what operations do to them.

An operation lowers a classification by rule only, and a hash never does: the hash of a mail address
is as sensitive as the address.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import TYPE_CHECKING

from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Masking, Subtype

if TYPE_CHECKING:
    from dbt_graft.analysis.impact.graph import EdgeKind

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
    "internal_only": Classification.INTERNAL,
    "internal_use_only": Classification.INTERNAL,
    "password": Classification.SECRET,
    "personal": Classification.PII,
    "personal_data": Classification.PII,
    "personal_information": Classification.PII,
    "personally_identifiable": Classification.PII,
    "personally_identifiable_information": Classification.PII,
    "phi": Classification.RESTRICTED_PII,
    "private": Classification.CONFIDENTIAL,
    "restricted": Classification.CONFIDENTIAL,
    "sensitive": Classification.CONFIDENTIAL,
    "sensitive_data": Classification.CONFIDENTIAL,
    "sensitive_personal_data": Classification.RESTRICTED_PII,
    "sensitive_pii": Classification.RESTRICTED_PII,
    "special_category": Classification.RESTRICTED_PII,
    "spii": Classification.RESTRICTED_PII,
    "top_secret": Classification.SECRET,
}

_NAMES = {**_OTHERS, **{level.text: level for level in Classification}}


# Keys that stand before a value: `gdpr: personal`, `privacy: pii`.
_KEYS = re.compile(
    r"(?:data_)?(?:gdpr|privacy|security|sensitivity|confidentiality|classification|governance|dlp"
    r"|policy_tags?)"
    r"(?:_(?:category|class|classification|kind|level|type))?_(.+)"
)
_ASSERTING = re.compile(r"(?:is|has|contains)_")
# `pii_type: email`, the tag `pii_name`: a kind of what the first word names.
_KIND = re.compile(r"(s?pii|phi)_(.+)")
# `pii_masked`, `pii: removed`, `pii_reviewed_by`: nobody knows what is left, or it is no label.
_NO_KIND = re.compile(
    r"(?:^|_)(?:anonymi[sz]ed|deleted|encrypted|exempt|false|free|hashed|low|masked|n_?a|none|not?|public"
    r"|redacted|removed|review\w*|safe|scrubbed|tbd|tokeni[sz]ed|unknown|verified)(?:_|$)"
)


def classification(text: str) -> Classification | None:
    """The classification that a label names: `PII`, `pii_type: email`; None for other labels."""
    word = _ASSERTING.sub("", _WORD.sub("_", text.casefold()).strip("_"), count=1)
    if word in _NAMES:
        return _NAMES[word]
    if match := _KEYS.fullmatch(word):
        return classification(match[1])
    if (match := _KIND.fullmatch(word)) and not _NO_KIND.search(match[2]):
        of_kind = _NAMES.get(match[2], Classification.PUBLIC)
        return max(_NAMES[match[1]], of_kind)
    return None


@frozen
class PrivacyRules:
    """The most that is left of a classification behind an operation; None where it stays.

    Attributes:
        masked: Masked, or a token stands for it.
        encrypted: Encrypted: who has the key has the value.
        aggregated: Aggregated: `max(mail)` shows one, `count(mail)` none; logs do not tell which.
        smallest_group: Only of groups that people say to have so many rows; None for all.
    """

    masked: Classification | None = None
    encrypted: Classification | None = None
    aggregated: Classification | None = None
    smallest_group: int | None = None


def remaining_level(
    before: Classification, kind: EdgeKind, rules: PrivacyRules, group_size: int = 0
) -> Classification:
    """The classification that is left of one behind a DIRECT edge; behind a hash all of it is.

    Args:
        group_size: The fewest rows that a group of the aggregation has; 0 if nobody says it.
    """
    limits = [before]
    if (
        kind.subtype is Subtype.AGGREGATION
        and rules.aggregated is not None
        and group_size >= (rules.smallest_group or 0)
    ):
        limits.append(rules.aggregated)
    match kind.masked_by:
        case Masking.MASK | Masking.TOKENIZE if rules.masked is not None:
            limits.append(rules.masked)
        case Masking.ENCRYPT if rules.encrypted is not None:
            limits.append(rules.encrypted)
    return min(limits)
