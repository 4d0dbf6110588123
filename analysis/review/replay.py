"""The verdicts on the last commits as an answer: what a limit would have done."""

from __future__ import annotations

from collections.abc import Sequence

from dbt_graft.analysis.answer import Answer, Table
from dbt_graft.analysis.render.phrases import count
from dbt_graft.analysis.review.node_change import NodeReview, worst_verdict
from dbt_graft.analysis.review.report import SCALE, count_verdicts, failing_grade
from dbt_graft.lineage.frozen import frozen


@frozen
class ReviewedCommit:
    """A commit against the one before.

    Attributes:
        nodes: What changed.
        problem: Why it cannot be compared; empty if it was.
    """

    commit: str
    date: str
    nodes: tuple[NodeReview, ...] = ()
    problem: str = ""

    def fails(self, limit: str) -> bool:
        """Whether a change that its SQL does not allow reaches a limit; none does an empty one."""
        grade = failing_grade(self.nodes)
        return bool(limit and grade) and SCALE.index(grade) >= SCALE.index(limit)


def replay_answer(folder: str, commits: Sequence[ReviewedCommit], limit: str) -> Answer:
    """The commits of a folder, oldest first, and of how many the change would have failed."""
    compared = [commit for commit in commits if not commit.problem]
    failing = sum(commit.fails(limit) for commit in compared)
    policy = f"--fail-on {limit}" if limit else "no --fail-on"
    omitted = len(commits) - len(compared)
    verdict = f"{count(len(compared), 'change')} compared, {failing:,} would fail ({policy})"
    return Answer(
        f"changes of {folder}",
        f"{verdict}, {omitted:,} left out" if omitted else verdict,
        tables=[
            Table(
                "commits",
                ("commit", "date", "changes", ""),
                [
                    (
                        commit.commit,
                        commit.date,
                        f"left out: {commit.problem}"
                        if commit.problem
                        else count_verdicts(commit.nodes),
                        "fails" if commit.fails(limit) else "",
                    )
                    for commit in commits
                ],
            )
        ],
        question="replay",
        data={"fail_on": limit or None, "commits": [_json(commit, limit) for commit in commits]},
    )


def _json(commit: ReviewedCommit, limit: str) -> dict[str, object]:
    worst = worst_verdict(commit.nodes)
    return {
        "commit": commit.commit,
        "date": commit.date,
        "verdict": worst.name if worst else None,
        "nodes": len(commit.nodes),
        "fails": commit.fails(limit),
        "left_out": commit.problem or None,
    }
