# lineage
# runs not: the model is not there
# dw.segments_predicted = dbo.customers: customer_id
# dw.segments_predicted.segment ? a model
# dw.segments_predicted.segment <~ dbo.customers.(credit_limit, is_active): transformation
# dw.segments_predicted.segment <~ dbo.customers.customer_id: transformation
import pandas as pd
from models import labels, model
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://crm")
df = pd.read_sql("SELECT customer_id, credit_limit, is_active FROM dbo.customers", engine)
features = df[["credit_limit", "is_active"]]
prediction = model.predict(features)  # gap
df["segment"] = [labels[str(list(row).index(max(list(row))))] for row in prediction]  # gap
df[["customer_id", "segment"]].to_sql("segments_predicted", engine, schema="dw", if_exists="replace", index=False)  # gap
