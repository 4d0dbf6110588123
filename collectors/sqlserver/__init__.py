"""SQL Server Extended Events -> accesses: what each task's sessions read and wrote.

The road, a package a stretch: `files` and `odbc` give events, `runs` folds them to what each run
said, `meaning` tells which datasets that reads and writes, `tables` makes the store's tables of it,
and `collect` puts them in a row on Spark. `server` asks a server what its log does not tell.
"""
