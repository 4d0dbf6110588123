"""`python -m dbt_graft`."""

from dbt_graft.graft.cli import main

main()
