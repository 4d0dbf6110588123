# lineage
# out/late_invoices.csv = dbo.invoices: invoice_id
# out/late_invoices.csv.gross <- dbo.invoices.(amount, vat): transformation
# out/late_invoices.csv.segment <- dbo.customers.segment: transformation
# out/late_invoices.csv.* <- dbo.invoices.customer_id, dbo.customers.customer_id: join
# out/late_invoices.csv.* <- dbo.invoices.amount: filter
# out/late_invoices.csv.* <- dbo.invoices.invoice_id: sort
import polars as pl
import pyodbc

conn = pyodbc.connect("DSN=erp")
invoices = pl.read_database("SELECT invoice_id, customer_id, amount, vat FROM dbo.invoices", conn).lazy()
customers = pl.read_database("SELECT customer_id, segment FROM dbo.customers", conn).lazy()

late = (
    invoices.filter(pl.col("amount") > 100)
    .join(customers, on="customer_id", how="left")
    .with_columns(
        gross=(pl.col("amount") + pl.col("vat")).round(2),
        segment=pl.col("segment").fill_null("none").str.to_uppercase(),
    )
    .sort("invoice_id")
    .select("invoice_id", "gross", "segment")
    .collect()
)
late.write_csv("out/late_invoices.csv")
