select
    customers.customer_id,
    customers.country,
    customers.lifetime_value_eur,
    scores.value_score,
    scores.churn_score,
    case
        when scores.customer_id is null then 'never ordered'
        when scores.value_score >= 0.75 and scores.churn_score < 0.5 then 'champion'
        when scores.value_score >= 0.75 then 'win back'
        when scores.churn_score >= 0.5 then 'lapsed'
        else 'regular'
    end as segment
from {{ ref('customers') }} as customers
left join {{ source('ml', 'customer_scores') }} as scores
    on customers.customer_id = scores.customer_id
