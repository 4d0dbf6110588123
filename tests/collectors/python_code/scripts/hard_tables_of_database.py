# lineage
# ? the tables are those of a server
# runs not: the tables are read at run time
import pyodbc

src = pyodbc.connect("DSN=shop")
dst = pyodbc.connect("DSN=lake")
tables = src.cursor().execute("SELECT name FROM sys.tables").fetchall()
for (table,) in tables:
    cur = src.cursor()
    cur.execute(f"SELECT * FROM dbo.[{table}]")  # gap
    names = [c[0] for c in cur.description]
    marks = ",".join("?" * len(names))
    dst.cursor().executemany(f"INSERT INTO raw.[{table}] ({','.join(names)}) VALUES ({marks})", cur.fetchall())  # gap
dst.commit()
