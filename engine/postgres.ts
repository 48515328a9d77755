/** The door to the store on PostgreSQL: only what a server and its commands load opens it, never OpenClaw's plugin. */
export type { PostgresConnection } from "./store/postgres/database.ts";
export { openMovablePostgres } from "./store/postgres/movable-postgres.ts";
export {
  openPostgresReader,
  openPostgresStore,
  openPostgresStoreToChangeKey,
  type PostgresStoreOptions,
  preparePostgres,
} from "./store/postgres/open-postgres.ts";
