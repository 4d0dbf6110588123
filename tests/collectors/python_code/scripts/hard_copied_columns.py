# lineage
# exists dw.rates(currency, rate)
# dw.rates.* <~ dbo.rates.(currency, rate): identity
# dw.rates.* ? the names of columns are those of a query
import pyodbc

source = pyodbc.connect("DSN=shop").cursor()
target = pyodbc.connect("DSN=dw").cursor()
source.execute("SELECT * FROM dbo.rates")
columns = [f"[{column[0]}]" for column in source.description]
insert = f"INSERT INTO dw.rates ({','.join(columns)}) VALUES ({','.join(['?'] * len(columns))})"
target.executemany(insert, source.fetchall())  # gap
