# lineage
# reads inbox/rates.csv(currency, rate, day)
# dw.fx_rates = inbox/rates.csv: currency as code
# dw.fx_rates.rate <- inbox/rates.csv.rate: transformation
# dw.fx_rates.* <- inbox/rates.csv.rate: filter
import csv

import pyodbc

rows = []
with open("inbox/rates.csv", newline="") as handle:
    for line in csv.DictReader(handle):
        if not line["rate"]:
            continue
        rows.append((line["currency"], float(line["rate"])))

conn = pyodbc.connect("DSN=dwh")
conn.cursor().executemany("INSERT INTO dw.fx_rates (code, rate) VALUES (?, ?)", rows)
conn.commit()
