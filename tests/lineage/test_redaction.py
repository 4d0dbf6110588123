"""Names, addresses and texts lose their secrets, and nothing else."""

from __future__ import annotations

import pytest

from dbt_graft.lineage.dataset import DatasetId, parse_dataset_id
from dbt_graft.lineage.redaction import (
    redact_code,
    redact_json,
    redact_link,
    redact_name,
    redact_text,
)
from tests.cases import for_each

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"
NAMES = [
    ("https://api.test/export.csv?token=pQZ", "https://api.test/export.csv"),
    ("export.csv?token=a/b/c", "export.csv"),
    ("x?a=1&token=pQZ", "x"),
    ("x%3Ftoken%3DpQZ", "x"),
    ("x%253Ftoken%253DpQZ", "x"),
    ("x#access_token=pQZ", "x"),
    ("token=pQZ", "redacted"),
    ("snowflake://acc?warehouse=w&db=d&schema=s", "snowflake://acc?db=d&schema=s"),
    ("mysql://h:3306?user=u&pwd=pQZ", "mysql://h:3306"),
    ("vertica://h:5433?Password=pQZ", "vertica://h:5433"),
    (
        "jdbc:sqlserver://h:1433;user=sa;password={p;QZ};databaseName=Shop",
        "jdbc:sqlserver://h:1433;databaseName=Shop",
    ),
    ("jdbc:oracle:thin:scott/tiger@//h:1521/svc", "jdbc:oracle:thin:@//h:1521/svc"),
    ("jdbc:oracle:thin:scott/tiger@h:1521:orcl", "jdbc:oracle:thin:@h:1521:orcl"),
    ("oracle:thin:scott/tiger@//h:1521/svc", "oracle:thin:@//h:1521/svc"),
    ('JDBC:ORACLE:thin:scott/"t@ger"@//h:1521/svc', "JDBC:ORACLE:thin:@//h:1521/svc"),
    ("jdbc:oracle:thin:scott/t@ger@h:1521:orcl", "jdbc:oracle:thin:@h:1521:orcl"),
    ("host=h port=5432 dbname=shop user=u password=pQZ", "host=h port=5432 dbname=shop"),
    (
        "Driver={ODBC};Server=tcp:h,1433;Database=Shop;Uid=u;Pwd={p;QZ}",
        "Server=tcp:h,1433;Database=Shop",
    ),
    (
        "Endpoint=sb://ns.test/;SharedAccessKeyName=n;SharedAccessKey=pQZ=;EntityPath=orders",
        "Endpoint=sb://ns.test/;EntityPath=orders",
    ),
    ("postgres://u:pQZ@h:5432", "postgres://h:5432"),
    ("postgres://u:p/Q@Z@h:5432/db", "postgres://h:5432/db"),
    ("scott:tiger@h:1521", "h:1521"),
    ('"login":"u","password":"pQZ","host":"h"}.public.orders', "h.public.orders"),
    ('{"password": "p\\"QZ", "host": "h", "port": 1, "schema": "db"}.t', "h:1.db.t"),
    ("{'password': 'pQZ', 'host': 'h'}.t", "h.t"),
    ('{\\"password\\":\\"pQZ\\"}.public.t', "public.t"),
    ("%7B%22password%22%3A%22pQZ%22%7D.t", "t"),
    ('{"password":"pQZ', "redacted"),
    ("x/AKIAIOSFODNN7EXAMPLE/y", "x/redacted/y"),
    ("raw.ghp_abcdefghijklmnopqrstuvwxyz012345", "raw.redacted"),
    (f"x/{JWT}/y", "x/redacted/y"),
    ("https://hooks.slack.com/services/T0/B0/pQZ", "https://hooks.slack.com/services/redacted"),
    ("/landing/x;password=pQZ", "/landing/x"),
    ("jdbc:teradata://h/DATABASE=shop,USER=u,PASSWORD=pQZ", "jdbc:teradata://h;DATABASE=shop"),
]
SAME = [
    "mssql://crm\\sales:1433",
    "Shop.dbo.Orders",
    "Shop.dbo.[Order Lines; new]",
    "abfss://box@acc.dfs.core.windows.net",
    "s3://lake/t/dt=2026-01-01/hour=5/token=7",
    "/landing/a;b=c/orders",
    "C:\\exports;old\\a",
    "schema.table@dblink",
    "http://h:8080/x@y",
    "/t/part-00000-3f2a9c00-1111-2222-3333-444455556666-c000.snappy.parquet",
    "/commits/4f1c9be2a7d34c5f9be2a7d34c5f4f1c9be2a7d3",
    "eth.0x1D3be4d05Eba2aA6c4eEdE85a74fC8429803DCdA",
    "OrdersByRegionAndCustomer2024Q3FinalVersion2Backup",
    "https://docs.google.com/spreadsheets/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit",
    "a%20b",
]


@for_each("name, clean", NAMES)
def test_of_a_name_only_what_identifies_data_is_left(name: str, clean: str) -> None:
    assert redact_name(name) == clean
    assert redact_name(clean) == clean


@for_each("name", SAME)
def test_a_name_without_a_secret_stays(name: str) -> None:
    assert redact_name(name) == name


def test_two_random_words_stay_two_names() -> None:
    first, second = (
        redact_name(f"https://api.test/{word}/x")
        for word in ("q7Xb2LmZ9vRt4KpW8sYc3NdF6gHj1QaE", "z7Xb2LmZ9vRt4KpW8sYc3NdF6gHj1QaE")
    )
    assert first.startswith("https://api.test/redacted-")
    assert first != second


def test_every_dataset_is_named_without_secrets() -> None:
    dataset = DatasetId("postgres://u:pQZ@h:5432", "shop.public.orders?password=pQZ")
    assert dataset == DatasetId("postgres://h:5432", "shop.public.orders")
    assert str(dataset) == "postgres://h:5432/shop.public.orders"


def test_an_error_about_a_name_does_not_repeat_its_secret() -> None:
    with pytest.raises(ValueError, match="is not a dataset") as caught:
        parse_dataset_id("jdbc:sqlserver:h;password=pQZ")
    assert "pQZ" not in str(caught.value)


@pytest.mark.parametrize(
    ("address", "clean"),
    [
        ("https://bi.test/d/1?tab=3&title=Tokens", None),
        ("https://bi.test/d/1?tab=3&api_key=pQZ", "https://bi.test/d/1"),
        ("https://jane@bi.test/d/1?tab=3", "https://bi.test/d/1"),
        ("git@github.com:shop/etl.git", None),
        ("ssh://git@github.com/shop/etl.git", None),
    ],
)
def test_a_link_keeps_its_parameters_unless_one_is_a_secret(
    address: str, clean: str | None
) -> None:
    assert redact_link(address) == (clean or address)


@for_each(
    "text, expected",
    [
        ("Orders of all shops.", None),
        ("See https://wiki.example/orders#columns, or [s3](s3://bucket/key).", None),
        ("At https://ann:pw@db.example/x?y=1 since 2020", "At https://db.example/x since 2020"),
        ("(s3a://KEY:SECRET@bucket/orders) and more", "(s3a://bucket/orders) and more"),
        ("`https://x/y?token=abc`", "`https://x/y`"),
        ("a://b:c@d\ne://f:g@h", "a://d\ne://h"),
        ("with PGPASSWORD=hunter2 set", "with PGPASSWORD=redacted set"),
        ('extra: {"password": "hunter2"}', 'extra: {"password": "redacted"}'),
        ("Authorization: Bearer abcdefgh12345678", "Authorization: Bearer redacted"),
        ("password=$PASSWORD and token={{ token }}, key=''", None),
        ("log in with password: hunter2pw, then", "log in with password: redacted, then"),
        ("X-Api-Key: hunter2pw", "X-Api-Key: redacted"),
        ("password: hashed, api_key: of the shop, token: see wiki", None),
        (
            "load --password hunter2pw --table t1_orders",
            "load --password redacted --table t1_orders",
        ),
        ("curl -u ann:hunter2 https://x.test", "curl -u ann:redacted https://x.test"),
        ("sqlcmd -S h -U sa -P hunter2 -Q x", "sqlcmd -S h -U sa -P redacted -Q x"),
        ("bcp dbo.t out f -Usa -Phunter2 -c", "bcp dbo.t out f -Usa -Predacted -c"),
        ('run(["sqlcmd", "-P", "hunter2"])', 'run(["sqlcmd", "-P", "redacted"])'),
        ("mysqldump -u r -phunter2 db", "mysqldump -u r -predacted db"),
        ("sshpass -p 'hunter2' scp a b", "sshpass -p 'redacted' scp a b"),
        ("sqlcmd -S h -P $PASS; bcp t out f -T; mysql -p; the --password is asked for", None),
        ("export SNOWSQL_PWD=hunter2", "export SNOWSQL_PWD=redacted"),
        ("PASSWORD = N'hunter2'", "PASSWORD = N'redacted'"),
        ('password = b"hunter2"', 'password = b"redacted"'),
        ("fs.s3a.secret.key=hunter2", "fs.s3a.secret.key=redacted"),
        ("fs.azure.account.key.a.net=hunter2", "fs.azure.account.key.a.net=redacted"),
        ("DBT_ENV_SECRET_GIT=hunter2", "DBT_ENV_SECRET_GIT=redacted"),
        ("<password>hunter2</password>", "<password>redacted</password>"),
        ("The token: an id of the session. Basic cleaning/standardization", None),
        (f"call it with {JWT}.", "call it with redacted."),
        ("at jdbc:oracle:thin:scott/hunter2@h:1:orcl", "at jdbc:oracle:thin:@h:1:orcl"),
        ("url('jdbc:Oracle:oci:scott/hunter2@tns', 'a@b')", "url('jdbc:Oracle:oci:@tns', 'a@b')"),
        ("jdbc:sqlserver://h:1;user=sa;password=p at 8", "jdbc:sqlserver://h:1 at 8"),
    ],
)
def test_a_text_keeps_its_words_without_their_secrets(text: str, expected: str | None) -> None:
    assert redact_text(text) == (text if expected is None else expected)


@pytest.mark.parametrize(
    ("code", "clean"),
    [
        ("on a.token = b.token and c.token=b.token", None),
        ("config(password=var('pw'), token=env_var('T'))", None),
        ("where api_token = 'pQZ' and x = 'y'", "where api_token = 'redacted' and x = 'y'"),
        ('connect(password="pQZ", user="u")', 'connect(password="redacted", user="u")'),
        ("read('s3://KEY:pQZ@box/x?sig=pQZ')", "read('s3://box/x')"),
        ('.option("password", "pQZ").load()', '.option("password", "redacted").load()'),
        ("where kind in ('password', 'oauth')", None),
        ("create login a with password 'pQZ'", "create login a with password 'redacted'"),
        ("alter user a identified by 'pQZ'", "alter user a identified by 'redacted'"),
        ("f(password => 'pQZ')", "f(password => 'redacted')"),
        ('client_secret: "pQZ"', 'client_secret: "redacted"'),
        ("password: \"{{ env_var('PW') }}\"", None),
        ("openrowset('a', 'h';'u';'pQZ', 'q')", "openrowset('a', 'h';'u';'redacted', 'q')"),
        (
            "exec sp_addlinkedsrvlogin 'h', 'false', null, 'u', N'pQZ';",
            "exec sp_addlinkedsrvlogin 'h', 'false', null, 'u', N'redacted';",
        ),
    ],
)
def test_of_code_only_literals_are_redacted(code: str, clean: str | None) -> None:
    assert redact_code(code) == (clean or code)


@for_each(
    "key, value, clean",
    [
        ("password", "hunter", "redacted"),
        ("aws_secret_access_key", "pQZ", "redacted"),
        ("api_key", "{{ env_var('KEY') }}", None),
        ("password", "of the shop's user", None),
        ("access_token", "pQZ12345", "redacted"),
        ("token", "session", None),
        ("auth", "oauth", None),
        ("unique_key", "order_id", None),
        ("primary_key", "order_id", None),
    ],
)
def test_below_the_key_of_a_password_a_word_is_one(key: str, value: str, clean: str | None) -> None:
    assert redact_json({"meta": {key: value}}) == {"meta": {key: clean or value}}
