select
    supplier_id,
    supplier_name,
    country as supplier_country,
    lead_time_days,
    rating
from {{ source('erp', 'suppliers') }}
