"""SQL Server Extended Events -> the lineage store: the datasets that each task read and wrote.

`source` is the door. `files` and `odbc` give events, `runs` folds them to the statements of each
run, `resolution` finds the datasets that they name, and `rows` makes the rows of the store;
`collect` runs all of it on Spark. `server` asks a server for what its log does not hold: table
columns, views, procedures, and the definition of its event session.
"""
