/** The baseline for the server: the same hono on the same socket over a plain table, without sealing, policy or callers. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "@hono/node-server";
import Database from "better-sqlite3";
import { Hono } from "hono";

const folder = mkdtempSync(join(tmpdir(), "helmdeck-bench-bare-"));
const database = new Database(join(folder, "bare.sqlite"));
database.pragma("journal_mode = WAL");
database.pragma("synchronous = FULL");
database.exec("CREATE TABLE facts (key TEXT PRIMARY KEY, value TEXT NOT NULL)");
const write = database.prepare("INSERT OR REPLACE INTO facts VALUES (?, ?)");
const read = database.prepare("SELECT key, value FROM facts WHERE key = ?");

const app = new Hono()
  .post("/api/v1/memory/store", async (c) => {
    const { key, value } = await c.req.json<{ key: string; value: string }>();
    write.run(key, value);
    return c.json({ key });
  })
  .get("/api/v1/memory/facts/:key", (c) => {
    const row = read.get(c.req.param("key"));
    return row === undefined ? c.json({ error: "not_found" }, 404) : c.json(row);
  });

const server = serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => {
  console.log(`listening on http://127.0.0.1:${port}`);
});

process.once("SIGTERM", () => {
  server.close(() => {
    database.close();
    rmSync(folder, { recursive: true, force: true });
  });
  if ("closeAllConnections" in server) server.closeAllConnections();
});
