"""Names, addresses and texts without the secrets in them.

`redact_name` is for what identifies data (a namespace, a table, a path, a connection), and leaves
of parameters only those that say which data it is. `redact_link` and `redact_text` are for what
people read: a link keeps its parameters unless one of them is a secret, a text keeps its words.

What looks like a key wherever it stands becomes `redacted`: keys that begin as those of a vendor
do, and long ones of random letters. Hex digits are none: hashes and UUIDs name partitions,
commits and files. A second time changes nothing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from operator import is_
from typing import Any
from urllib.parse import unquote

REDACTED = "redacted"

# `container@account` is a place at Azure, `git` the one user of everybody.
_WITH_CONTAINER = frozenset({"abfs", "abfss", "wasb", "wasbs"})
_GIT = frozenset({"ssh", "git", "git+ssh"})
# Parameters that say which data it is; of connections also on which server.
_IDENTIFYING = frozenset(
    {"host", "hostname", "server", "servername", "address", "addr", "endpoint"}
    | {"port", "portnumber"}
    | {"instance", "instancename", "database", "databasename", "dbname", "db", "initial catalog"}
    | {"catalog", "catalogname", "schema", "schemaname", "currentschema", "search_path"}
    | {"project", "projectid", "dataset", "datasetid", "table", "tablename", "dbtable", "keyspace"}
    | {"collection", "container", "bucket", "topic", "entitypath", "index", "sid", "servicename"}
    | {"service_name", "sheet", "gid", "report", "format"}
)
# Members of a connection's JSON that do, in the order of a name.
_MEMBERS = (
    ("host", "hostname", "server"),
    ("port",),
    ("project", "projectid", "catalog", "database", "dbname"),
    ("dataset", "schema"),
    ("table",),
)
_PASSWORDS = (
    r"passw(?:or[dt]|d)|passphrase|pwd|apikey"
    r"|(?:api|access|account|private|shared|subscription|signing|encryption|client|secret)[_.-]?key"
)
_WORDS = rf"token|secret|credentials?|signature|{_PASSWORDS}"
_SHORT_WORDS = "pat|pw|pass|sig|sas|jwt|auth|authorization|bearer"
# Hadoop's keys for Azure end with the account, dbt's secret variables with a name.
_INNER_WORDS = r"account\.key\.|azure\.sas\.|env_secret_"
_SECRET_KEY = (
    rf"(?:[\w.$-]*(?:{_WORDS})|(?:[\w.$-]*[_.-])?(?:{_SHORT_WORDS})"
    rf"|[\w.$-]*(?:{_INNER_WORDS})[\w.$-]+)"
)
# Without any of them a text has no secret key: a look for these is far quicker.
_PARTS_OF_WORDS = (
    *("token", "secret", "passw", "passphrase", "pwd", "credential", "signature", "key=", 'key"'),
    *("key'", "key:", "key%3d", "pat=", "pat%3d", "pw=", "pass=", "pass%3d", "sig=", "sig%3d"),
    *("sas=", "jwt", "auth", "bearer ", "basic ", "account.key.", "azure.sas."),
    *("identified", "openrowset", "addlinkedsrv", "curl ", "sqlcmd", "osql", "bcp", "sshpass "),
    *("mysql", "mariadb "),
)
# `$TOKEN`, `<token>`, `{{ token }}`, `%s`, `***`, `?`, `''` and `none` stand for secrets.
_PLACEHOLDER = r"(?!\\*[\"']?(?:[$<%*?]|\{\{|redacted)|\"\"|''|(?:none|null|true|false)\b)"
_KEY_OF_TEXT = re.compile(_SECRET_KEY, re.IGNORECASE)
_SECRET_PARAMETER = re.compile(rf"[?&#;]\s*{_SECRET_KEY}\s*=", re.IGNORECASE)
_PROPERTY = re.compile(
    rf"(?P<head>[?&#;]\s*{_SECRET_KEY}\s*=\s*){_PLACEHOLDER}"
    r"(?:\{[^}]*\}|\"[^\"]*\"|'[^']*'|[^\s&;\"'<>`|)\]}]+)",
    re.IGNORECASE,
)
_ASSIGNMENT = re.compile(
    rf"(?P<head>(?:^|(?<=[\s\"'`(,\[{{]))(?P<key>[\w.$-]++)=){_PLACEHOLDER}"
    r"[^\s&;,\"'<>`|)\]}]+",
    re.IGNORECASE | re.MULTILINE,
)
# Of code too: a literal that is assigned to a password, compared with one, or set as an option.
_IN_QUOTES = rf"{_PLACEHOLDER}(?P<quote>\"|')(?P<text>(?:(?!(?P=quote))[^\n])+)(?P=quote)"
_PREFIX = r"(?:[a-z]{1,2}(?=[\"']))?"  # N'…' of SQL, b"…" of Python
_LITERAL = re.compile(
    rf"(?P<head>(?<![\w.$-])(?P<key>[\w.$-]++)\s*(?::=|=>|=|:)\s*{_PREFIX}){_IN_QUOTES}",
    re.IGNORECASE,
)
_OPTION = re.compile(
    r"(?P<head>\b(?:option|conf|config|set|setproperty|put)\s*\(\s*[\"'](?P<key>[\w.$-]++)[\"']"
    rf"\s*,\s*{_PREFIX}){_IN_QUOTES}",
    re.IGNORECASE,
)
# Of SQL, by the word before and by the place.
_OF_SQL = re.compile(
    r"(?P<head>\b(?:password|identified\s+by)\s+(?:N(?='))?"
    r"|\bopenrowset\s*\(\s*'[^'\n]*'\s*,\s*'[^'\n]*'\s*;\s*'[^'\n]*'\s*;\s*"
    r"|\bsp_addlinkedsrvlogin\b[^;\n]*,\s*(?:@rmtpassword\s*=\s*)?(?:N(?='))?)"
    rf"{_PLACEHOLDER}(?P<quote>')[^'\n]+'",
    re.IGNORECASE,
)
# What stands behind a key in a sentence is a secret where it looks like one.
_STRONG = rf"{_PLACEHOLDER}(?=[^\s,;]*\d)(?=[^\s,;]*[A-Za-z])[^\s,;\"'()<>\[\]]{{8,}}"
_IN_SENTENCE = re.compile(
    rf"(?P<head>(?<![\w.$-])(?:--?(?=[\w-]+\s)|(?=[\w.$-]+:))(?P<key>[\w.$-]++):?\s+){_STRONG}"
)
_STRONG_WORD = re.compile(_STRONG)
# Below these keys of JSON any word is a secret; below `token` or `auth` a strong one.
_PASSWORD_KEY = re.compile(rf"[\w.$-]*(?:{_PASSWORDS})", re.IGNORECASE)
_WORD = re.compile(rf"{_PLACEHOLDER}\S+")
_OF_COMMAND = re.compile(
    r"(?P<head>\bcurl\s[^\n]*?(?:-u|--user)[ =][\"']?[^\s:]+:"
    r"|\b(?:sqlcmd|osql|bcp)\b[^\n]*?[\s\"']-P[\s\"',]*|\bsshpass\s+-p\s*[\"']?"
    r"|\b(?:mysql|mysqldump|mariadb)\s(?:[^\n]*?\s)?-p(?=[\w\"'])[\"']?"
    rf"|(?<![\w-])--(?i:{_SECRET_KEY})(?:=[\"']?|\s+(?={_STRONG}))"
    rf"|\bexport\s+(?i:{_SECRET_KEY})=[\"']?){_PLACEHOLDER}[^\s\"']+"
)
_ELEMENT = re.compile(rf"(?P<head><(?P<key>{_SECRET_KEY})>)[^<\n]+(?=</(?P=key)>)", re.IGNORECASE)
_ENCODED = re.compile(r"\S*%[0-9A-Fa-f]{2}\S*")
_BEARER = re.compile(
    r"(?P<head>\b(?:bearer|basic) )(?=[\w.~+/=-]*\d)[\w.~+/=-]{16,}", re.IGNORECASE
)
# `"key": value` of JSON, of a dictionary of Python, or of JSON within a JSON's string.
_MEMBER = re.compile(
    r"(?P<head>\\*[\"'](?P<key>[\w.$ -]+)\\*[\"']\s*:\s*)(?:(?P<bare>[\w.+-]+)"
    r"|(?P<quote>\\*[\"'])(?P<text>(?:(?!(?P=quote))(?:\\.|[^\\]))*)(?:(?P=quote)|\Z))",
    re.DOTALL,
)
_PARAMETERS = re.compile(r"[?&#;]|%3F", re.IGNORECASE)
_OF_TERADATA = re.compile(r"[/,](?=\w+=)")
# A password may have a slash; a port is none.
_LONG_USER = re.compile(r"[^/@?#:]*:(?!\d+(?:/|\Z))[^@?#]*@(?:[^@/?#]*@)*")
# Oracle's passwords stand in double quotes where they hold an `@`.
_ORACLE_USER = re.compile(r"""(?P<head>\boracle:\w+:)(?:"[^"\s]*"|[^"'\s])*@""", re.IGNORECASE)
_LOGIN = re.compile(r"[^\s/@:.=]+:[^\s/@]+@(?=[\w.\[-])")
_PARAMETER = re.compile(
    r"(?P<sign>\A|[?&#;]+|\s+)\s*(?P<key>[\w.$-]+(?: catalog| id)?)\s*=\s*"
    r"(?P<value>\{(?:[^}]|\}\})*\}|\"[^\"]*\"|'[^']*'|[^?&#;\s]*)",
    re.IGNORECASE,
)
# An address within a text, up to what ends it there.
_IN_TEXT = re.compile(r"(?:jdbc:[\w:]*)?[A-Za-z][A-Za-z0-9+.-]*://[^\s<>\"'`|)\]}]+")
# How keys begin: of AWS, GitHub, GitLab, Slack, Stripe, OpenAI, Google, Databricks, dbt, Hugging
# Face, Vault, npm, PyPI, SendGrid, Shopify; JSON web tokens, and private keys.
KEY_BEGINNINGS = (
    *("AKIA", "ASIA", "ABIA", "ACCA", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    *("glpat-", "xox", "xapp-", "k_live_", "k_test_", "whsec_", "sk-", "AIza", "ya29.", "GOCSPX-"),
    *("dapi", "dbtu_", "dbtc_", "dbts_", "hf_", "hvs.", "hvb.", "npm_", "pypi-", "SG.", "shp"),
    *("eyJ", "PRIVATE KEY", "hooks.slack.com/"),
)
_KEY = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{12,}"
    r"|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}"
    r"|xox[abeoprs]-[\w-]{10,}|xapp-[\w-]{10,}|(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{8,}"
    r"|sk-[\w-]{20,}|AIza[\w-]{30,}|ya29\.[\w-]{16,}|GOCSPX-[\w-]{16,}"
    r"|dapi[0-9a-f]{32}|dbt[ucs]_[\w-]{16,}|hf_[A-Za-z0-9]{24,}|hv[sb]\.[\w-]{20,}"
    r"|npm_[A-Za-z0-9]{30,}|pypi-[\w-]{40,}|SG\.[\w-]{16,}\.[\w-]{16,}"
    r"|shp(?:at|ss|ca)_[0-9a-fA-F]{24,}|eyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?)"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|(?P<webhook>\bhooks\.slack\.com/(?:services|workflows)/)[\w/-]+",
    re.DOTALL,
)
# Documents of Google have such ids.
_LONG_WORD = re.compile(r"(?<![A-Za-z0-9+_=-])(?<!/d/)(?<!/folders/)[A-Za-z0-9+_=-]{32,}")
_HEX = re.compile(r"(?:0[xX])?[0-9A-Fa-f-]+")
# Random letters, digits and capitals change between these three in 62 of 100 places; names made of
# words in about 25.
_RANDOM = 0.45
_SIGNS = re.compile(r"[=@%\"']")
_MOST = 65_536
# Of dbt's manifest.
_CODE = frozenset({"raw_code", "compiled_code", "raw_sql", "compiled_sql", "macro_sql", "code"})


@lru_cache(_MOST)
def redact_name(name: str) -> str:
    """A namespace, name, path or address of data, with nothing but what identifies the data.

    Users, secrets and parameters such as `?warehouse=`, `;encrypt=` go; a connection's JSON is cut
    to host, port, database, schema and table. A name that is a secret and nothing else is
    `redacted`.
    """
    text = name
    if text.startswith("jdbc:teradata:"):
        text = _OF_TERADATA.sub(";", text)
    if _SIGNS.search(text):
        text = _without_parameters(_without_user(_without_json(_decode(text))))
    return _without_keys(text) or (name and REDACTED)


@lru_cache(_MOST)
def redact_link(address: str) -> str:
    """An address to follow; one with a user or a secret loses these, and all its parameters."""
    if has_secret(address):
        address = _PARAMETERS.split(_without_user(address), maxsplit=1)[0]
    return _without_keys(address)


def has_secret(address: str) -> bool:
    """Whether an address has a user, a parameter with a secret, or a vendor's key."""
    return (
        _without_user(address) != address
        or bool(_SECRET_PARAMETER.search(_decode(address)))
        or bool(_KEY.search(address))
    )


def redact_text(text: str) -> str:
    """A text of people: its addresses without users, and `redacted` for passwords and keys."""
    if not text:
        return text
    text = redact_code(text)
    if not _may_have_secret(text):
        return text
    text = _IN_SENTENCE.sub(_redact_assignment, text)
    return _ASSIGNMENT.sub(_redact_assignment, text)


def redact_code(text: str) -> str:
    """Code or SQL; as a text, except that `token=x` is a comparison there."""
    if "%" in text:
        text = _ENCODED.sub(_redact_encoded, text)
    if "oracle:" in text.lower():
        text = _ORACLE_USER.sub(r"\g<head>@", text)
    if "//" in text:
        text = _IN_TEXT.sub(lambda match: _redact_address(match.group()), text)
    if _may_have_secret(text):
        text = _MEMBER.sub(_redact_value, text)
        text = _ELEMENT.sub(_redact_match, _PROPERTY.sub(_redact_match, text))
        text = _OPTION.sub(_redact_value, _LITERAL.sub(_redact_value, text))
        text = _OF_SQL.sub(rf"\g<head>'{REDACTED}'", text)
        text = _OF_COMMAND.sub(_redact_match, text)
    return _without_keys(text)


def redact_json(value: Any, key: str = "") -> Any:
    """A JSON value whose texts are redacted; the same object if none has a secret.

    Args:
        key: The key of the value in the object around it: some hold code, some a password.
    """
    if isinstance(value, str):
        if (is_secret := _secret_values(key)) and is_secret.fullmatch(value.strip()):
            return REDACTED
        return redact_code(value) if key in _CODE else redact_text(value)
    if isinstance(value, Mapping):
        values: Any = {name: redact_json(item, name) for name, item in value.items()}
        is_same = all(item is value[name] for name, item in values.items())
    elif isinstance(value, list | tuple):
        values = type(value)(redact_json(item, key) for item in value)
        is_same = all(map(is_, values, value))
    else:
        return value
    return value if is_same else values


@lru_cache(_MOST)
def _secret_values(key: str) -> re.Pattern[str] | None:
    """The values below a key that are secrets; None below most keys."""
    if _PASSWORD_KEY.fullmatch(key):
        return _WORD
    return _STRONG_WORD if _KEY_OF_TEXT.fullmatch(key) else None


@lru_cache(1)  # It is asked twice of each text.
def _may_have_secret(text: str) -> bool:
    folded = text.casefold()
    return any(map(folded.__contains__, _PARTS_OF_WORDS))


def _redact_match(match: re.Match[str]) -> str:
    return f"{match['head']}{REDACTED}"


def _redact_assignment(match: re.Match[str]) -> str:
    return _redact_match(match) if _KEY_OF_TEXT.fullmatch(match["key"]) else match.group()


def _redact_value(match: re.Match[str]) -> str:
    """A key, and `redacted` in the quotes of its value."""
    if not match["text"] or not _KEY_OF_TEXT.fullmatch(match["key"]):
        return match.group()
    return f"{match['head']}{match['quote']}{REDACTED}{match['quote']}"


def _redact_encoded(match: re.Match[str]) -> str:
    """A word with percent signs, decoded where a secret shows only then."""
    plain = unquote(match.group())
    clean = plain if plain == match.group() else redact_code(plain)
    return match.group() if clean == plain else clean


def _redact_address(address: str) -> str:
    is_jdbc = address.startswith("jdbc:")
    return redact_name(address) if is_jdbc else redact_link(address)


def _decode(text: str) -> str:
    """The text without percent signs, where a secret would show only then."""
    if "%" not in text:
        return text
    plain = unquote(text)
    if plain == text:
        return text
    plain = _decode(plain)
    is_clean = _without_parameters(_without_user(_without_json(plain))) == plain
    return text if is_clean else plain


def _without_json(text: str) -> str:
    """A name of which a connection's JSON is a part, in which that is its host, database, table."""
    members = list(_MEMBER.finditer(text))
    if not members:
        return text
    opening, closing = text.find("{"), text.rfind("}") + 1
    start = members[0].start() if opening < 0 else min(opening, members[0].start())
    values = {member["key"].lower(): member["text"] or member["bare"] or "" for member in members}
    parts = [next((values[key] for key in keys if values.get(key)), "") for keys in _MEMBERS]
    server = ":".join(filter(None, parts[:2]))
    around = (text[:start], text[max(closing, members[-1].end()) :])
    before, behind = (part.strip("\"' ").strip(".") for part in around)
    return ".".join(filter(None, (before, server, *parts[2:], behind)))


def _without_user(text: str) -> str:
    """A text without the user and password before a host."""
    if "@" not in text:
        return text
    text, of_oracle = _ORACLE_USER.subn(r"\g<head>@", text)
    if of_oracle:
        return text
    start = text.find("://")
    if start < 0:
        return _LOGIN.sub("", text, count=1) if _LOGIN.match(text) else text
    scheme = re.split(r"[^A-Za-z0-9+.-]", text[:start])[-1].lower()
    rest = text[start + 3 :]
    authority = re.split(r"[/?#;]", rest, maxsplit=1)[0]
    user, at, _ = authority.rpartition("@")
    if not at:
        long = _LONG_USER.match(rest)
        return text[: start + 3] + rest[long.end() :] if long else text
    is_place = scheme in _WITH_CONTAINER or (scheme in _GIT and user == "git")
    if is_place and ":" not in user:
        return text
    return text[: start + 3] + rest[len(user) + 1 :]


def _without_parameters(text: str) -> str:
    """A text of whose parameters only those are left that identify data."""
    first = _first_parameter(text)
    if first is None:
        return text
    head, tail = text[: first.start()], text[first.start() :]
    left = [
        match.group()
        for match in _PARAMETER.finditer(tail)
        if match["key"].lower() in _IDENTIFYING and match["value"]
    ]
    if left:
        left[0] = first["sign"] + left[0].lstrip("?&#; ")
    return (head + "".join(left)).rstrip("?&#; ")


def _first_parameter(text: str) -> re.Match[str] | None:
    """The parameter with which those of an address begin.

    A semicolon or a `#` may be a part of a file's name, and an equals sign one of a partition's:
    there it takes a secret behind them.
    """
    is_path = "/" in text and "://" not in text and not text.startswith("jdbc:")
    has_secret = None
    for match in _PARAMETER.finditer(text):
        sign = match["sign"]
        if sign[:1] == "?" or (sign[:1] == ";" and not is_path):
            return match
        if has_secret is None:
            has_secret = any(
                _KEY_OF_TEXT.fullmatch(parameter["key"]) for parameter in _PARAMETER.finditer(text)
            )
        if has_secret:
            return match
    return None


def _without_keys(text: str) -> str:
    if len(text) < 16:
        return text
    if "earer " in text or "asic " in text:
        text = _BEARER.sub(_redact_match, text)
    if any(map(text.__contains__, KEY_BEGINNINGS)):
        text = _KEY.sub(lambda match: f"{match['webhook'] or ''}{REDACTED}", text)
    return _LONG_WORD.sub(_without_random, text)


def _without_random(match: re.Match[str]) -> str:
    """`redacted-1f2e3d4c` for a random word.

    Its digest stays, which nobody can guess the word from: were it no key but the id of some data,
    it would still not be mistaken for another.
    """
    word = match.group()
    if _HEX.fullmatch(word):
        return word
    kinds = [letter.isdigit() + 2 * letter.isupper() for letter in word if letter.isalnum()]
    changes = sum(a != b for a, b in pairwise(kinds))
    if len(set(kinds)) < 3 or changes < _RANDOM * len(kinds):
        return word
    return f"{REDACTED}-{hashlib.sha256(word.encode()).hexdigest()[:8]}"
