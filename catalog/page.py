"""A page of the catalog before it is HTML: a template, what it is filled with, and where it goes.

Templates are Markdown with HTML blocks (`site/templates/*.md.j2`): headings are Markdown, so that
they reach the table of contents, everything that holds a value is HTML.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from dbt_graft.catalog import markup, words
from dbt_graft.catalog.neighbourhood import sign
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.urls import dataset_path, owner_path, tag_path, task_path

# A list of this many rows still opens at once.
LONG = 1000


@dataclass(frozen=True, slots=True)
class Page:
    """A page to be.

    Attributes:
        path: Its permanent address, relative to the site's root: empty or ending in a slash.
        template: The template's name without `.md.j2`.
        searched: It is found by search; lists of things that have their own page are not.
        sidebars: What Material shows beside the page: `navigation`, `toc`.
    """

    path: str
    template: str
    title: str
    context: Mapping[str, Any] = field(default_factory=dict)
    searched: bool = False
    sidebars: tuple[str, ...] = ()

    @property
    def root(self) -> str:
        """The way from the page to the site's root."""
        return "../" * self.path.count("/")


class Templates:
    """The templates of a folder, with every value escaped for HTML and Markdown."""

    def __init__(self, folder: Path) -> None:
        icons = Path(str(files("material"))) / "templates"
        self._environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader([folder, icons]),
            autoescape=True,
            finalize=markup.text,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters |= {
            "number": words.number,
            "moment": words.moment,
            "external": markup.external,
            "platform": words.platform,
            "engine": words.engine,
        }
        self._environment.globals |= {
            "count": words.count,
            "duration": words.duration,
            "dash": words.DASH,
            "long": LONG,
            "sign": sign,
            "kinds": words.KIND,
            "roles": words.ROLE,
            "evidences": words.EVIDENCE,
            "dataset_path": dataset_path,
            "task_path": task_path,
            "tag_path": tag_path,
            "owner_path": owner_path,
        }

    def render(self, page: Page, shared: Mapping[str, Any]) -> str:
        """The page as Markdown with its front matter.

        Raises:
            GraftError: A template is missing or faulty.
        """
        values = {**shared, **page.context, "root": page.root, "title": page.title}
        try:
            body = self._environment.get_template(f"{page.template}.md.j2").render(values)
        except jinja2.TemplateError as error:
            raise GraftError(f"the template is faulty: {error}", place=_place(error)) from error
        # The theme writes titles as they are, and YAML reads a JSON string.
        front = {
            "title": str(markup.text(page.title)),
            "hide": [bar for bar in ("navigation", "toc") if bar not in page.sidebars],
            "search": {"boost": 2} if page.searched else {"exclude": True},
        }
        lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in front.items()]
        return "\n".join(["---", *lines, "---", "", body])


def _place(error: jinja2.TemplateError) -> str:
    """The file and line of a template in which an error came up."""
    if isinstance(error, jinja2.TemplateSyntaxError):
        return f"{error.filename or error.name}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [f"{frame.filename}:{frame.lineno}" for frame in frames if frame.filename[-3:] == ".j2"]
    return lines[-1] if lines else ""


def prose(text: str, root: str, *, has_dbt_docs: bool) -> Markup:
    """A description as HTML; links into dbt's docs lead to where they lie in the site."""
    return markup.prose(text, f"{root}dbt/index.html" if has_dbt_docs else "")
