# lineage
# dw.by_position.* ? the INSERT names no columns
# dw.by_position.* <~ dbo.rates.(currency, rate): identity
# runs not: the table's columns are unknown
import pyodbc

conn = pyodbc.connect("DSN=shop")
cur = conn.cursor()
rows = cur.execute("SELECT currency, rate FROM dbo.rates").fetchall()
cur.executemany("INSERT INTO dw.by_position VALUES (?, ?)", rows)  # gap
conn.commit()
