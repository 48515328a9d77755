/** The door to memory on PostgreSQL: only what `helmdeck-memory` loads opens it, and only where it is asked for. */
export { postgresServer } from "./database-server/postgres-server.ts";
export type { AddressOptions } from "./database-server/store-address.ts";
