-- What the live collector asks of SQL Server, with the same names, columns and errors.
CREATE SCHEMA sys;

CREATE TABLE written (
    seq bigserial PRIMARY KEY,
    object_name text,
    event_data text,
    file_name text,
    file_offset bigint
);
-- An error that is raised when reading comes to a row, some times; a sequence counts them, because
-- it forgets nothing when a transaction fails.
CREATE TABLE trouble (seq bigint, message text, times int);
CREATE SEQUENCE raised_times;
CREATE TABLE property (name text, value text);
INSERT INTO property VALUES ('EngineEdition', '3'), ('ProductMajorVersion', '15');

CREATE FUNCTION serverproperty(wanted text) RETURNS text LANGUAGE sql STABLE
AS $$ SELECT value FROM property WHERE name = wanted $$;

CREATE FUNCTION raised(message text) RETURNS text LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
    IF message LIKE 'info:%' THEN
        RAISE NOTICE '%', message;
        RETURN NULL;
    END IF;
    RAISE EXCEPTION '%', message USING ERRCODE = '42000';
END
$$;

-- Inlined into the query: its rows come while they are fetched, and so do its errors.
CREATE FUNCTION sys.fn_xe_file_target_read_file(
    path text, metadata_path text, initial_file_name text, initial_offset bigint
) RETURNS TABLE (object_name text, event_data text, file_name text, file_offset bigint)
LANGUAGE sql STABLE
AS $$
    SELECT
        CASE
            WHEN initial_file_name IS NOT NULL AND NOT EXISTS (
                SELECT FROM written c WHERE c.file_name = initial_file_name
            ) THEN raised('The operating system returned error 2 while reading (25717)')
            WHEN initial_file_name IS NOT NULL AND NOT EXISTS (
                SELECT FROM written c
                WHERE c.file_name = initial_file_name AND c.file_offset = initial_offset
            ) THEN raised('The offset "x" is invalid for the log file "y" (25722)')
            WHEN EXISTS (
                SELECT FROM trouble t WHERE t.seq = w.seq AND nextval('raised_times') <= t.times
            ) THEN coalesce(
                raised((SELECT t.message FROM trouble t WHERE t.seq = w.seq)), w.object_name
            )
            ELSE w.object_name
        END,
        w.event_data,
        w.file_name,
        w.file_offset
    FROM written w
    WHERE w.file_name LIKE CASE
            WHEN path LIKE '%://%' THEN path || '%' ELSE replace(path, '*', '%')
        END ESCAPE ''
        AND w.seq > coalesce((
            SELECT max(c.seq) FROM written c
            WHERE c.file_name = initial_file_name AND c.file_offset = initial_offset
        ), 0)
    ORDER BY w.seq
$$;

CREATE TABLE sys.dm_xe_sessions (
    address bytea,
    name text,
    dropped_event_count bigint,
    dropped_buffer_count bigint,
    largest_event_dropped_size bigint
);
CREATE TABLE sys.dm_xe_session_targets (
    event_session_address bytea, target_name text, target_data text
);
CREATE TABLE sys.server_event_sessions (event_session_id int, name text);
CREATE TABLE sys.server_event_session_fields (
    event_session_id int, object_id int, name text, value text
);
CREATE TABLE sys.dm_xe_database_sessions (LIKE sys.dm_xe_sessions);
CREATE TABLE sys.dm_xe_database_session_targets (LIKE sys.dm_xe_session_targets);
CREATE TABLE sys.database_event_sessions (LIKE sys.server_event_sessions);
CREATE TABLE sys.database_event_session_fields (LIKE sys.server_event_session_fields);

GRANT USAGE ON SCHEMA sys TO reader, stranger;
GRANT SELECT ON ALL TABLES IN SCHEMA sys TO reader;
GRANT SELECT ON written, trouble, property TO reader;
GRANT USAGE ON SEQUENCE raised_times TO reader;
GRANT SELECT ON property TO stranger;
