# lineage
# dw.tax_rates = dbo.taxes: country as code, rate as percent
import pyodbc

SELECT = "SELECT country, rate FROM dbo.taxes"
INSERT = "INSERT INTO dw.tax_rates (code, percent) VALUES (?, ?)"


def copy_rows(source, target, size=2):
    read, write = source.cursor(), target.cursor()
    read.execute(SELECT)
    while True:
        batch = read.fetchmany(size)
        if not batch:
            break
        write.executemany(INSERT, batch)
        target.commit()


with pyodbc.connect("DSN=shop") as source, pyodbc.connect("DSN=dwh") as target:
    copy_rows(source, target)
