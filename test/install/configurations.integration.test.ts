/**
 * Generated openclaw.json files, with comments, JSON5 syntax, providers and secrets of the operator. After an installation, every key
 * outside memory.search and plugins has the same meaning as before; after the uninstallation, those have too.
 *
 * OpenClaw's own config writer writes the files. The test repeats the observed writes of its `plugins install` and `uninstall`; test/docker
 * runs the real commands.
 */
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { fingerprint, Journal } from "../../install/journal.ts";
import {
  at,
  isObject,
  type Json,
  type JsonObject,
  objectOf,
  parseJson5,
} from "../../install/openclaw-json.ts";
import type { Run } from "../../install/run-command.ts";
import type { Step } from "../../install/steps/registry.ts";
import { sized } from "../run/size.ts";
import { environmentIn, runSteps } from "./fixtures.ts";
import { type HostPatch, loadHostWriter } from "./host-writer.ts";

const RUNS = sized(20, 200);
/** Up to a thousand writes, a tenth of a second each, more on a busy machine. */
const TIMEOUT_MS = 600_000;
const ID = "helmdeck-memory";
const BASE_URL = "http://127.0.0.1:11434";
const MODEL = "nomic-embed-text";
const OWN_EMBEDDINGS = {
  provider: "openai-compatible",
  url: "https://embeddings.example/v1",
  model: "text-embedding-3-small",
  apiKey: "sk-operators-own",
};

let folder: string;
let hostPatch: HostPatch;

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "hd-configs-")));
  vi.stubEnv("OPENCLAW_CONFIG_PATH", join(folder, "openclaw.json"));
  vi.stubEnv("OPENCLAW_STATE_DIR", folder);
  // The host prints a message for every file that loses a comment.
  for (const name of ["log", "warn", "error"] as const) vi.spyOn(console, name).mockImplementation(() => {});
  hostPatch = await loadHostWriter();
});

afterAll(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const provider = fc.constantFrom<Json>("none", "openai", "ollama", "gemini");
const search = fc.record<JsonObject>(
  {
    provider,
    model: fc.constantFrom<Json>("text-embedding-3-small", "bge-m3"),
    remote: fc.constantFrom<Json>(
      { baseUrl: "https://embeddings.example/v1", apiKey: "sk-operators-own" },
      { baseUrl: "http://127.0.0.1:1234", headers: { "x-key": "operators-own" } },
    ),
    query: fc.constant<Json>({ maxResults: 7 }),
  },
  { requiredKeys: [] },
);
const config = fc.record<JsonObject>(
  {
    gateway: fc.constantFrom<Json>(
      { mode: "local", port: 18999 },
      { auth: { mode: "token", token: "operators-token" } },
    ),
    memory: fc.oneof(
      fc.record<JsonObject>({ search }),
      fc.constantFrom<JsonObject>({}, { citations: "off" }, { search: {} }),
    ),
    plugins: fc.constantFrom<Json>(
      {},
      { entries: { [ID]: { config: { promptHints: false } } } },
      { entries: { [ID]: { enabled: true, config: { embeddings: OWN_EMBEDDINGS } } } },
      { entries: { [ID]: { config: { embeddings: { provider: "none" }, promptHints: false } } } },
      { entries: {} },
      { allow: ["memory-core"] },
      { allow: ["memory-core", "ollama"] },
      { entries: { "memory-core": { enabled: true } } },
    ),
    agents: fc.constantFrom<Json>({ defaults: { heartbeat: { every: "0m" } } }, { entries: { work: {} } }),
    cron: fc.constant<Json>({ enabled: false }),
    logging: fc.constant<Json>({ level: "info" }),
  },
  { requiredKeys: [] },
);
/** When somebody else changes the file: never, during the installation, or after it. */
const OTHERS_WRITE = fc.constantFrom("never", "between", "after");
const style = fc.record({
  ...{ comments: fc.boolean(), bareKeys: fc.boolean() },
  ...{ trailing: fc.boolean(), single: fc.boolean() },
});

describe("openclaw.json", () => {
  it(
    `${RUNS}of them survive installation and uninstallation unchanged`,
    async () => {
      let whole = 0;
      await fc.assert(
        fc.asyncProperty(config, style, OTHERS_WRITE, async (value, how, others) => {
          const text = written(value, how);
          const rig = await makeRig(text);
          const before = parseJson5(text);
          const steps = installation(before);
          await rig.run(steps.slice(0, 2));
          if (others === "between") await rig.patch({ cron: { enabled: true } });
          await rig.run(steps.slice(2));
          const installed = rig.config();
          expect(at(installed, "memory", "search", "remote")).toEqual({ baseUrl: BASE_URL });
          const facts = at(installed, "plugins", "entries", ID, "config", "embeddings");
          expect(facts).toEqual({ provider: "ollama", url: BASE_URL, model: MODEL });
          const changed = others === "between" ? { cron: { enabled: true } } : {};
          expect(outside(installed)).toEqual({ ...outside(before), ...changed });
          expect(JSON.stringify(at(installed, "memory"))).not.toContain("operators-own");
          if (others === "after") await rig.patch({ cron: { enabled: true } });
          await rig.run(uninstallation(rig));
          if (rig.text() === text) whole += 1;
          expect(rig.text() === text).toBe(others === "never");
          const { meta: _, ...after } = objectIn(rig.config());
          const { meta: __, ...was } = objectIn(before);
          expect(after).toEqual(others === "never" ? was : { ...was, cron: { enabled: true } });
          rig.end();
        }),
        { numRuns: RUNS, seed: 20260906, endOnFailure: true },
      );
      expect(whole).toBeGreaterThan(RUNS / 5);
    },
    TIMEOUT_MS,
  );
});

/** The steps of a plan that change the configuration. */
function installation(before: Json): readonly Step[] {
  const configPath = join(folder, "openclaw.json");
  const allow = at(before, "plugins", "allow");
  const missing = Array.isArray(allow) && !allow.includes("ollama") ? ["ollama"] : [];
  const ours = { configPath, provider: "ollama", model: MODEL, replaces: undefined } as const;
  return [
    { kind: "back-up-config", configPath },
    { kind: "install-plugin", plugin: ID, version: "0", configPath, capabilities: [] },
    { kind: "point-facts", ...ours, url: BASE_URL },
    { kind: "point-search", ...ours, baseUrl: BASE_URL, allow: missing },
  ];
}

function uninstallation({ journal, text }: Rig): readonly Step[] {
  const configPath = join(folder, "openclaw.json");
  const isWhole = journal.entries.leftAs === fingerprint(Buffer.from(text()));
  const plugin: Step = { kind: "uninstall-plugin", plugin: ID, configPath, isThere: true };
  return isWhole
    ? [plugin, { kind: "restore-config-copy", configPath }]
    : [{ kind: "restore-facts", configPath }, { kind: "restore-search", configPath }, plugin];
}

type Rig = Awaited<ReturnType<typeof makeRig>>;

async function makeRig(text: string) {
  const configPath = join(folder, "openclaw.json");
  const state = mkdtempSync(join(folder, "journal-"));
  writeFileSync(configPath, text);
  const patch = async (value: JsonObject) => {
    const file = join(state, "patch.json");
    writeFileSync(file, JSON.stringify(value));
    const complaint = await hostPatch(file);
    if (complaint !== undefined) throw new Error(`the host refused a patch: ${complaint}`);
  };
  const journal = await Journal.read(state);
  const environment = await environmentIn(folder, hostProgram(patch), { journal });
  return {
    journal,
    patch,
    run: async (steps: readonly Step[]) => {
      const outcome = await runSteps(steps, environment);
      expect(outcome.steps.flatMap(({ error }) => error ?? [])).toEqual([]);
    },
    config: () => parseJson5(readFileSync(configPath, "utf8")),
    text: () => readFileSync(configPath, "utf8"),
    end: () => rmSync(state, { recursive: true }),
  };
}

/** The commands of `openclaw` and `npm` that these steps call. */
function hostProgram(patch: (value: JsonObject) => Promise<void>): Run {
  const configured = () => parseJson5(readFileSync(join(folder, "openclaw.json"), "utf8"));
  return async (file, args, { input = "" } = {}) => {
    const command = `${file} ${args.slice(0, 2).join(" ")}`;
    const allow = at(configured(), "plugins", "allow");
    if (command === "openclaw config patch") await patch(JSON.parse(String(input)));
    if (command === "openclaw plugins install") {
      const listed = Array.isArray(allow) ? { allow: [...allow, ID] } : {};
      await patch({ plugins: { entries: { [ID]: { enabled: true } }, ...listed } });
    }
    if (command === "openclaw plugins uninstall") hostUninstalls();
    const stdout = command.startsWith("npm") ? "plugin.tgz\n" : "OpenClaw 2026.9.6\n";
    return { exitCode: 0, stdout, stderr: "" };
  };
}

/** Removes the entry with its contents, and every parent that is then empty. (OpenClaw's writer would refuse such a loss; its uninstaller does not.) */
function hostUninstalls(): void {
  const file = join(folder, "openclaw.json");
  const { plugins, ...others } = objectIn(parseJson5(readFileSync(file, "utf8")));
  const { [ID]: _, ...entries } = objectIn(at(plugins, "entries"));
  const allow = at(plugins, "allow");
  const left = {
    ...objectIn(plugins),
    entries,
    ...(Array.isArray(allow) ? { allow: allow.filter((id) => id !== ID) } : {}),
  };
  const kept = Object.entries(left).filter(
    ([, value]) => Object.keys(objectIn(value)).length > 0 || Array.isArray(value),
  );
  const rest = kept.length === 0 ? others : { ...others, plugins: Object.fromEntries(kept) };
  writeFileSync(file, `${JSON.stringify(rest, null, 2)}\n`);
}

/** Every key that the installer promises not to change. */
function outside(value: Json): JsonObject {
  const { meta: _, plugins: __, memory, ...rest } = objectIn(value);
  const others = Object.entries(objectIn(memory)).filter(([key]) => key !== "search");
  return others.length === 0 ? rest : { ...rest, memory: objectOf(others) };
}

function objectIn(value: Json | undefined): Record<string, Json> {
  return isObject(value) ? { ...value } : {};
}

type Style = Readonly<Record<"comments" | "bareKeys" | "trailing" | "single", boolean>>;

/** The value in a format that people write. */
function written(value: Json, how: Style): string {
  const head = how.comments ? "// my gateway\n/* do not touch */ " : "";
  return `${head}${textOf(value, how)}\n`;
}

function textOf(value: Json, how: Style): string {
  if (typeof value === "string") return how.single ? `'${value}'` : JSON.stringify(value);
  if (Array.isArray(value))
    return `[${value.map((item) => textOf(item, how)).join(", ")}${end(value.length, how)}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const entries = Object.entries(value).map(([key, item]) => {
    const name = how.bareKeys && /^[a-z]+$/i.test(key) ? key : JSON.stringify(key);
    return `${name}: ${textOf(item, how)}`;
  });
  const between = how.comments ? ", // and\n" : ",\n";
  return `{\n${entries.join(between)}${end(entries.length, how)}\n}`;
}

function end(count: number, { trailing }: Style): string {
  return trailing && count > 0 ? "," : "";
}
