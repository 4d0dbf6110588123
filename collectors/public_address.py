"""Addresses and commands that people write into YAML and the site publishes: without secrets."""

from __future__ import annotations

import re

_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<rest>.*)", re.S)
# One within a text, up to what ends it there.
_IN_TEXT = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s<>\"'`|)\]}]+")
# `container@account` is a place at Azure, `git` the one user of everybody.
_WITH_CONTAINER = frozenset({"abfs", "abfss", "wasb", "wasbs"})
_GIT = frozenset({"ssh", "git", "git+ssh"})
_SECRET = re.compile(
    r"[?&#;](?:[\w.-]*[_.-])?"
    r"(?:token|secret|password|passwd|pwd|pat|sig|signature|(?:api|access|account)[_-]?key|apikey)=",
    re.IGNORECASE,
)
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


def without_secret(address: str) -> str:
    """An address without what must not be published: a user, a password, a token."""
    try:
        return public_address(address)
    except ValueError:
        head, mark, rest = address.partition("://")
        authority, slash, path = rest.partition("/")
        authority = authority.rpartition("@")[2]
        cut = min((at for at in map(path.find, "?&#;") if at >= 0), default=len(path))
        return f"{head}{mark}{authority}{slash}{path[:cut]}"


def public_text(text: str) -> str:
    """A text of people, the addresses in it without users, passwords and tokens."""
    if "://" not in text:
        return text
    return _IN_TEXT.sub(lambda found: without_secret(found.group()), text)


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
