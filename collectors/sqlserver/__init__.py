"""SQL Server Extended Events -> accesses: what each task's sessions read and wrote.

`files` and `odbc` give events, `runs` folds them to what each run sent, `resolution` finds the
datasets behind the names in it, and `rows` makes the store's rows. `collect` is the door: it puts
them in a row on Spark. `server` asks a server for what its log does not hold.
"""
