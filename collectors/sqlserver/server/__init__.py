"""Questions to a SQL Server: a snapshot of its catalog, the state of an event session."""
