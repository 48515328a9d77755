/** An agent's tool calls are recorded at the engine that keeps its memory. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeAuditHook } from "../../plugin/audit-hook.ts";
import { remoteOf, ServedEngine } from "../app/remote/engine/served-engine.ts";
import { NOW, tokenFor } from "../server/fixtures/context-server.ts";
import { configOf, MAIN_CONTEXT, policyFor, recordingLogger } from "./fake-host.ts";
import { accessTo } from "./fake-memory.ts";

let engine: ServedEngine;
beforeAll(async () => {
  engine = await ServedEngine.open();
});
afterAll(() => engine.close());

async function rowsAfter(event: unknown, scopes: readonly string[]): Promise<readonly string[]> {
  const log = recordingLogger();
  const remote = remoteOf(engine.url, { tokenOf: (subject) => tokenFor(subject, scopes) });
  const rules = configOf({ auditTools: "all" });
  const parts = {
    access: accessTo(remote),
    policy: policyFor(),
    log,
    servers: ["helmdeck"],
    rules,
    nowMs: () => NOW,
  };
  await makeAuditHook(parts)(event, MAIN_CONTEXT);
  await remote.close();
  return log.lines;
}

test("a tool's call and a pack's run are recorded at the engine", async () => {
  expect(
    await rowsAfter({ toolName: "write", params: { path: "a.md", content: "canary" } }, ["record"]),
  ).toEqual([]);
  expect(await rowsAfter({ toolName: "helmdeck__slides-narrate", params: {} }, ["record"])).toEqual([]);
  const { memory } = engine.context.serverContext;
  expect(await memory.myMemory("main")).toMatchObject({
    categories: [
      { name: "pack_history", count: 1 },
      { name: "tool_history", count: 1 },
    ],
  });
  expect(JSON.stringify(await memory.corpusPage("main", {}))).not.toContain("canary");
});

test("a token without the scope record logs one line", async () => {
  const lines = await rowsAfter({ toolName: "exec", params: {} }, []);
  expect(lines).toEqual([expect.stringMatching(/a tool run was not recorded: forbidden: .*scope record/)]);
});
