"""Pages before they are HTML: typed contexts, and the templates that render them.

A template is HTML (`site/templates/*.html.j2`). Each `<h2 id="…">` begins a section of the page,
which stands in the table of contents.
"""

from __future__ import annotations

import re
import shlex
import traceback
from collections.abc import MutableMapping
from dataclasses import fields
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar

import jinja2
from jinja2.compiler import CodeGenerator

from dbt_graft.analysis.render.phrases import count
from dbt_graft.catalog import formatting, links, markup
from dbt_graft.catalog.badges import fault_words
from dbt_graft.catalog.bar_charts import day_chart, duration_chart, rows_chart
from dbt_graft.catalog.compiled_templates import compiled_templates
from dbt_graft.catalog.neighbourhood import box_shape
from dbt_graft.catalog.node_results import loaded_ago
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.urls import (
    column_anchor,
    dag_path,
    dataset_path,
    owner_path,
    platform_path,
    tag_path,
    task_path,
)

# The beginning of a section in the content of a page: its id, and its title as HTML.
SECTION = re.compile(r'<h2 id="([^"]*)">(.*?)</h2>')
# A browser still opens a table of this many rows at once.
MAX_ROWS = 1000
# Other names of a dataset in logs.
MAX_ALIASES = 50


@frozen(kw_only=True)
class Page:
    """The context of a template; one subclass per template, whose fields are the template's names.

    Attributes:
        template: The template's file name without `.html.j2`.
        sidebars: What Material shows beside the page: `navigation`, `toc`.
        path: The permanent address, relative to the site's root: empty or ending in a slash.
    """

    template: ClassVar[str]
    sidebars: ClassVar[tuple[str, ...]] = ()

    path: str
    title: str

    @property
    def root(self) -> str:
        """The relative path from the page to the site's root."""
        return path_to_root(self.path)


@frozen
class Breadcrumb:
    """A page above another, for the line of links at the top."""

    name: str
    path: str


def path_to_root(path: str) -> str:
    """The relative path from a page to the site's root: `../../` for `tasks/load/`."""
    return "../" * path.count("/")


class _EscapedOutput(CodeGenerator):
    """Code that puts out what `finalize` returns as it is: it has been escaped."""

    def _output_child_pre(self, *_: object) -> None:
        self.write("environment.finalize(")

    def _output_child_post(self, *_: object) -> None:
        self.write(")")


class _Environment(jinja2.Environment):
    code_generator_class = _EscapedOutput

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        # Jinja's is a chain, of which each import of a template walks all names.
        return {**self.globals, **(d or {})}


@cache
def environment(folder: Path, maker: bytes = b"") -> jinja2.Environment:
    """Jinja for a folder of templates, one for all sites; every value is escaped.

    Args:
        maker: The digest of what compiles and fills them; with it they are kept compiled for the
            next build.
    """
    icons = Path(str(files("material"))) / "templates"
    jinja = _Environment(
        loader=jinja2.FileSystemLoader([folder, icons]),
        autoescape=True,
        finalize=markup.text,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=compiled_templates("pages", maker) if maker else None,
    )
    jinja.filters |= {
        "shell": shlex.quote,
        "number": formatting.number,
        "moment": formatting.moment,
        "external": markup.external,
        "breakable": markup.breakable,
        "platform": formatting.platform,
        "platform_scheme": formatting.platform_scheme,
        "engine": formatting.engine,
        "evidence": formatting.evidence_label,
        "exact": formatting.exact_moment,
        "with_code": markup.with_code,
    }
    jinja.globals |= {
        "count": count,
        "duration": formatting.duration,
        "dash": formatting.DASH,
        "max_rows": MAX_ROWS,
        "max_aliases": MAX_ALIASES,
        "box_shape": box_shape,
        "kinds": formatting.KIND,
        "roles": formatting.ROLE,
        "evidence_labels": formatting.EVIDENCE,
        "evidence_of_columns": formatting.EVIDENCE_OF_COLUMNS,
        "outcomes": formatting.OUTCOME,
        "statuses": formatting.STATUS,
        "column_anchor": column_anchor,
        "fault_words": fault_words,
        "role_label": formatting.role_label,
        "loaded_ago": loaded_ago,
        "linked_dataset": links.dataset_link,
        "evidence_mark": links.evidence_mark,
        "feeds": links.feeds,
        "linked_columns": links.linked_columns,
        "code_line": links.code_line,
        "duration_chart": duration_chart,
        "rows_chart": rows_chart,
        "day_chart": day_chart,
        "dataset_path": dataset_path,
        "dag_path": dag_path,
        "task_path": task_path,
        "tag_path": tag_path,
        "owner_path": owner_path,
        "platform_path": platform_path,
    }
    return jinja


def compile_templates(jinja: jinja2.Environment) -> None:
    """Compile the templates of pages, before processes share them: each would do it again.

    Raises:
        GraftError: One is faulty.
    """
    for name in jinja.list_templates(filter_func=lambda name: name.endswith(".html.j2")):
        try:
            jinja.get_template(name)
        except jinja2.TemplateError as error:
            raise _template_error(error) from error


def render(page: Page, jinja: jinja2.Environment) -> str:
    """The content of a page as HTML.

    Raises:
        GraftError: A template is missing or faulty.
    """
    context = {field.name: getattr(page, field.name) for field in fields(page)}
    try:
        template = jinja.get_template(f"{page.template}.html.j2")
        return links.shorten_links(template.render(context, root=page.root), page.path)
    except jinja2.TemplateError as error:
        raise _template_error(error) from error


def _template_error(error: jinja2.TemplateError) -> GraftError:
    return GraftError(f"the template is faulty: {error}", place=_error_location(error))


def _error_location(error: jinja2.TemplateError) -> str:
    """The file and line of a template in which an error arose."""
    if isinstance(error, jinja2.TemplateSyntaxError):
        return f"{error.filename or error.name}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [f"{frame.filename}:{frame.lineno}" for frame in frames if frame.filename[-3:] == ".j2"]
    return lines[-1] if lines else ""
