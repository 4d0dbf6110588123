"""Addresses that people write into YAML and the site publishes: without users and secrets."""

from __future__ import annotations

import re

_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<rest>.*)", re.S)
# `container@account` is a place at Azure, `git` the one user of everybody.
_WITH_CONTAINER = frozenset({"abfs", "abfss", "wasb", "wasbs"})
_GIT = frozenset({"ssh", "git", "git+ssh"})
_SECRET = re.compile(
    r"[?&#;](?:[\w.-]*[_.-])?"
    r"(?:token|secret|password|passwd|pwd|pat|sig|signature|(?:api|access|account)[_-]?key|apikey)=",
    re.IGNORECASE,
)


def public_address(text: str) -> str:
    """An address that may be published, as it was given.

    Raises:
        ValueError: It has a user, a password or a token.
    """
    if (url := _URL.fullmatch(text)) is None:
        return text
    user, at, _ = url["authority"].rpartition("@")
    scheme = url["scheme"].lower()
    allowed = scheme in _WITH_CONTAINER or (scheme in _GIT and user == "git")
    if at and (":" in user or not allowed):
        raise ValueError("is published: write the URL without user, password and token")
    if _SECRET.search(url["rest"]):
        raise ValueError("is published: write the URL without the token or key behind `?`")
    return text
