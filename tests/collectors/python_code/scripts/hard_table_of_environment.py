# lineage
# ? the target stands in the environment
# runs not: the environment decides
import os

import pandas as pd
from sqlalchemy import create_engine

engine = create_engine(os.environ["DWH_URL"])
df = pd.read_sql("SELECT country, rate FROM dbo.taxes", engine)
df.to_sql(os.environ["TARGET"], engine, schema="dw", if_exists="replace", index=False)  # gap
