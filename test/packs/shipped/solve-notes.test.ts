/** What later runs of swe.solve read about earlier ones. */
import { expect, test } from "vitest";
import type { PackMemory } from "../../../packs/engine/pack-contract.ts";
import { recallNotes, rememberRun } from "../../../packs/shipped/solve.ts";

const ADDRESS = "https://git.example.com/acme/app.git";
const TOKEN = ["ghp", "0123456789abcdefghijklmnopqrstuvwxyz"].join("_");

function notesInProcess(): PackMemory {
  const notes = new Map<string, string>();
  return {
    store: async (key: string, value: string) => void notes.set(key, value),
    recall: async (key: string) => ({ value: notes.get(key) ?? "" }),
  } as unknown as PackMemory; // the two methods that are used
}

// verifies P-policy-secrets
test("a run whose task or lesson looks like a credential is not remembered", async () => {
  const memory = notesInProcess();
  const run = { endedAt: 0, task: "Fix the build", filesChanged: 1, lesson: "" };
  await rememberRun(memory, ADDRESS, run);
  await rememberRun(memory, ADDRESS, { ...run, task: `Log in with ${TOKEN}` });
  await rememberRun(memory, ADDRESS, { ...run, lesson: `CI uses ${TOKEN}.` });
  const notes = await recallNotes(memory, ADDRESS);
  expect(notes.match(/^## Run/gm)).toHaveLength(1);
  expect(notes).not.toContain("ghp");
});
