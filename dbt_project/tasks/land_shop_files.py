"""Land the web shop's nightly files in the tables of schema raw."""

from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

LANDING = Path(__file__).resolve().parent.parent / "landing"

ORDERS = """
    order_id INT, customer_id INT, product_id INT, quantity INT, unit_price DECIMAL(10,2),
    currency STRING, status STRING, ordered_at TIMESTAMP
"""
CUSTOMERS = """
    customer_id INT, first_name STRING, last_name STRING, email STRING, country STRING,
    signed_up_on DATE, newsletter BOOLEAN
"""
PAYMENTS = """
    payment_id INT, order_id INT, method STRING, amount DECIMAL(10,2), currency STRING,
    paid_at TIMESTAMP
"""

spark = SparkSession.builder.appName("land_shop_files").enableHiveSupport().getOrCreate()
spark.sql("CREATE DATABASE IF NOT EXISTS raw")

orders = spark.read.csv(str(LANDING / "orders"), schema=ORDERS, header=True)
orders.write.mode("overwrite").saveAsTable("raw.orders")

# The address itself never enters the warehouse.
customers = spark.read.json(str(LANDING / "customers"), schema=CUSTOMERS)
(
    customers.withColumn("email_hash", sf.sha2(sf.lower("email"), 256))
    .drop("email")
    .write.mode("overwrite")
    .saveAsTable("raw.customers")
)

payments = spark.read.csv(str(LANDING / "payments"), schema=PAYMENTS, header=True)
payments.createOrReplaceTempView("landed_payments")
spark.sql(f"CREATE TABLE IF NOT EXISTS raw.payments ({PAYMENTS}) USING parquet")
spark.sql("""
    INSERT OVERWRITE TABLE raw.payments
    SELECT payment_id, order_id, method, amount, currency, paid_at FROM landed_payments
""")

spark.stop()
