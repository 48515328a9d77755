/** The pages and commands for a memory at a running helmdeck: the data that helmdeck provides, and a sentence for the rest. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { NO_EMBEDDINGS } from "../../app/embedding/embedding-settings.ts";
import type { RemoteMemory } from "../../app/remote/remote-memory.ts";
import { helmdeckLine } from "../../plugin/openclaw-commands.ts";
import { helmdeckMemoryOf } from "../app/remote/helmdeck/helmdeck-memory-of.ts";
import { StandInHelmdeck } from "../app/remote/helmdeck/stand-in-helmdeck.ts";
import { runPiped } from "../cli/terminal.ts";
import { BASE, FORMS, fieldsOf, openRig, textOf } from "./rig.ts";

let helmdeck: StandInHelmdeck;
let memory: RemoteMemory;

beforeAll(async () => {
  helmdeck = await StandInHelmdeck.start();
  helmdeck.put("main", "kettle", "Descaled in June.", "kitchen");
  await helmdeck.addRun("main", "slides.narrate");
  memory = await helmdeckMemoryOf(helmdeck);
});
afterAll(async () => {
  await memory.close();
  await helmdeck.stop();
});

async function pageOf(path: string): Promise<string> {
  const rig = await openRig({ memory, doctor: () => memory.doctor() });
  rig.clock.time = Date.now();
  return (await rig.get(path)).text;
}

test.each([
  [
    "/facts",
    [
      "Descaled in June.",
      "stored at no known time",
      "all 2 rows that helmdeck shows, read less than a minute ago",
    ],
  ],
  ["/facts?q=kettle", ["Descaled in June."]],
  ["/fact?key=kettle", ["Descaled in June.", "keeps no history"]],
  ["/timeline", ["Descaled in June.", "At no known time"]],
  ["/timeline?kind=run", ["slides.narrate"]],
  ["/growth", ["does not say when facts were stored"]],
  [
    "/health",
    ["a running helmdeck", "version 0.29.10", "all 2 rows that helmdeck shows", "search uses keywords"],
  ],
])("%s shows what helmdeck provides, and names what it does not provide", async (path, texts) => {
  const page = await pageOf(path);
  for (const text of texts) expect(page).toContain(text);
  expect(page).not.toMatch(/never expires|1970|Memory does not open/);
});

test("forgetting does not claim that the bytes are gone from helmdeck's database", async () => {
  helmdeck.put("main", "toaster", "Toasts.");
  const rig = await openRig({ memory, changes: FORMS });
  const preview = await rig.get("/forget?key=toaster");
  expect(textOf(preview)).toContain("This deletes the fact toaster for good, with its history.");
  const { location = "" } = await rig.post("/forget", { ...fieldsOf(preview), step: "confirm" });
  expect(helmdeck.has("main", "toaster")).toBe(false);
  const result = textOf(await rig.get(location.slice(BASE.length)));
  expect(result).toContain("helmdeck deleted it. Its database may keep the encrypted bytes for a while.");
  expect(result).not.toContain("gone from");
});

function typing(...args: readonly string[]) {
  const line = helmdeckLine({
    settings: async () => ({
      ...{ databasePath: "/nowhere/memory.sqlite", keyPath: "/nowhere/key", env: {} },
      ...{ embeddings: NO_EMBEDDINGS, recall: "balanced" },
    }),
    remote: () => helmdeckMemoryOf(helmdeck),
    defaultAgent: "main",
    subjectOf: (agentId) => ({ ok: true, subject: agentId, agentId }),
    openClaw: () => ({ stateDir: "/nowhere", workspaces: [] }),
    hostFindings: async () => [],
    hostWarnings: () => [],
  });
  return runPiped(args, { homeFolder: "/nowhere", now: Date.now, line });
}

test.each([
  [["status"], 0, "all 2 rows that helmdeck shows, read less than a minute ago"],
  [["list"], 0, "(kitchen, times unknown)"],
  [["get", "kettle"], 0, "Descaled in June."],
  [["search", "when was the kettle descaled"], 0, 'fact "kettle" in kitchen'],
  [["history", "kettle"], 1, "keeps no history"],
  [["renew", "kettle"], 1, "cannot renew"],
  [["export"], 1, "keeps this memory, and it cannot"],
] as const)("openclaw helmdeck %j", async (args, code, text) => {
  const result = await typing(...args);
  expect([result.code, result.stdout + result.stderr]).toEqual([code, expect.stringContaining(text)]);
});
