#!/bin/sh
# Creates helmdeck-memory's two roles when a PostgreSQL container starts for the first time; see compose.engine.yml.
#
# psql reads the passwords itself, so they appear in no command line and no environment.
set -eu
psql -v ON_ERROR_STOP=1 -U "${POSTGRES_USER:-postgres}" -d postgres -v database="$POSTGRES_DB" <<'SQL'
\set owner_password `cat /run/secrets/helmdeck_postgres_password`
\set engine_password `cat /run/secrets/helmdeck_engine_password`
CREATE ROLE helmdeck_owner LOGIN PASSWORD :'owner_password';
CREATE ROLE helmdeck_engine LOGIN PASSWORD :'engine_password';
ALTER DATABASE :"database" OWNER TO helmdeck_owner;
SQL
