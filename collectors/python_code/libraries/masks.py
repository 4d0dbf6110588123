"""Names of functions -> how their results hide a value."""

from __future__ import annotations

import re
from functools import lru_cache

from dbt_graft.collectors.name_tables import words
from dbt_graft.collectors.statements.columns.expressions import MASKING
from dbt_graft.lineage.records import Masking

# Words in the names of functions that people write.
_WORDS = {
    Masking.HASH: words("""
        hash hashed sha sha1 sha256 sha512 md5 hmac digest hexdigest blake2b hashing pbkdf2
        bcrypt"""),
    Masking.ENCRYPT: frozenset({"encrypt", "encrypted"}),
    Masking.TOKENIZE: frozenset({"tokenize", "tokenise", "pseudonymize", "pseudonymise"}),
    Masking.MASK: frozenset(
        {"mask", "redact", "anonymize", "anonymise", "obfuscate", "scrub", "blur"}
    ),
}
_UNDOING = words("de has is no not remove reverse un undo without")  # `un_mask`, `is_hashed`
_PLAIN = frozenset({"mask"})  # pandas' own


@lru_cache(maxsize=4096)
def masking_of(name: str, *, is_method: bool = True) -> Masking:
    """The operation of a function of this name."""
    if is_method and name in _PLAIN:
        return Masking.NONE
    masking = MASKING.get(name.upper(), Masking.NONE)
    if masking is not Masking.NONE and (name.upper() != "DIGEST" or not is_method):
        return masking
    parts = [part.lower() for part in re.findall(r"[A-Z]?[a-z]+\d*|[A-Z]+(?![a-z])\d*", name)]
    if not _UNDOING.isdisjoint(parts):
        return Masking.NONE
    for part in parts:
        for operation, vocabulary in _WORDS.items():
            if part in vocabulary:
                masking = masking.then(operation)
    return masking
