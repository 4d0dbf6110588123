"""Templates of commands: what lineage knows of a task goes in, and stays data.

`{task}` stands for the task's name. The value is quoted for the shell where it needs to be, and
no brace of it reaches Jinja. Inside of quotes, here-documents or command substitutions the shell
would read a quoted value again: there a value that needs no quotes is filled in, any other is
refused. Jinja's `{{ ds }}`, the shell's `${NAME}` and `{ print }` stay as they are.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dbt_graft.lineage.errors import GraftError

# Keys of `tasks` in graft.yml.
_OF_TASKS = ("path", "repo", "owner", "schedule")
# What a template may name.
NAMES = (
    *("task", "task_id", *_OF_TASKS, "repo_name"),
    *("model", "models", "unique_id", "package"),
)
Values = Mapping[str, str | Sequence[str]]

_PLACEHOLDER = re.compile(r"(?<![{$])\{([a-z_]+)\}(?!\})")
_JINJA = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
_PLAIN = re.compile(r"[\w@%+=:,./-]+", re.ASCII)  # as `shlex.quote` has it
_FILES = (".sh", ".bash")  # Airflow takes a command that ends so for the name of a template


def check_template(template: str) -> None:
    """Refuse a template with an unknown name.

    Raises:
        ValueError: It has one.
    """
    for name in _PLACEHOLDER.findall(_JINJA.sub("", template)):
        if name not in NAMES:
            raise ValueError(
                f"there is no {{{name}}}; write one of {', '.join(NAMES)}, "
                "or a brace of the shell with a space: { print }"
            )


def names_in(template: str) -> set[str]:
    """The names in a template."""
    return set(_PLACEHOLDER.findall(template))


def fill_command(template: str, values: Values, *, jinja: bool = True) -> str:
    """A shell command: each value quoted where it needs to be.

    Args:
        jinja: Airflow renders it before a shell reads it.

    Raises:
        GraftError: A value is not known, or cannot be quoted where it stands.
    """
    bare = set(_bare_places(template))

    def value_of(match: re.Match[str]) -> str:
        words = _words(match[1], values)
        if match.start() not in bare and not all(map(_is_plain, words)):
            raise GraftError(
                f"{{{match[1]}}} stands in quotes, and its value needs quotes of its own",
                place=_quote_word(words),
                remedy=f"write {{{match[1]}}} without quotes around it",
            )
        quoted = " ".join(map(shlex.quote, words))
        return without_jinja(quoted) if jinja else quoted

    filled = _PLACEHOLDER.sub(value_of, template)
    return _not_a_file(filled) if jinja else filled


def fill_argument(argument: Any, values: Values) -> Any:
    """An argument of an operator with its texts filled in, at any depth.

    Nobody knows whether a shell will read it: only values that need no quotes are filled in.

    Raises:
        GraftError: A value is not known, or needs quotes.
    """
    if isinstance(argument, Mapping):
        return {key: fill_argument(value, values) for key, value in argument.items()}
    if isinstance(argument, list | tuple):
        return [fill_argument(value, values) for value in argument]
    if not isinstance(argument, str):
        return argument

    def value_of(match: re.Match[str]) -> str:
        words = _words(match[1], values)
        if not all(map(_is_plain, words)):
            raise GraftError(
                f"{{{match[1]}}} has characters that a shell would read",
                place=_quote_word(words),
                remedy="fill it into `command`, where it is quoted",
            )
        return without_jinja(" ".join(words))

    filled = _PLACEHOLDER.sub(value_of, argument)
    return filled if filled == argument else _not_a_file(filled)


def fill_text(template: str, values: Values) -> str:
    """A text that no shell reads, as that of an environment variable.

    Raises:
        GraftError: A value is not known.
    """
    filled = _PLACEHOLDER.sub(
        lambda match: without_jinja(" ".join(_words(match[1], values))), template
    )
    return filled if filled == template else _not_a_file(filled)


def _words(name: str, values: Values) -> Sequence[str]:
    value = values.get(name) or ()
    words = (value,) if isinstance(value, str) else value
    if not words:
        entry = "an entry of its own below `airflow.commands`"
        key = "repo" if name == "repo_name" else name
        raise GraftError(
            f"its command needs {{{name}}}, which is not known",
            remedy=f"add `{key}` to its entry below `tasks` in graft.yml, or {entry}"
            if key in _OF_TASKS
            else f"add {entry}",
        )
    if any("\0" in word for word in words):
        raise GraftError(f"{{{name}}} has a NUL byte, which no command can have")
    return words


def _is_plain(word: str) -> bool:
    return _PLAIN.fullmatch(word) is not None


def without_jinja(text: str) -> str:
    """A text that Jinja renders as itself."""
    return text.replace("{", "{{ '{' }}") if "{" in text else text


def _not_a_file(text: str) -> str:
    return f"{text}{{{{ '' }}}}" if text.endswith(_FILES) else text


def _quote_word(words: Sequence[str]) -> str:
    return repr(next(word for word in words if not _is_plain(word)))


def _bare_places(template: str) -> Iterator[int]:
    """The places of names that stand in no quotes, where a quoted value is one word.

    None in a template with a here-document, a command substitution, `eval` or another shell: what
    they read is read twice.
    """
    if re.search(r"<<|`|\$\(|\beval\b|\b(?:ba|z|da|k)?sh\s+-\w*c\b|\bssh\b|\bsu\b", template):
        return
    quote, at = "", 0
    while at < len(template):
        char = template[at]
        jinja = _JINJA.match(template, at)
        if jinja:
            at = jinja.end()
            continue
        if not quote and _PLACEHOLDER.match(template, at):
            yield at
        if char == "\\" and quote != "'":
            at += 1
        elif quote:
            quote = "" if char == quote[-1] else quote
        elif char in "'\"":
            if template[at - 1 : at] == "$":
                return  # $'…' and $"…" have rules of their own
            quote = char
        elif char == "#" and (at == 0 or template[at - 1].isspace() or template[at - 1] in ";&|("):
            at = len(template) if (end := template.find("\n", at)) < 0 else end
        at += 1
