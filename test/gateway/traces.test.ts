/** Where a fact still stands in the real OpenClaw, after it was said in a conversation, noted, indexed and forgotten. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { expect, it } from "vitest";
import { Phrases } from "../../app/traces/phrases.ts";
import { readNote, takeOut } from "../../app/traces/take-out.ts";
import { runPiped } from "../cli/terminal.ts";
import { agentTurn, sharedOpenClaw } from "./shared.ts";
import { scriptFor } from "./stand-in-model.ts";

const openclaw = await sharedOpenClaw();
const CANARY = "The spare key of the cabin lies under the zygomorphic flowerpot";
const SESSION = "agent:main:explicit:canary";

interface Found {
  readonly kind: string;
  readonly path: string;
  readonly table?: string;
  readonly rows?: number;
  readonly sessions?: readonly string[];
}

interface Receipt {
  readonly remaining: {
    readonly found: readonly Found[];
    readonly unread: readonly { readonly path: string; readonly why: string }[];
  };
}

// verifies P-traces-receipt
it("each file of OpenClaw that holds a forgotten fact is named in the receipt", async () => {
  const { stateDir, workspace } = openclaw.home;
  // A request to the running gateway, because a command would take seconds to start.
  const stored = await openclaw.invokeTool("helmdeck__memory_store", { key: "canary", value: CANARY });
  expect(stored.ok).toBe(true);
  writeFileSync(join(workspace, "memory", "2026-11-21.md"), `- ${CANARY}.\n`);
  const call = { tool: "memory_search", args: { query: "where is the key of the cabin" } };
  await agentTurn(openclaw, { sessionKey: SESSION, message: scriptFor(`Remember: ${CANARY}.`, [call]) });
  expect((await openclaw.openclaw(["memory", "index"])).code).toBe(0);

  const forgot = await openclaw.openclaw(["helmdeck", "forget", "canary", "--yes", "--traces", "--json"]);
  expect(forgot.stderr).not.toContain("zygomorphic");
  expect(forgot.stdout).not.toContain("zygomorphic");
  const { remaining } = (JSON.parse(forgot.stdout) as { readonly traces: Receipt }).traces;
  const kinds = remaining.found.map(({ kind }) => kind);
  for (const kind of ["note", "transcript", "index"]) expect(kinds).toContain(kind);
  expect(remaining.found.flatMap(({ sessions = [] }) => sessions)).toContain(SESSION);

  const named = new Set([...remaining.found, ...remaining.unread].map(({ path }) => path));
  const holders = [stateDir, workspace].flatMap(filesWithCanary);
  expect(holders.length).toBeGreaterThan(1);
  expect(holders.filter((path) => !named.has(path.replace(/-wal$/, "")) && !named.has(path))).toEqual([]);

  const note = await readNote(join(workspace, "memory", "2026-11-21.md"), Phrases.ofValues([CANARY]));
  await takeOut(note, note.places);
  expect((await openclaw.openclaw(["memory", "index"])).code).toBe(0);
  const after = await runPiped(["traces", "--json"], {
    homeFolder: join(openclaw.home.root, "home"),
    env: openclaw.home.env,
    typed: CANARY,
  });
  const left = (JSON.parse(after.stdout) as Receipt).remaining.found;
  expect(left.map(({ kind }) => kind)).not.toContain("note");
  // OpenClaw indexes conversations, too: only the note's chunk is gone.
  expect(chunksIn(left)).toBe(chunksIn(remaining.found) - 1);
});

function chunksIn(found: readonly Found[]): number {
  return found.find(({ table }) => table === "memory_index_chunks")?.rows ?? 0;
}

function filesWithCanary(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile() && !one.parentPath.includes("node_modules"))
    .map((one) => join(one.parentPath, one.name))
    .filter((path) => unpacked(path).includes("zygomorphic"));
}

function unpacked(path: string): Buffer {
  const bytes = readFileSync(path);
  return path.endsWith(".zst") ? zstdDecompressSync(bytes) : bytes;
}
