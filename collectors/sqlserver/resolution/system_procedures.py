"""The names of SQL Server's own procedures, which a call may write without their schema.

After the lists of Microsoft's reference. Those of msdb and of replication are left out: they are
called in the databases where they are. A procedure of users may begin with `sp_`, too.
"""

from __future__ import annotations

from dbt_graft.collectors.name_tables import words

_NAMES = words("""
    add_data_file_recover_suspect_db add_log_file_recover_suspect_db add_trusted_assembly
    addapprole addextendedproc addextendedproperty addlinkedserver addlinkedsrvlogin addlogin
    addmessage addremotelogin addrole addrolemember addserver addsrvrolemember addtype addumpdevice
    adduser altermessage approlepassword attach_db attach_single_file_db audit_write autostats
    batch_params bindefault bindrule bindsession catalogs certify_removable change_users_login
    changedbowner changeobjectowner clean_db_file_free_space clean_db_free_space
    cleanup_temporal_history column_privileges column_privileges_ex columns columns_90 columns_100
    columns_ex columns_ex_90 columns_ex_100 configure control_dbmasterkey_password
    control_plan_guide create_plan_guide create_plan_guide_from_handle create_removable createstats
    cycle_errorlog data_source_objects databases datatype_info datatype_info_90 datatype_info_100
    db_increased_partitions db_selective_xml_index db_vardecimal_storage_format dbcmptlevel
    dbfixedrolepermission dbremove defaultdb defaultlanguage delete_backup
    delete_backup_file_snapshot delete_database_firewall_rule delete_firewall_rule denylogin
    depends detach_db drop_trusted_assembly dropalias dropapprole dropdevice dropextendedproc
    dropextendedproperty droplinkedsrvlogin droplogin dropmessage dropremotelogin droprole
    droprolemember dropserver dropsrvrolemember droptype dropuser
    estimate_data_compression_savings estimated_rowsize_reduction_for_vardecimal execute
    execute_external_script execute_remote executesql filestream_force_garbage_collection fkeys
    flush_log foreignkeys get_query_template getapplock getbindtoken grantdbaccess grantlogin help
    helpconstraint helpdb helpdbfixedrole helpdevice helpextendedproc helpfile helpfilegroup
    helpindex helplanguage helplinkedsrvlogin helplogins helpntgroup helpremotelogin helprole
    helprolemember helprotect helpserver helpsort helpsrvrole helpsrvrolemember helpstats helptext
    helptrigger helpuser indexes indexoption invalidate_textptr
    kill_filestream_non_transacted_handles linkedservers lock migrate_user_to_contained monitor
    password pkeys prepare prepexec prepexecrpc primarykeys procoption
    recompile refresh_parameter_encryption refreshsqlmodule refreshview releaseapplock remoteoption
    rename renamedb reset_connection resetstatus revokedbaccess revokelogin rxpredict
    sequence_get_range server_diagnostics server_info serveroption set_database_firewall_rule
    set_firewall_rule set_session_context setapprole setnetname settriggerorder spaceused
    special_columns special_columns_90 special_columns_100 sproc_columns sproc_columns_90
    sproc_columns_100 sqlexec srvrolepermission statistics statistics_100 stored_procedures
    table_privileges table_privileges_ex table_types tablecollations tablecollations_90
    tablecollations_100 tableoption tables tables_ex testlinkedserver unbindefault unbindrule
    unprepare unsetapprole updateextendedproperty updatestats validatelogins validname
    wait_for_database_copy_sync who who2 xp_cmdshell_proxy_account""")
_FAMILIES = (
    *("xp_", "sp_cdc_", "sp_cursor", "sp_dbmmonitor", "sp_ddopen", "sp_describe_", "sp_fulltext_"),
    *("sp_help_fulltext_", "sp_help_spatial_", "sp_ms", "sp_oa", "sp_oledb", "sp_pdw_"),
    *("sp_polybase_", "sp_query_store_", "sp_rda_", "sp_repl", "sp_syscollector_"),
    *("sp_syspolicy_", "sp_trace_", "sp_xml_", "sp_xtp_"),
)


def is_system_procedure(name: str) -> bool:
    """Whether a procedure of this name, without its schema, is SQL Server's own."""
    folded = name.casefold()
    if folded.startswith(_FAMILIES):
        return True
    # OLE DB's have many versions: `sp_tables_info_90_rowset2`.
    return folded.startswith("sp_") and ("_rowset" in folded or folded[3:] in _NAMES)
