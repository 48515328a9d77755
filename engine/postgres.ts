/** Entry point for the PostgreSQL store. Only the server and its commands import it, never the OpenClaw plugin. */
export type { PostgresConnection } from "./store/postgres/database.ts";
export { openMovablePostgres } from "./store/postgres/movable-postgres.ts";
export {
  openPostgresReader,
  openPostgresStore,
  openPostgresStoreToChangeKey,
  type PostgresStoreOptions,
  preparePostgres,
  readPostgresFacts,
} from "./store/postgres/open-postgres.ts";
