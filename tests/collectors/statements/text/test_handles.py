"""The handles of prepared statements, one line a captured call."""

# ruff: noqa: E501 (one line a case)

from dbt_graft.collectors.statements.text.handles import Handle, HandleAction, handle
from tests.cases import for_each

# fmt: off
CASES = [
    ("declare @p1 int set @p1=3442 exec sp_prepare @p1 output,NULL,N'SELECT 1' select @p1", 3442, "prepare"),
    ("declare @p1 int\nset @p1=7\nexec sp_prepexec @p1 output,N'@P1 int',N'INSERT t VALUES(@P1)',5\nselect @p1", 7, "prepare"),
    ("declare @p1 int set @p1=12 exec sp_prepexecrpc @p1 output,N'dbo.p',1 select @p1", 12, "prepare"),
    ("DECLARE @P1 INT SET @P1 = 12 EXEC SP_PREPARE @P1 OUTPUT,NULL,N'SELECT 1'", 12, "prepare"),
    ("declare @p1 int set @p1=180 declare @p2 int set @p2=1 exec sp_cursorprepexec @p1 output,@p2 output,N'',N'x'", 180, "prepare"),
    ("exec sp_execute 3442,8,N'x'", 3442, "execute"),
    ("exec sp_cursorexecute 9,@p2 output", 9, "execute"),
    ("exec sp_unprepare 3442", 3442, "unprepare"),
    ("exec sp_cursorunprepare 9", 9, "unprepare"),
]
# fmt: on


@for_each("text, number, act", CASES)
def test_a_call_shows_its_handle(text: str, number: int, act: str) -> None:
    assert handle(text) == Handle(number, HandleAction(act))


@for_each(
    "text",
    [
        "declare @p1 int exec sp_prepare @p1 output,NULL,N'SELECT 1'",
        "declare @p1 int set @p1=NULL exec sp_prepexec @p1 output,NULL,N'SELECT 1'",
        "exec sp_executesql N'SELECT * FROM t WHERE a=@a',N'@a int',@a=5",
        "SELECT 1",
        "exec sp_execute",
        "exec sp_execute @h",
        "",
        "x" * 5_000_000,
    ],
)
def test_a_call_without_a_number_shows_none(text: str) -> None:
    assert handle(text) is None
