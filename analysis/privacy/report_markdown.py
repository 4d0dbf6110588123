"""The privacy report in Markdown, for a pull request or a wiki: findings first."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_graft.analysis.privacy.report import ADVICE, PrivacyReport
from dbt_graft.analysis.render.markdown import markdown_table


def privacy_markdown(report: PrivacyReport, most: int | None) -> str:
    """The report.

    Args:
        most: The most rows of a table; None for all.
    """
    return "\n".join(_lines(report, most)).rstrip() + "\n"


def _lines(report: PrivacyReport, most: int | None) -> Iterator[str]:
    labels, columns = report.labels, report.columns()
    yield f"### Sensitive columns: {len(columns):,}, findings: {len(report.findings):,}"
    yield ""
    yield from markdown_table(
        ("finding", "column", "read by", "what to do"),
        [
            (
                finding.code.value,
                _name(report, finding.column),
                finding.reader,
                ADVICE[finding.code],
            )
            for finding in report.findings
        ],
        most,
    )
    yield from markdown_table(
        (f"columns labelled {report.sensitive.text} or higher", "classification", "labelled in"),
        [
            (_name(report, column), _level(report, column), labels.declared[column].source)
            for column in columns
            if column in labels.declared
        ],
        most,
    )
    yield from markdown_table(
        ("columns that their values flow into", "classification", "from", "steps", "by"),
        [_way(report, column) for column in columns if column not in labels.declared],
        most,
    )
    yield from markdown_table(
        ("unknown: no columns are known on the way there", "from", "by"),
        [(str(flow.target), str(flow.source), flow.task) for flow in labels.unmapped],
        most,
    )


def _name(report: PrivacyReport, column: int) -> str:
    return f"{report.dataset(column)}.{report.name(column)}"


def _level(report: PrivacyReport, column: int) -> str:
    level = report.labels.classification(column)
    return level.text if level is not None else ""


def _way(report: PrivacyReport, column: int) -> tuple[str, ...]:
    first, *steps = report.labels.path(column)
    begin = f"{first.dataset}.{first.column}"
    task = steps[-1].task if steps else ""
    return _name(report, column), _level(report, column), begin, str(len(steps)), task
