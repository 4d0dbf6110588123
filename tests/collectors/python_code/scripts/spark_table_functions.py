# lineage
# runs not: needs Spark
# dw.customer_clean = crm.customers: id as customer_id
# dw.customer_clean.email <- crm.customers.email: transformation
# dw.customer_clean.loaded <- nothing
# dw.customer_clean.* <- crm.customers.email: filter
import pandas as pd
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()


def clean(frame: pd.DataFrame) -> pd.DataFrame:
    frame = frame[frame["email"].notna()].copy()
    frame["email"] = frame["email"].str.lower()
    frame["loaded"] = pd.Timestamp.utcnow()
    return frame.rename(columns={"id": "customer_id"})


source = spark.table("crm.customers").select("id", "email")
result = clean(source.toPandas())
spark.createDataFrame(result).write.mode("append").saveAsTable("dw.customer_clean")
