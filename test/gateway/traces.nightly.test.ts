/**
 * Canaries in two real gateways that share one memory: stored, said, imported, exported, backed up, noted, in a deleted
 * conversation, in files that cannot be read; then forgotten. Each byte that is left is named in a receipt.
 */
import {
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, zstdDecompressSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  type JsonObject,
  type OpenClawHost,
  startOpenClaw,
} from "../../scripts/openclaw-host/openclaw-host.ts";
import { packPlugin } from "../../scripts/pack.ts";
import { runPiped } from "../cli/terminal.ts";
import { agentTurn, helmdeckMemory } from "./shared.ts";
import { MODEL_ID, providerAt, type StandInModel, scriptFor, startStandInModel } from "./stand-in-model.ts";

const WORD = "zygomorphic";
const CANARY = `The spare key of the cabin lies under the ${WORD} flowerpot`;
const WITHIN_MS = 600_000;

let model: StandInModel;
let first: OpenClawHost;
let second: OpenClawHost;
let secondState: string;
const cleanUps: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "helmdeck-pack-"));
  cleanUps.push(() => rm(folder, { recursive: true }));
  const plugins = [await packPlugin(folder)];
  model = await startStandInModel();
  cleanUps.push(() => model.close());
  const config = {
    agents: { defaults: { model: { primary: `stand-in/${MODEL_ID}` } } },
    models: { providers: { "stand-in": providerAt(model.baseUrl) } },
  } satisfies JsonObject;
  first = await startOpenClaw({ plugins, config });
  cleanUps.push(() => first.stop());
  const { env, stateDir } = first.home;
  expect((await helmdeckMemory(first, "store", "other", "We deploy through Konflux")).code).toBe(0);
  // Another profile of the same account, with the database of the first.
  secondState = `${stateDir}-second`;
  const shared = { databasePath: join(stateDir, "helmdeck-memory", "memory.sqlite") };
  second = await startOpenClaw({
    plugins,
    config: { ...config, plugins: { entries: { "helmdeck-memory": { config: shared } } } },
    env: {
      HOME: String(env.HOME),
      OPENCLAW_STATE_DIR: secondState,
      HELMDECK_MEMORY_KEY_FILE: join(stateDir, "helmdeck-memory.key"),
    },
  });
  cleanUps.push(() => second.stop());
}, WITHIN_MS);
afterAll(async () => {
  for (const clean of cleanUps.reverse()) await clean();
});

interface Receipt {
  readonly remaining: {
    readonly found: readonly { readonly path: string; readonly kind: string; readonly table?: string }[];
    readonly unread: readonly { readonly path: string; readonly why: string }[];
  };
  readonly backups: readonly { readonly path: string }[];
}

// verifies P-traces-receipt
it(
  "each byte that is left is named, in its own gateway's receipt, and the other gateway as not searched",
  async () => {
    const { root, stateDir, workspace } = first.home;
    const foreign = spread(workspace);
    await said(first);
    await said(second);
    await done(helmdeckMemory(first, "store", "canary", CANARY));
    const [imported, exported, backup] = ["in.jsonl", "out.jsonl", "out.backup"].map((name) =>
      join(root, name),
    ) as [string, string, string];
    await done(helmdeckMemory(first, "export", "--output", imported));
    await done(helmdeckMemory(first, "forget", "canary", "--yes"));
    await done(helmdeckMemory(first, "import", imported));
    await done(helmdeckMemory(first, "export", "--output", exported));
    await done(helmdeckMemory(first, "backup", backup));
    await done(first.openclaw(["memory", "index"]));
    await done(first.openclaw(["sessions", "delete", "agent:main:explicit:gone", "--yes"]));

    const forgot = await done(
      first.openclaw(["helmdeck", "forget", "canary", "--yes", "--traces", "--json"]),
    );
    expect(forgot.stdout + forgot.stderr).not.toContain(WORD);
    const receipt = (JSON.parse(forgot.stdout) as { readonly traces: Receipt }).traces;
    expect(unnamed(receipt, [stateDir, workspace, imported, exported])).toEqual([]);
    const found = receipt.remaining.found;
    expect(found.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(["note", "transcript", "index", "export"]),
    );
    expect(found.map(({ path }) => path)).toEqual(expect.arrayContaining([imported, exported]));
    expect(found.map(({ table }) => table)).toContain("session_transcript_archives");
    expect(found.some(({ path }) => path.includes(".jsonl.deleted."))).toBe(true);
    expect(receipt.backups.map(({ path }) => path)).toEqual([backup]);
    const unread = receipt.remaining.unread.map(({ path }) => path);
    expect(unread).toEqual(expect.arrayContaining([secondState, ...foreign]));
    expect(filesWithWord(stateDir).filter((path) => path.includes("helmdeck-memory"))).toEqual([]);

    const theirs = await traces(second);
    expect(unnamed(theirs, [secondState])).toEqual([]);
    expect(theirs.remaining.found.map(({ kind }) => kind)).toContain("transcript");
    expect(theirs.remaining.unread.map(({ path }) => path)).toContain(stateDir);
  },
  WITHIN_MS,
);

it(
  "what OpenClaw's own commands leave of a deleted conversation is named",
  async () => {
    const { stateDir, workspace } = first.home;
    await rm(join(workspace, "memory"), { recursive: true });
    for (const key of ["agent:main:explicit:kept", "agent:main:explicit:gone"]) {
      await first.openclaw(["sessions", "delete", key, "--yes"]);
      await done(first.openclaw(["memory", "forget", "--agent", "main", "--session", key]));
    }
    await done(first.openclaw(["memory", "index", "--force"]));
    await first.stopGateway();
    await done(first.openclaw(["doctor", "--session-sqlite", "compact", "--session-sqlite-all-agents"]));
    await done(first.openclaw(["doctor", "--state-sqlite", "compact"]));
    const receipt = await traces(first);
    expect(unnamed(receipt, [stateDir])).toEqual([]);
    const inAgent = receipt.remaining.found.filter(({ path }) => path.startsWith(join(stateDir, "agents")));
    const left = inAgent.map(({ path, table }) => table ?? path.replace(/^.*\.jsonl\.(deleted)\..*$/, "$1"));
    expect([...new Set(left)].sort()).toEqual(["deleted", "session_transcript_archives"]);
  },
  WITHIN_MS,
);

/** One conversation that stays, and one to delete, with an event that OpenClaw compresses. */
async function said(openclaw: OpenClawHost): Promise<void> {
  const search = { tool: "memory_search", args: { query: "where is the key of the cabin" } };
  await agentTurn(openclaw, {
    sessionKey: "agent:main:explicit:kept",
    message: scriptFor(`Note: ${CANARY}.`, [search]),
  });
  const long = Array.from({ length: 3_000 }, (_, at) => `word${(at * 7_919) % 1_000}`).join(" ");
  await agentTurn(openclaw, {
    sessionKey: "agent:main:explicit:gone",
    message: `Remember: ${CANARY}. ${long}`,
  });
}

/** Notes and other files of the workspace. Returns those that cannot be read. */
function spread(workspace: string): readonly string[] {
  const at = (name: string) => join(workspace, name);
  mkdirSync(at("memory"), { recursive: true });
  writeFileSync(at("memory/2026-11-21.md"), `- ${CANARY}.\n`);
  writeFileSync(at("wide.txt"), Buffer.from(`\ufeff${CANARY}`, "utf16le"));
  writeFileSync(at("text.bin"), Buffer.concat([Buffer.alloc(70_000), Buffer.from(CANARY)]));
  writeFileSync(at("big.log"), CANARY);
  truncateSync(at("big.log"), 2 * 1024 ** 3);
  writeFileSync(at("theirs.md"), CANARY, { mode: 0o000 });
  if (process.geteuid?.() === 0) chownSync(at("theirs.md"), 12_345, 12_345);
  symlinkSync("/etc/hostname", at("memory/link.md"));
  return ["big.log", "theirs.md", "memory/link.md"].map(at);
}

async function traces({ home }: OpenClawHost): Promise<Receipt> {
  const { HOME = "" } = home.env;
  const asked = await done(
    runPiped(["traces", "--json"], { homeFolder: HOME, env: home.env, typed: CANARY }),
  );
  return JSON.parse(asked.stdout) as Receipt;
}

async function done<Result extends { readonly code: number | null; readonly stderr: string }>(
  running: Promise<Result>,
): Promise<Result> {
  const result = await running;
  expect(`${result.code} ${result.code === 0 ? "" : result.stderr}`).toBe("0 ");
  return result;
}

/** Files that hold the word, and that the receipt names in no way. */
function unnamed({ remaining, backups }: Receipt, places: readonly string[]): readonly string[] {
  const named = [...remaining.found, ...remaining.unread, ...backups].map(({ path }) => path);
  return places
    .flatMap(filesWithWord)
    .filter(
      (path) =>
        !named.some((one) => one === path || one === path.replace(/-wal$/, "") || path.startsWith(`${one}/`)),
    );
}

function filesWithWord(place: string): readonly string[] {
  if (lstatSync(place).isFile()) return holds(place) ? [place] : [];
  return readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile() && !one.parentPath.includes("node_modules"))
    .map((one) => join(one.parentPath, one.name))
    .filter(holds);
}

/** In any form: as it is, in UTF-16, compressed as a whole, or anywhere inside. */
function holds(path: string): boolean {
  if (path.endsWith("big.log")) return true;
  const bytes = readFileSync(path);
  const forms = [bytes, ...unpacked(bytes)];
  return forms.some((one) => one.includes(WORD) || one.includes(Buffer.from(WORD, "utf16le")));
}

const MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

function unpacked(bytes: Buffer): readonly Buffer[] {
  if (bytes.subarray(0, 2).equals(Buffer.from([0x1f, 0x8b]))) return [gunzipSync(bytes)];
  const all: Buffer[] = [];
  for (let at = bytes.indexOf(MAGIC); at >= 0; at = bytes.indexOf(MAGIC, at + 1)) {
    try {
      all.push(zstdDecompressSync(bytes.subarray(at)));
    } catch {} // cut by a page, or no beginning of anything
  }
  return all;
}
