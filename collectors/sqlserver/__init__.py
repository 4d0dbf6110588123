"""SQL Server Extended Events -> accesses."""
