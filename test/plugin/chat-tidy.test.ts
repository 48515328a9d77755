/** `/memories tidy` over a memory grown from four imports: every command that it prints, and its undo. */
import { expect, test } from "vitest";
import type { OpenMemory } from "../../app/compose.ts";
import type { SlashContext } from "../../plugin/openclaw-api.ts";
import { makeSlashCommand } from "../../plugin/slash-command.ts";
import type { ChatCommand } from "../../plugin/tool-names.ts";
import { openTestMemory } from "../app/fixtures/memories.ts";
import { growMemory } from "../transfer/grown-memory.ts";
import { GROUP_CONTEXT, MAIN_CONTEXT, policyFor, recordingLogger } from "./fake-host.ts";
import { accessTo } from "./fake-memory.ts";

async function grownChat() {
  const memory = await openTestMemory();
  await growMemory(memory);
  const parts = { access: accessTo(memory), policy: policyFor({}), log: recordingLogger() };
  /** Sends a command as it was printed. */
  const type = async (line: string, context: object = MAIN_CONTEXT): Promise<string> => {
    const [, name = "", args = ""] = /^\/(\w+) ?(.*)$/s.exec(line) ?? [];
    // The command reads only these fields.
    const asked = { ...context, args } as SlashContext;
    return (await makeSlashCommand(name as ChatCommand, parts).handler(asked)).text ?? "";
  };
  return { memory, type };
}

const everything = async (memory: OpenMemory) =>
  (await memory.listFacts("main", {})).facts
    .map(({ revision: _, ...fact }) => fact)
    .toSorted((one, other) => one.key.localeCompare(other.key));

/** What follows these words on a line. */
const after = (text: string, words: string) =>
  text
    .split("\n")
    .find((line) => line.startsWith(words))
    ?.slice(words.length) ?? "";

test("/memories tidy lists at most five findings with the commands that settle them, and changes nothing", async () => {
  const { memory, type } = await grownChat();
  const before = await everything(memory);
  const text = await type("/memories tidy");
  expect(text).toMatch(
    /^\d+ duplicates?, \d+ conflicts?.*\. Nothing is changed yet\.\nThe same under 4 keys:\n- /,
  );
  expect(text).toMatch(/\n- .*llergy.* \(import mem0-\S+\)\n/);
  expect(text.match(/To do that: /g)?.length).toBeLessThanOrEqual(5);
  expect(await everything(memory)).toEqual(before);
});

// verifies P-tidy-loses-nothing
test("the copied commands merge and keep both, and the printed ones undo that", async () => {
  const { memory, type } = await grownChat();
  const before = await everything(memory);
  const { found } = await memory.review("main", {});
  const merged = await type(after(await type("/memories tidy"), "To do that: "));
  expect(merged).toMatch(/^Kept \S+; its history has \S+, \S+, \S+\.\nTo undo this: \/undo \S+$/);
  expect(await everything(memory)).toHaveLength(before.length - 3);
  await type(after(merged, "To undo this: "));
  expect(await everything(memory)).toEqual(before);
  const both = await type(after(await type("/memories tidy"), "To keep all: "));
  expect(both).toMatch(/^Kept .* and .*, until one of them gets another value\.\n/);
  expect((await memory.review("main", {})).found.duplicate).toBe(found.duplicate - 1);
  expect(await type(after(both, "To undo this: "))).toContain("beside each other again");
  expect((await memory.review("main", {})).found).toEqual(found);
  expect(await everything(memory)).toEqual(before);
});

test("a copied command does nothing if somebody changed one of the facts since", async () => {
  const { memory, type } = await grownChat();
  const line = after(await type("/memories tidy"), "To do that: ");
  const [, other = ""] = / over (\S+)/.exec(line) ?? [];
  await memory.storeFact("main", { key: other, value: "changed" });
  const before = await everything(memory);
  expect(await type(line)).toContain(`Somebody else changed the fact "${other}" meanwhile`);
  expect(await type(line.replace(/ \d+$/, ""))).toContain("copy the whole line");
  expect(await everything(memory)).toEqual(before);
});

test("/memories with other words still searches", async () => {
  const { type } = await grownChat();
  for (const words of ["tidy kitchen", "tidy keeping", "tidyness"])
    expect(await type(`/memories ${words}`)).not.toContain("Nothing is changed yet");
});

test("nobody in a group gets an answer", async () => {
  const { type } = await grownChat();
  expect(await type("/memories tidy", GROUP_CONTEXT)).not.toContain("enicillin");
});
