// DuckDB for the page of dbt 2, from this site. The build beside it reads Parquet by itself; JSON
// it would load from a host on the internet. The page asks for two values in JSON, one level deep:
// tags of semantic models and addresses of owners.
import { AsyncDuckDB as DuckDB } from "./dist/duckdb-browser.js";

export * from "./dist/duckdb-browser.js";

const value = String.raw`"\s*:\s*(\[[^\]]*\]|"[^"]*"|[^,}\s]+)`;
const extract = `regexp_extract(j, '"' || string_split(p, '.')[-1] || '${value}', 1)`;

export class AsyncDuckDB extends DuckDB {
  async connect() {
    const connection = await super.connect();
    for (const name of ["json_extract", "json_extract_string"]) {
      await connection.query(
        `CREATE OR REPLACE MACRO ${name}(j, p) AS nullif(replace(${extract}, '"', ''), '')`,
      );
    }
    return connection;
  }
}
