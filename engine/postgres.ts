/** The door to the store on PostgreSQL: only what a server and its commands load opens it, never OpenClaw's plugin. */
export type { DatabaseOptions, PostgresConnection } from "./store/postgres/database.ts";
export { openMovablePostgres } from "./store/postgres/movable-postgres.ts";
export {
  openPostgresReader,
  openPostgresStore,
  openPostgresStoreToChangeKey,
  type PostgresReaderOptions,
  type PostgresStoreOptions,
  preparePostgres,
} from "./store/postgres/open-postgres.ts";
export type { MigrateOptions } from "./store/postgres/schema.ts";
