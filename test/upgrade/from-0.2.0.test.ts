/** This version opens a memory of version 0.2.0 (test/data/0.2.0), with its histories, and exports it as that version did. */
import { chmod, copyFile, mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { OpenMemory } from "../../app/compose.ts";
import { exportLines } from "../../app/transfer/export-lines.ts";
import { openTestMemory, tempPlace } from "../app/fixtures/memories.ts";
import { importLines } from "../transfer/import-lines.ts";

const MADE = join(import.meta.dirname, "../data/0.2.0");
const NOW = Date.parse("2026-11-26T22:00:00Z");

async function opened(): Promise<OpenMemory> {
  const place = await tempPlace();
  await mkdir(dirname(place.databasePath), { recursive: true });
  await copyFile(join(MADE, "memory.sqlite"), place.databasePath);
  await copyFile(join(MADE, "helmdeck-memory.key"), place.keyPath);
  await chmod(place.keyPath, 0o600); // git does not store this mode
  return openTestMemory({ ...place, now: () => NOW });
}

type Line = Readonly<Record<string, unknown>>;

async function exported(memory: OpenMemory): Promise<readonly Line[]> {
  const lines: Line[] = [];
  const asked = { memory, subject: "main", withHistory: true, onProblem: () => {} };
  for await (const line of exportLines(asked)) lines.push(JSON.parse(line));
  return sorted(lines);
}

async function exportOf020(): Promise<readonly Line[]> {
  const text = await readFile(join(MADE, "export.jsonl"), "utf8");
  return sorted(
    text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)),
  );
}

function sorted(lines: readonly Line[]): readonly Line[] {
  return lines.toSorted((one, other) => `${one.key}`.localeCompare(`${other.key}`));
}

// verifies P-upgrade-opens
describe("a memory of 0.2.0", () => {
  test("has everything in it: facts of each caller, histories, and what an undo restores", async () => {
    const memory = await opened();
    expect((await memory.doctor()).store).toMatchObject({ unreadable: 0, integrity: "ok" });
    expect((await memory.getFact("main", { key: "über/naïve 🔑" }))?.value).toBe("ünïcode keys and välues");
    expect((await memory.getFact("work", { key: "other" }))?.value).toBe("what another agent knows");
    expect((await memory.search("main", { query: "lake" })).results[0]).toMatchObject({ key: "lake" });
    const former = (await memory.factHistory("main", { key: "editor" }))?.former.map(({ value }) => value);
    expect(former).toEqual(["vim, with the gruvbox theme"]);
    const { restored } = await memory.undoFact("main", { key: "deploy/now" });
    expect(restored.map(({ key, value }) => [key, value])).toEqual([["deploy/argo", "We try Argo CD"]]);
  });

  test("is exported as 0.2.0 exported it, with history, and that export is imported", async () => {
    expect(await exported(await opened())).toMatchObject(await exportOf020());
    const memory = await openTestMemory({ now: () => NOW });
    const input = (async function* () {
      yield await readFile(join(MADE, "export.jsonl"));
    })();
    expect(await importLines({ memory, subject: "main", input })).toMatchObject({
      audit: 1,
      refusedCount: 0,
    });
    expect(await exported(memory)).toMatchObject(await exportOf020());
  });
});
