# lineage
# dw.active_customers = dbo.customers: customer_id
# dw.active_customers.email <- dbo.customers.email: transformation
# dw.active_customers.segment <- dbo.customers.segment: transformation
# dw.active_customers.* <- dbo.customers.is_active: filter
import db
from cleaning import lower_columns, only_active

customers = db.fetch("SELECT customer_id, email, segment, is_active FROM dbo.customers")
customers = only_active(lower_columns(customers, "email", "segment"))
db.store(customers, "active_customers")
