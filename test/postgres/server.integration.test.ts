/** The tests' own servers work: they restart after a kill, and a standby takes over. */
import { expect, test } from "vitest";
import { startPostgres, until, whyWithoutPostgres } from "./server.ts";

const why = whyWithoutPostgres();

test.skipIf(why !== undefined)("a server survives a kill, and its standby takes over", async () => {
  await using server = await startPostgres();
  await server.query("CREATE TABLE kept (n int)");
  await server.query("INSERT INTO kept VALUES (1)");
  await server.kill();
  await server.start();
  expect(await server.query("SELECT n FROM kept")).toEqual([{ n: 1 }]);
  const standby = await server.startStandby();
  await server.query("INSERT INTO kept VALUES (2)");
  await until(async () => (await standby.query("SELECT n FROM kept")).length === 2);
  await expect(standby.query("INSERT INTO kept VALUES (3)")).rejects.toMatchObject({ code: "25006" });
  await server.stop();
  await standby.promote();
  await standby.query("INSERT INTO kept VALUES (3)");
  expect(await standby.query("SELECT count(*)::int AS n FROM kept")).toEqual([{ n: 3 }]);
});
