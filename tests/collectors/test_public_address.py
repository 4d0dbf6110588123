"""Addresses and commands that are published hold no user, password or token."""

from __future__ import annotations

import pytest

from dbt_graft.collectors.public_address import public_address, public_command
from tests.cases import for_each


@for_each(
    "address",
    [
        "",
        "etl/load_orders.py",
        "git@github.com:shop/etl.git",
        "ssh://git@github.com/shop/etl.git",
        "https://github.com/shop/etl/blob/main/load.py#L7-L9",
        "https://wiki.example/page?title=Tokens&author=@jane",
        "https://bi.example/d/1?tokenizer=a&keyword=sig",
        "abfss://box@acc.dfs.core.windows.net/orders",
        "mssql://crm:1433/Shop.dbo.Orders",
    ],
)
def test_an_address_without_a_secret_stays(address: str) -> None:
    assert public_address(address) == address


@for_each(
    "address",
    [
        "https://ghp_a1b2@github.com/shop/etl",
        "https://x-access-token:ghp_a1b2@github.com/shop/etl",
        "HTTPS://oauth2:t@gitlab.com/shop/etl.git",
        "ssh://jane@git.example/etl.git",
        "ssh://git:pass@git.example/etl.git",
        "hdfs://jane@nn:8020/landing/orders",
        "s3a://KEY:SECRET@bucket/orders",
        "abfss://box:key@acc.dfs.core.windows.net/orders",
        "https://acc.blob.core.windows.net/x?sv=2024-01-01&sig=abc%3D",
        "https://gitlab.com/x?private_token=glpat",
        "https://s3.example/x?X-Amz-Signature=ab12",
        "https://bi.example/#access_token=ab12",
        "https://bi.example/d/1?apikey=1&x=2",
    ],
)
def test_an_address_with_a_secret_is_refused_without_repeating_it(address: str) -> None:
    with pytest.raises(ValueError, match="is published: write the URL without") as caught:
        public_address(address)
    assert "://" not in str(caught.value)


@for_each(
    "command",
    [
        "",
        "airflow tasks clear load_orders -s '2026-11-01' -y",
        "spark-submit --conf spark.sql.shuffle.partitions=8 tasks/load.py",
        'curl -H "Authorization: Bearer $TOKEN" -X POST https://airflow.example/api/v2/dags/load',
        "load --password $PGPASSWORD --token {{ token }} --secret <secret>",
        "PGPASSWORD=$PASSWORD make load",
        "curl -u $USER:$PASSWORD https://jenkins.example/job/load/build",
        "load --tokenizer words --secret-scope shop",
    ],
)
def test_a_command_without_a_secret_stays(command: str) -> None:
    assert public_command(command) == command


@for_each(
    "command",
    [
        "curl https://jane:hunter2@jenkins.example/job/load/build",
        "curl 'https://jenkins.example/job/load/build?token=hunter2'",
        "load --password hunter2",
        "PGPASSWORD=hunter2 make load",
        "load --api-key=hunter2",
        'load --token "hunter2"',
        "curl -u jane:hunter2 https://jenkins.example/job/load/build",
        "curl -ujane:hunter2 https://jenkins.example/job/load/build",
    ],
)
def test_a_command_with_a_secret_is_refused_without_repeating_it(command: str) -> None:
    with pytest.raises(ValueError, match="is published: write") as caught:
        public_command(command)
    assert "hunter2" not in str(caught.value)
