"""Parse plan text into trees of operators, in all layouts of Spark 2 to 4.

*Formatted* (Spark 3 and later): a tree of names and numbers, then a section for each number;
subqueries follow with trees of their own:

    == Physical Plan ==
    AdaptiveSparkPlan (3)
    +- == Final Plan ==
       * Project (2)
       +- Scan parquet spark_catalog.raw.orders (1)


    (1) Scan parquet spark_catalog.raw.orders
    Output [2]: [order_id#1, amount#2]

    ===== Subqueries =====

    Subquery:1 Hosting operator id = 2 Hosting Expression = Subquery subquery#30, [id=#20]
    HashAggregate (5)

*Extended* (Spark 2, EMR, `spark.sql.ui.explainMode`): logical plans and the physical one, each
operator with its arguments in its line:

    == Analyzed Logical Plan ==
    Project [order_id#1]
    +- Relation[order_id#1,amount#2] parquet

    == Physical Plan ==
    *(1) FileScan parquet raw.orders[order_id#1] Batched: true, …

Indentation is three characters a level. An operator more than one level deeper than the one above
is no input of that but inside it: a subquery, the plan of a cached relation, the logical plan of a
command.
"""

from __future__ import annotations

import re
from collections import defaultdict

from dbt_graft.collectors.spark.plans.tree import Operator, PlanText

_HEADER = re.compile(r"== (?P<title>[A-Z][A-Za-z ]{1,40}) ==")
_SUBQUERY = re.compile(r"Subquery:\d{1,9} Hosting operator id = ")
_SUBQUERY_ID = re.compile(r"(?:sub|dynamicpruning)\w*#(?P<id>\d{1,18})")
_SECTION = re.compile(r"\((?P<number>\d{1,9})\) (?P<word>\S+)")
_KEY = re.compile(r"(?P<key>[A-Z][A-Za-z ]{0,40}?)(?: \[(?P<size>\d{1,9})\])? ?: ?")
_NUMBERED = re.compile(r" \((?P<number>\d{1,9})\)$")
_CODEGEN = re.compile(r"\*(?:\(\d{1,9}\))? ")
_REMARK = (" (columnarIn=", ", Statistics(")
_NAME = re.compile(r"(?:Execute )?[\w$.]+")
_REUSABLE = ("Exchange", "Subquery", "SubqueryBroadcast")
_REUSES = re.compile(r"\[Reuses operator id: (?P<number>\d{1,9})\]")
_PHYSICAL, _ANALYSED, _OPTIMISED = (
    "Physical Plan",
    "Analyzed Logical Plan",
    "Optimized Logical Plan",
)
# Fields that end with their bracket: a source's own text may follow.
_LISTS = ("Output", "Input")
_DESCRIPTION = "CatalogTable("
_PHASES = frozenset({"Final Plan", "Current Plan", "Initial Plan"})


def parse_text(text: str) -> PlanText:
    """Return the plans of a text; never raises, and other text has none."""
    reader = _PlanReader()
    for line in text.splitlines():
        reader.read(line)
    return reader.finish()


class _PlanReader:
    def __init__(self) -> None:
        self.plan = PlanText()
        self.title = _PHYSICAL
        self.formatted = False
        # Operators by their numbers and the first words of their names.
        self.numbered: dict[tuple[str, str], list[Operator]] = defaultdict(list)
        # Those of them without a section so far; the last is described first.
        self.undescribed: dict[tuple[str, str], list[Operator]] = defaultdict(list)
        self.reused: list[tuple[Operator, str]] = []
        self.above: list[tuple[int, Operator]] = []
        self.last: Operator | None = None
        self.section: Operator | None = None
        self.key = ""
        self.open_brackets = 0
        self.schema = False
        # Further lines of literals with line breaks, by the operator that they belong to.
        self.more: dict[int, tuple[Operator, list[str]]] = {}
        self.values: list[str] = []
        self.hosted: int | None = None
        self.final = False
        self.skips: int | None = None
        self.expected = 0
        self.placed: set[Operator] = set()

    def read(self, line: str) -> None:
        if match := _HEADER.fullmatch(line):
            self.begin(match["title"])
        elif line.startswith("=====") or _SUBQUERY.match(line):
            self.begin(_PHYSICAL)
            hosted = _SUBQUERY_ID.search(line)
            self.hosted = int(hosted["id"]) if hosted else -1
        elif (head := _SECTION.match(line)) and head.group("number", "word") in self.numbered:
            self.describe((head["number"], head["word"]), line)
        elif self.section is not None and not self.key and head:
            self.section = Operator("")  # of a plan that did not run
        elif self.section is not None:
            self.field(line)
        elif self.schema:
            self.schema = False  # the columns of the analysed plan come before it
        elif line.strip():
            self.node(line)

    def begin(self, title: str) -> None:
        self.close()
        self.title, self.above, self.section, self.last = title, [], None, None
        self.hosted, self.final, self.skips, self.expected = None, False, None, 0
        self.schema = title == _ANALYSED

    def describe(self, head: tuple[str, str], line: str) -> None:
        self.close()
        # Spark 3.1 uses the numbers below a cached relation again above it.
        waiting = self.undescribed[head]
        self.section = waiting.pop() if waiting else self.numbered[head][0]
        if match := _REUSES.search(line):
            self.reused.append((self.section, match["number"]))

    def field(self, line: str) -> None:
        # A table's description has lines that look like fields.
        match = None if self.open_brackets > 0 and line else _KEY.match(line)
        if match or not line:
            self.close()
        if match:
            self.key, self.values = match["key"].rstrip(), [line[match.end() :]]
            if self.section and match["size"]:
                self.section.sizes[self.key] = int(match["size"])
        elif self.key and not (self.key in _LISTS and self.values[-1].endswith("]")):
            self.values.append(line)
        _, _, described = line.rpartition(_DESCRIPTION)
        if self.open_brackets > 0 or described != line:
            self.open_brackets += (described != line) + described.count("(") - described.count(")")

    def close(self) -> None:
        if self.section and self.key:
            self.section.fields[self.key] = "\n".join(self.values)
        self.key = ""
        self.open_brackets = 0

    def node(self, line: str) -> None:
        at = 0
        while line.startswith(("   ", ":  "), at):
            at += 3
        branch = line.startswith(("+- ", ":- "), at)
        at += 3 * branch
        depth = at // 3
        if self.skips is not None and depth > self.skips:
            return  # also the phases of cached plans inside it
        phase = _HEADER.fullmatch(line, at)
        if phase and phase["title"] in _PHASES:
            # Of an adaptive plan's two trees only one is the plan that ran.
            initial = phase["title"] == "Initial Plan"
            self.skips = depth if initial and self.final else None
            self.final = self.final or not initial
            self.expected = depth
            return
        if self.skips is not None and depth >= self.skips:
            return
        self.skips = None
        if branch or depth == self.expected:
            self.expected = -1
            self.place(depth, self.operator(line[at:]))
        elif self.last is not None:
            self.more.setdefault(id(self.last), (self.last, []))[1].append(line)

    def operator(self, text: str) -> Operator:
        text = _CODEGEN.sub("", text, count=1) if text.startswith("*") else text
        text = text.removeprefix("'")  # unresolved
        for remark in _REMARK:
            head, mark, _ = text.rpartition(remark)
            text = head if mark and _NUMBERED.search(head[-16:]) else text
        if match := _NUMBERED.search(text[-16:]):
            name = text[: len(text) - len(match.group())].strip()
            same = self.numbered[match["number"], name.partition(" ")[0]]
            if self.hosted is None or not same:
                same.append(Operator(name))
                self.undescribed[match["number"], name.partition(" ")[0]].append(same[-1])
            self.formatted = True
            return same[-1]
        word = _NAME.match(text)
        end = word.end() if word else 0
        return Operator(text[:end], text[end:].strip())

    def place(self, depth: int, operator: Operator) -> None:
        while self.above and self.above[-1][0] >= depth:
            self.above.pop()
        if self.above:
            level, parent = self.above[-1]
            if operator not in self.placed:
                (parent.children if depth == level + 1 else parent.inside).append(operator)
        elif self.last is None:
            self.root(operator)
        self.placed.add(operator)
        self.above.append((depth, operator))
        self.last = operator

    def root(self, operator: Operator) -> None:
        if self.hosted is not None:
            self.plan.subqueries.setdefault(self.hosted, operator)
        elif self.title == _PHYSICAL and self.plan.root is None:
            self.plan.root = operator
        elif self.title == _OPTIMISED:
            self.plan.optimised = operator

    def share(self, head: tuple[str, str]) -> bool:
        """Give operators of one number its section: Spark 4 shows a cached plan for each use of it.

        Returns:
            Whether the number has a section.
        """
        waiting = self.undescribed[head]
        described = [other for other in self.numbered[head] if other not in waiting]
        for operator in waiting:
            for other in described[:1]:
                operator.fields, operator.sizes = other.fields, other.sizes
        return bool(described) or not waiting

    def finish(self) -> PlanText:
        self.close()
        for operator, lines in self.more.values():
            operator.text = "\n".join([operator.text, *lines])
        reusable = {
            number: same[-1]
            for (number, word), same in self.numbered.items()
            if word.endswith(_REUSABLE)
        }
        for operator, number in self.reused:
            operator.reuses = reusable.get(number)
        self.plan.is_formatted = self.formatted
        if self.formatted:
            self.plan.is_cut = not all(map(self.share, self.undescribed))
        return self.plan
