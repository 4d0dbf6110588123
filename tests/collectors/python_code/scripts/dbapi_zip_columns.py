# lineage
# dw.rate_list = dbo.rates: currency
# dw.rate_list.inverse <- dbo.rates.rate: transformation
import pyodbc

conn = pyodbc.connect("DSN=shop")
cur = conn.cursor()
cur.execute("SELECT currency, rate FROM dbo.rates")
columns = [column[0] for column in cur.description]
dicts = [dict(zip(columns, row)) for row in cur.fetchall()]
cur.executemany(
    "INSERT INTO dw.rate_list (currency, inverse) VALUES (?, ?)",
    [(d["currency"], 1 / d["rate"]) for d in dicts],
)
conn.commit()
