/**
 * Several engines with one PostgreSQL share one memory, also while the database is down, read-only, or replaced by another
 * server.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PostgresServer, startPostgres, until, whyWithoutPostgres } from "../postgres/server.ts";
import { BUNDLED_COMMAND, makeCommand } from "../run/bundles.ts";
import { Engine, makeDatabase } from "./engine.ts";

const why = whyWithoutPostgres();
/** Built from the current sources. */
const PROGRAM = { program: BUNDLED_COMMAND };

describe.skipIf(why !== undefined)("engines over one database", () => {
  let server: PostgresServer;
  let address: string;
  let one: Engine;
  let other: Engine;

  beforeAll(async () => {
    await makeCommand();
    server = await startPostgres();
    address = await makeDatabase(server);
    one = await Engine.start(address, PROGRAM);
    other = await Engine.start(address, PROGRAM);
  });
  afterAll(async () => {
    await one?.kill();
    await other?.kill();
    await server?.dispose();
  });

  it("find another engine's write in the next answer", async () => {
    for (let round = 0; round < 20; round += 1) {
      const [writer, reader] = round % 2 === 0 ? [one, other] : [other, one];
      const word = `walrus${round}`;
      await writer.store("ana", "favourite/animal", `It is the ${word} of the zoo`);
      expect((await reader.get("ana", "favourite/animal")).body.value).toContain(word);
      const { results } = (await reader.search("ana", word)).body as { results: readonly { key: string }[] };
      expect(results.map(({ key }) => key)).toEqual(["favourite/animal"]);
    }
  });

  // verifies P-answers-current
  it("report that memory is unavailable while the database is down, and recover automatically", async () => {
    await one.store("ben", "k", "v");
    await one.search("ben", "v"); // from now on, its index knows the fact
    await server.kill();
    for (const path of ["/api/v1/memory/corpus?query=v", "/api/v1/memory/corpus", "/api/v1/memory"]) {
      const { status, body } = await one.ask("ben", "GET", path);
      expect([path, status, body.error]).toEqual([path, 503, "memory_unavailable"]);
    }
    const searched = await one.search("ben", "v");
    expect([searched.status, searched.body.error]).toEqual([503, "memory_unavailable"]);
    const refused = await one.get("ben", "k");
    expect([refused.status, refused.body.error]).toEqual([503, "memory_unavailable"]);
    expect(refused.body.message).toContain("does not answer");
    expect((await one.ask("ben", "GET", "/readyz")).status).toBe(503);
    const born = await Engine.start(address, PROGRAM); // starts while the database is down
    expect((await born.get("ben", "k")).body.error).toBe("memory_unavailable");
    await server.start();
    for (const engine of [one, other, born]) {
      await until(async () => (await engine.ask("ben", "GET", "/readyz")).status === 200);
      expect((await engine.get("ben", "k")).body.value).toBe("v");
    }
    expect(await born.stop()).toBe(0);
  });

  it("read from a standby, refuse to write there, and continue after its promotion", async () => {
    const standby = await server.startStandby();
    const reading = await Engine.start(standby.url({ user: "engine", database: "memory" }), PROGRAM);
    const sockets = [server, standby].map(({ socketFolder }) => encodeURIComponent(socketFolder)).join(",");
    const following = await Engine.start(`postgres://engine@/memory?host=${sockets}`, PROGRAM);
    await following.store("cleo", "k", "before");
    await until(async () => (await reading.get("cleo", "k")).body.value === "before");
    const refused = await reading.store("cleo", "k", "not here");
    expect([refused.status, refused.body.error]).toEqual([503, "store_readonly"]);
    expect((await reading.ask("cleo", "GET", "/readyz")).body).toMatchObject({ memory: "read_only" });
    await server.stop();
    await standby.promote();
    await until(async () => (await following.store("cleo", "k", "after")).status === 200);
    expect((await reading.get("cleo", "k")).body.value).toBe("after");
    expect((await reading.ask("cleo", "GET", "/readyz")).body).toMatchObject({ memory: "ready" });
    for (const engine of [reading, following]) await engine.kill();
  });
});
