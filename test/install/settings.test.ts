/** The plugin's own settings, changed and restored: the former values return, and later changes by others stay. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { Journal } from "../../install/journal.ts";
import { isObject, type Json, type JsonObject } from "../../install/openclaw-json.ts";
import type { Run } from "../../install/run-command.ts";
import type { Step } from "../../install/steps/registry.ts";
import { environmentIn, runSteps, testFolder } from "./fixtures.ts";

const ID = "helmdeck-memory";
const URL = "http://127.0.0.1:11434";
const OWN = { provider: "openai-compatible", url: "https://e.example/v1", model: "m", apiKey: "sk-own" };

let folder: string;
let configPath: string;
/** The patches that OpenClaw got, in order. Null makes the next one fail as if the installer were killed there. */
let patches: string[];
let isKilled: boolean;
let warnings: readonly string[];

beforeEach(() => {
  folder = testFolder();
  configPath = join(folder, "openclaw.json");
  patches = [];
  isKilled = false;
  warnings = [];
});

const ENGINE = { url: "https://memory.example", tokens: { main: "/home/u/main.token" } };
const SOURCE = { kind: "engine", url: ENGINE.url, tokens: { main: { file: "/home/u/main.token" } } };
const OTHER_SOURCE = { kind: "engine", url: "https://other", tokens: { work: { file: "/o" } } };
const SIDECAR = { provider: "ollama", url: URL, model: "nomic-embed-text" };
const THEIRS = { provider: "ollama", url: "http://10.0.0.5:11434", model: "bge-m3" };

const point = (model = SIDECAR.model): Step => ({
  ...{ kind: "point-facts", configPath, provider: "ollama", url: URL, model },
  replaces: undefined,
});
const audit = (answer: "all" | "helmdeck"): Step => ({ kind: "audit-tools", configPath, answer });
const speakUp = (answer: "on" | "off"): Step => ({ kind: "speak-up", configPath, answer });
const keepAYear = (answer: "on" | "off"): Step => ({ kind: "keep-a-year", configPath, answer });
const pointAt = (url = ENGINE.url): Step => ({ kind: "point-source", configPath, ...ENGINE, url });
const restore = (what: "facts" | "audit-tools" | "speak-up" | "keep-a-year" | "source"): Step => ({
  kind: `restore-${what}`,
  configPath,
});

/** What each setting is, the former settings that it is tried over, and a later choice of the operator. */
const SETTINGS = [
  {
    what: "facts",
    ...{ set: () => point(), expected: { embeddings: SIDECAR } },
    befores: [{ embeddings: OWN, promptHints: false }, { embeddings: { provider: "none" } }],
    theirs: { embeddings: THEIRS, promptHints: false },
  },
  {
    what: "audit-tools",
    ...{ set: () => audit("all"), expected: { auditTools: "all" } },
    ...{ befores: [{}, { auditTools: "helmdeck" }], theirs: { auditTools: "helmdeck" } },
  },
  {
    what: "speak-up",
    set: () => speakUp("on"),
    expected: { autoRecall: "sure", captureRequests: "store" },
    befores: [{}, { autoRecall: "off", promptHints: false }],
    theirs: { autoRecall: "sure", captureRequests: "off" },
  },
  {
    what: "keep-a-year",
    ...{ set: () => keepAYear("on"), expected: { lifetimeDays: 365 } },
    ...{ befores: [{ lifetimeDays: 30 }], theirs: { lifetimeDays: 30 } },
  },
  {
    what: "source",
    ...{ set: () => pointAt(), expected: { source: SOURCE } },
    ...{ befores: [{ source: OTHER_SOURCE }], theirs: { source: { kind: "embedded" } } },
  },
] as const;

describe.each(SETTINGS)("the setting of $what", ({ what, set, expected, befores, theirs }) => {
  it.each<JsonObject | undefined>([undefined, { promptHints: false }, ...befores])(
    "is made, and the former settings return with the restore: %j",
    async (before) => {
      configure(before);
      await run(set());
      expect(settings()).toEqual({ ...before, ...expected });
      await run(restore(what));
      expect(settings()).toEqual(before);
      expect(warnings).toEqual([]);
    },
  );

  it("keeps a later choice of the operator, with a warning", async () => {
    configure(befores[0]);
    await run(set());
    configure(theirs);
    await run(restore(what));
    expect(settings()).toEqual(theirs);
    expect(warnings.join()).toContain("changed since the installation");
  });
});

describe("helmdeck's facts", () => {
  beforeEach(() => configure({ embeddings: OWN }));

  it("never send the former service's key to the new one", async () => {
    await run(point());
    expect(readFileSync(configPath, "utf8")).not.toContain("sk-own");
  });

  it("have their first setting after a second model and the restore", async () => {
    await run(point());
    await run(point("mxbai-embed-large"));
    await run(restore("facts"));
    expect(settings()).toEqual({ embeddings: OWN });
  });

  it("have their first setting after a run that was killed before or after its write", async () => {
    isKilled = true;
    await run(point());
    expect(settings()).toEqual({ embeddings: OWN });
    isKilled = false;
    await run(point());
    isKilled = true;
    await run(point("mxbai-embed-large"));
    isKilled = false;
    await run(restore("facts"));
    expect(settings()).toEqual({ embeddings: OWN });
  });

  it("need no patch if the setting is already correct", async () => {
    configure({ embeddings: SIDECAR });
    await run(point());
    await run(restore("facts"));
    await run(restore("facts"));
    expect(patches).toEqual([]);
  });
});

it.each([
  ["auditTools", "helmdeck", () => audit("helmdeck")],
  ["speakUp", "off", () => speakUp("off")],
  ["keepAYear", "off", () => keepAYear("off")],
] as const)("a no is only recorded in the journal: %s", async (name, answer, step) => {
  configure({ promptHints: false });
  await run(step());
  expect(patches).toEqual([]);
  expect((await entries())[name]).toMatchObject({ answer, isSet: false, isDue: false });
});

it("which tools' calls are recorded is restored after a yes, a no and a killed run", async () => {
  configure(undefined);
  isKilled = true;
  await run(audit("all"));
  expect((await entries()).auditTools).toMatchObject({ isDue: true });
  isKilled = false;
  await run(audit("all"));
  await run(audit("helmdeck"));
  expect(settings()).toEqual({ auditTools: "helmdeck" });
  await run(restore("audit-tools"));
  expect(settings()).toBeUndefined();
});

it("the source of memory is restored after a second engine and a killed run", async () => {
  configure(undefined);
  await run(pointAt("https://first"));
  isKilled = true;
  await run(pointAt());
  isKilled = false;
  await run(pointAt());
  await run(restore("source"));
  expect(settings()).toBeUndefined();
});

/** Runs a step in one run. The journal is read again, as in a new run. */
async function run(step: Step): Promise<void> {
  ({ warnings } = await runSteps([step], await environmentIn(folder, program)));
}

const program: Run = async (file, args, { input = "" } = {}) => {
  const command = `${file} ${args.slice(0, 2).join(" ")}`;
  if (command === "openclaw config patch") {
    if (isKilled) return { exitCode: 137, stdout: "", stderr: "killed" };
    patches.push(String(input));
    write(merged(read(), JSON.parse(String(input)) as Json));
  }
  return { exitCode: 0, stdout: "OpenClaw 2026.9.6\n", stderr: "" };
};

/** JSON merge patch. */
function merged(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const all: Record<string, Json> = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete all[key];
    else all[key] = merged(all[key], value);
  }
  return all;
}

function configure(config: JsonObject | undefined): void {
  write({ plugins: { entries: { [ID]: { enabled: true, ...(config && { config }) } } } });
}

const write = (config: Json) => writeFileSync(configPath, JSON.stringify(config));
const read = () => JSON.parse(readFileSync(configPath, "utf8"));
const settings = () => read().plugins.entries[ID].config;
const entries = async () => (await Journal.read(join(folder, "journal"))).entries;
