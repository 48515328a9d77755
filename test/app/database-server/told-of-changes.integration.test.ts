/** Another engine's writes reach MCP clients and embedding at once. If the notification is lost, they are still found. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { OpenMemory } from "../../../app/compose.ts";
import { openOnServer } from "../../../app/database-server/open-on-server.ts";
import { postgresServer } from "../../../app/database-server/postgres-server.ts";
import type { EmbeddingSettings } from "../../../app/embedding/embedding-settings.ts";
import { betterSqliteDriver } from "../../../engine/store/sqlite/better-sqlite-driver.ts";
import { makeMcpService } from "../../../server/mcp/mcp-service.ts";
import { ENGINE_KEY } from "../../engines/engine.ts";
import { type PostgresServer, startPostgres, until, whyWithoutPostgres } from "../../postgres/server.ts";
import { testServerContext } from "../../server/fixtures/mcp-context.ts";
import { startStandInOllama } from "../../sidecar/stand-in-ollama.ts";
import { tempPlace } from "../fixtures/memories.ts";

const FACT = { key: "deploy-preference", value: "I always deploy via Konflux." };
const MODEL = "nomic-embed-text";

describe.skipIf(whyWithoutPostgres() !== undefined)("two engines over one database", () => {
  let server: PostgresServer;
  let url: string;
  beforeAll(async () => {
    server = await startPostgres();
    await server.query("CREATE ROLE engine LOGIN");
    await server.query("CREATE DATABASE memory OWNER engine");
    url = server.url({ user: "engine", database: "memory" });
  });
  afterAll(() => server?.dispose());

  async function openEngine(embeddings: EmbeddingSettings = { provider: "none" }): Promise<OpenMemory> {
    const memory = await openOnServer({
      ...(await tempPlace()),
      server: await postgresServer(url, { env: {}, homeDir: "", from: "argument" }),
      env: { HELMDECK_MEMORY_KEY: ENGINE_KEY },
      driver: betterSqliteDriver,
      sweepEveryMs: 0,
      embeddings,
    });
    onTestFinished(() => memory.close());
    return memory;
  }

  /** The polling timer only runs when the test calls `tick`, so updates come from the database's notifications. */
  async function subscribe(memory: OpenMemory, subject: string) {
    const seen = { updates: 0, tick: () => {} };
    const ticker = (look: () => void) => {
      seen.tick = look;
      return () => {};
    };
    const { watch } = makeMcpService({ ...testServerContext({ memory }), watch: memory.watch }, { ticker });
    onTestFinished(() => watch.close());
    await watch.watch(subject, () => {
      seen.updates += 1;
    });
    return seen;
  }

  const listening = () =>
    until(
      async () => (await server.query("SELECT FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")).length > 0,
    );

  test("an MCP client is notified of the other engine's write without polling", async () => {
    const [writer, reader] = [await openEngine(), await openEngine()];
    const seen = await subscribe(reader, "ana");
    await listening();
    await writer.storeFact("ben", FACT);
    await writer.storeFact("ana", FACT);
    await until(() => seen.updates === 1);
  });

  test("an MCP client whose engine missed the notification is notified at the next poll", async () => {
    const [writer, reader] = [await openEngine(), await openEngine()];
    const seen = await subscribe(reader, "cleo");
    await listening();
    await server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'");
    await writer.storeFact("cleo", FACT);
    seen.tick();
    await until(() => seen.updates === 1);
  });

  test("the other engine's writes are embedded here long before the next poll", async () => {
    const service = await startStandInOllama({ models: [MODEL] });
    onTestFinished(() => service.close());
    const writer = await openEngine();
    const embedder = await openEngine({ provider: "ollama", url: service.address, model: MODEL });
    await embedder.warm("dan");
    await listening();
    await writer.storeFact("dan", FACT);
    await expect
      .poll(async () => (await embedder.status()).embeddings, { timeout: 30_000 })
      .toMatchObject({ embedded: 1 });
  });
});
