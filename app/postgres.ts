/** Entry point for memory on PostgreSQL. Only `helmdeck-memory` imports it, on demand. */
export { postgresServer } from "./database-server/postgres-server.ts";
export type { AddressOptions } from "./database-server/store-address.ts";
