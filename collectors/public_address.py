"""Addresses and commands that people write into YAML and the site publishes: without secrets."""

from __future__ import annotations

import re

from dbt_graft.lineage.redaction import has_secret

# `--password x`, `TOKEN=x`, `-u user:x`; `$TOKEN`, `<token>` and `{{ token }}` are no secrets.
_PLACEHOLDER = r"(?![\"']?[$%<{}])"
_SECRET_ARGUMENT = re.compile(
    r"(?<![\w${%-])(?:[\w-]*(?:token|secret|password|passwd|pwd|(?:api|access|account)[_-]?key|apikey))"
    rf"(?:\s*[=:]\s*|\s+){_PLACEHOLDER}\S"
    rf"|(?:^|\s)(?:-u|--user)[\s=]*[^\s:]+:{_PLACEHOLDER}\S",
    re.IGNORECASE,
)


def public_command(text: str) -> str:
    """A command that may be published, as it was given.

    Raises:
        ValueError: It has a password or token, or the URL in it has one.
    """
    for word in text.split():
        start = word.find("://")
        while start > 0 and (word[start - 1].isalnum() or word[start - 1] in "+.-"):
            start -= 1
        public_address(word[max(start, 0) :].strip("\"',;"))
    if _SECRET_ARGUMENT.search(text):
        raise ValueError("is published: write $NAME where the password or token stands")
    return text


def public_address(text: str) -> str:
    """An address that may be published, as it was given.

    Raises:
        ValueError: It has a user, a password or a token.
    """
    if has_secret(text):
        raise ValueError("is published: write the URL without user, password, token and key")
    return text
