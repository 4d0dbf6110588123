# lineage
# dw.birthdays = dbo.customers: customer_id
# dw.birthdays.name <- dbo.customers.(first_name, last_name): transformation
# dw.birthdays.day <- dbo.customers.birth_date: transformation
import pandas as pd
import pyodbc

conn = pyodbc.connect("DSN=crm")
customers = pd.read_sql("SELECT customer_id, first_name, last_name, birth_date FROM dbo.customers", conn)
rows = []
for index, row in customers.iterrows():
    rows.append((row["customer_id"], row["first_name"] + " " + row["last_name"], str(row["birth_date"])[5:10]))
cur = conn.cursor()
cur.fast_executemany = True
cur.executemany("INSERT INTO dw.birthdays (customer_id, name, day) VALUES (?, ?, ?)", rows)
conn.commit()
conn.close()
