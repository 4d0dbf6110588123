"""Settings of dbt's nodes: what each decides on, and how much it matters that it is another.

The names are those of dbt's configuration and of its adapters:
https://docs.getdbt.com/reference/configs-and-properties
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from dbt_graft.analysis.impact.change import ChangeType
from dbt_graft.analysis.review.node_change import NodeChange, ReviewVerdict

_V = ReviewVerdict


class ReviewedSetting(NamedTuple):
    """A setting of a node.

    Attributes:
        value: Its digest.
        written: The digest of how it is written, with its Jinja; empty where that is not known.
        shown: The value, if it is a plain word or number.
        by_environment: Whether it is written so that the target or an environment variable decides.
        is_unread: Whether neither a macro nor the node's own code names it.
    """

    value: str
    written: str = ""
    shown: str = ""
    by_environment: bool = False
    is_unread: bool = False


Settings = Mapping[str, ReviewedSetting]

_REPLACED = "it decides which rows a run replaces"
_SNAPSHOT = "it decides which versions of a row are kept"
_STORED = "it decides how the table is stored"
_RUN = "it decides how it runs"
_BUILT = "it decides what a run builds anew"
_LOADED = "it decides how the file is read"
_STATEMENT = "a statement that runs with it may change rows"
_TESTED = "it decides what the test finds, or whether it fails"
_SEMANTIC = "it decides on the numbers that are asked for"

_REASONS: dict[ReviewVerdict, dict[str, str]] = {
    _V.ROWS: {
        _STATEMENT: """pre-hook post-hook pre_hook post_hook sql_header packages imports
            additional_libs environment_key environment_dependencies""",
        _REPLACED: """incremental_strategy unique_key incremental_predicates predicates lookback
            begin batch_size event_time merge_update_columns merge_exclude_columns
            merge_clauses merge_with_schema_evolution matched_condition not_matched_condition
            skip_matched_step skip_not_matched_step skip_non_matched_step
            not_matched_by_source_action not_matched_by_source_condition
            partition_by partitions partition_type target_alias source_alias
            delta_table_path insert_overwrite_partitions
            delete_condition immutable_where""",
        _BUILT: "full_refresh",
        _SNAPSHOT: """strategy check_cols updated_at hard_deletes invalidate_hard_deletes
            dbt_valid_to_current""",
        _LOADED: "delimiter",
        "it decides where its data are": "external location external_location",
        "it decides when the table is loaded": """target_lag refresh_mode initialize refresh
            schedule scheduler""",
    },
    _V.VALUES: {
        "it decides which columns come and go": "on_schema_change",
        "it decides what its columns are called": "snapshot_meta_column_names quote_columns",
        "it decides on the types of its columns": "column_types",
        _SEMANTIC: """type_params measures dimensions entities defaults filter time_granularity
            query_params primary_entity metric_type sql_expression model""",
        "it decides what the function gives": "arguments returns function_type",
    },
    _V.ACCESS: {
        "it decides who may read it": """grants access group secure copy_grants policy_tags
            row_access_policy aggregation_policy grant_access_to authorized_views row_filter""",
    },
    _V.CONTRACT: {
        "readers rely on it": "latest_version deprecation_date contract constraints quoting",
        "it decides when its data count as too old": """freshness loaded_at_field
            loaded_at_query""",
        _TESTED: """severity where limit fail_calc warn_if error_if test_arguments given expect
            overrides versions query macros""",
        "it decides which models it depends on": "depends_on",
    },
    _V.COST: {
        _STORED: """cluster_by clustered_by buckets indexes sort sort_type dist file_format
            location_root tblproperties options transient transient_tables engine order_by
            primary_key sharding_key ttl settings query_settings table_type format
            partitioned_by bucketed_by bucket_count write_compression field_delimiter
            properties table_format base_location_root base_location_subpath external_volume
            as_columnstore auto_refresh auto_liquid_cluster liquid_clustered_by unlogged
            distributed_by compression kms_key_name hours_to_expiration
            require_partition_filter partition_expiration_days max_staleness
            enable_refresh refresh_interval_minutes automatic_clustering tmp_relation_type zorder
            include_full_name_in_path""",
        _RUN: """snowflake_warehouse refresh_warehouse snowflake_initialization_warehouse
            query_tags unique_tmp_table_suffix use_safer_relation_operations
            incremental_apply_config_changes view_update_via_alter
            concurrent_batches compute databricks_compute
            on_configuration_change query_tag submission_method job_execution_timeout_seconds
            execution_project use_info_schema cluster_id create_notebook python_version
            store_failures store_failures_as batch_id threads http_path""",
    },
    _V.METADATA: {
        "it describes it": """description docs meta tags node_color persist_docs labels owner
            table_tag maturity url label type exposure_type contacts databricks_tags
            static_analysis labels_from_meta""",
        "its file is elsewhere": "fqn",
    },
}
_BY_NAME = {
    name: (verdict, reason)
    for verdict, reasons in _REASONS.items()
    for reason, names in reasons.items()
    for name in names.split()
}
_KINDS = {_V.ROWS: ChangeType.ROWS, _V.VALUES: ChangeType.SEMANTICS}
_PARTITIONS = ("partition_by", "partitions", "partition_type")
_OTHER = (_V.UNKNOWN, "what it decides is not known here")
_UNREAD = (_V.METADATA, "it is none of dbt's, and no macro reads it")


def is_dbt_setting(name: str) -> bool:
    """Whether a setting is one of dbt or of its adapters."""
    return name in _BY_NAME


def setting_changes(
    before: Settings, after: Settings, *, incremental: bool = True
) -> Iterator[NodeChange]:
    """The settings that are others.

    Args:
        incremental: Whether a run replaces some of its rows, which partitions may decide on.
    """
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        if old and new and old.value == new.value:
            if old.written and new.written and old.written != new.written:
                yield NodeChange(_V.METADATA, f"{name} is written otherwise, and is the same")
            continue
        is_same_text = old and new and old.written and old.written == new.written
        if is_same_text and new and new.by_environment:
            continue  # the two versions were compiled for two targets
        is_unread = all(setting.is_unread for setting in (old, new) if setting)
        verdict, reason = _BY_NAME.get(name, _UNREAD if is_unread else _OTHER)
        if name in _PARTITIONS and not incremental:
            verdict, reason = _V.COST, _STORED
        # What people invent may hold a secret.
        how = _how(old, new) if name in _BY_NAME else "is another"
        text = f"{name} {how}: {reason}"
        yield NodeChange(verdict, text, _KINDS.get(verdict))


def _how(old: ReviewedSetting | None, new: ReviewedSetting | None) -> str:
    if not old or not new:
        return f"is {(new or old).shown or 'set'} now" if new else "is no longer set"
    if old.shown and new.shown and old.shown != new.shown:
        return f"is {new.shown}, no longer {old.shown}"
    return "is another"
