"""Questions of a project, as input of `dbt_graft.analysis`."""
