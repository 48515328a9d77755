/** The plugin's own settings, changed and restored: the former values return, and later changes by others stay. */
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Journal } from "../../install/journal.ts";
import { isObject, type Json, type JsonObject } from "../../install/openclaw-json.ts";
import type { Run } from "../../install/run-command.ts";
import type { Step } from "../../install/steps/registry.ts";
import { environmentIn, runSteps } from "./fixtures.ts";

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
  folder = realpathSync(mkdtempSync(join(tmpdir(), "hd-settings-")));
  configPath = join(folder, "openclaw.json");
  patches = [];
  isKilled = false;
  warnings = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const point = (model = "nomic-embed-text"): Step => ({
  ...{ kind: "point-facts", configPath, provider: "ollama", url: URL, model },
  replaces: undefined,
});
const restore = (): Step => ({ kind: "restore-facts", configPath });

describe("helmdeck's facts", () => {
  it.each<[string, JsonObject | undefined]>([
    ["no former entry", undefined],
    ["other settings", { promptHints: false }],
    ["a service and its key", { embeddings: OWN, promptHints: false }],
    ["no embeddings", { embeddings: { provider: "none" } }],
  ])("use the sidecar, and have their former setting after the restore: %s", async (_, before) => {
    configure(before);
    await run(point());
    expect(embeddings()).toEqual({ provider: "ollama", url: URL, model: "nomic-embed-text" });
    await run(restore());
    expect(settings()).toEqual(before);
    expect(warnings).toEqual([]);
  });

  it("never send the former service's key to the new one", async () => {
    configure({ embeddings: OWN });
    await run(point());
    expect(readFileSync(configPath, "utf8")).not.toContain("sk-own");
  });

  it("have their first setting after a second model and the restore", async () => {
    configure({ embeddings: OWN });
    await run(point());
    await run(point("mxbai-embed-large"));
    await run(restore());
    expect(settings()).toEqual({ embeddings: OWN });
  });

  it("have their first setting after a run that was killed before or after its write", async () => {
    configure({ embeddings: OWN });
    isKilled = true;
    await run(point());
    expect(settings()).toEqual({ embeddings: OWN });
    isKilled = false;
    await run(point());
    isKilled = true;
    await run(point("mxbai-embed-large"));
    isKilled = false;
    await run(restore());
    expect(settings()).toEqual({ embeddings: OWN });
  });

  it("keep a later choice of the operator, with a warning", async () => {
    configure({ embeddings: OWN });
    await run(point());
    const theirs = { provider: "ollama", url: "http://10.0.0.5:11434", model: "bge-m3" };
    configure({ embeddings: theirs, promptHints: false });
    await run(restore());
    expect(settings()).toEqual({ embeddings: theirs, promptHints: false });
    expect(warnings.join()).toContain("changed since the installation");
  });

  it("need no patch if the setting is already correct", async () => {
    configure({ embeddings: { provider: "ollama", url: URL, model: "nomic-embed-text" } });
    await run(point());
    await run(restore());
    await run(restore());
    expect(patches).toEqual([]);
  });
});

describe("which tools' calls are recorded", () => {
  const answer = (given: "all" | "helmdeck"): Step => ({ kind: "audit-tools", configPath, answer: given });
  const takeBack = (): Step => ({ kind: "restore-audit-tools", configPath });

  it.each<[string, JsonObject | undefined]>([
    ["no former entry", undefined],
    ["no settings", {}],
    ["other settings", { promptHints: false }],
    ["the same setting", { auditTools: "helmdeck" }],
  ])("is set after a yes, and restored: %s", async (_, before) => {
    configure(before);
    await run(answer("all"));
    expect(settings().auditTools).toBe("all");
    await run(takeBack());
    expect(settings()).toEqual(before);
    expect(warnings).toEqual([]);
  });

  it("is only recorded in the journal after a no", async () => {
    configure({ promptHints: false });
    await run(answer("helmdeck"));
    expect(patches).toEqual([]);
    const { entries } = await Journal.read(join(folder, "journal"));
    expect(entries.auditTools).toMatchObject({ answer: "helmdeck", isSet: false, isDue: false });
  });

  it("is restored after a yes, a no and a killed run", async () => {
    configure(undefined);
    isKilled = true;
    await run(answer("all"));
    expect((await Journal.read(join(folder, "journal"))).entries.auditTools).toMatchObject({ isDue: true });
    isKilled = false;
    await run(answer("all"));
    await run(answer("helmdeck"));
    expect(settings()).toEqual({ auditTools: "helmdeck" });
    await run(takeBack());
    expect(settings()).toBeUndefined();
  });

  it("keeps a later choice of the operator, with a warning", async () => {
    configure(undefined);
    await run(answer("all"));
    configure({ auditTools: "helmdeck" });
    await run(takeBack());
    expect(settings()).toEqual({ auditTools: "helmdeck" });
    expect(warnings.join()).toContain("changed since the installation");
  });
});

describe("whether memory speaks up", () => {
  const answer = (given: "on" | "off"): Step => ({ kind: "speak-up", configPath, answer: given });
  const takeBack = (): Step => ({ kind: "restore-speak-up", configPath });

  it.each<[string, JsonObject | undefined]>([
    ["no former entry", undefined],
    ["no settings", {}],
    ["other settings", { promptHints: false }],
    ["one of the settings", { autoRecall: "off", promptHints: false }],
  ])("is set after a yes, and restored: %s", async (_, before) => {
    configure(before);
    await run(answer("on"));
    expect(settings()).toMatchObject({ autoRecall: "sure", captureRequests: "store" });
    await run(takeBack());
    expect(settings()).toEqual(before);
    expect(warnings).toEqual([]);
  });

  it("is only recorded in the journal after a no", async () => {
    configure({ promptHints: false });
    await run(answer("off"));
    expect(patches).toEqual([]);
    const { entries } = await Journal.read(join(folder, "journal"));
    expect(entries.speakUp).toMatchObject({ answer: "off", isSet: false, isDue: false });
  });

  it("keeps a later choice of the operator, with a warning", async () => {
    configure(undefined);
    await run(answer("on"));
    configure({ autoRecall: "sure", captureRequests: "off" });
    await run(takeBack());
    expect(settings()).toEqual({ autoRecall: "sure", captureRequests: "off" });
    expect(warnings.join()).toContain("changed since the installation");
  });
});

describe("the source of memory", () => {
  const ENGINE = { url: "https://memory.example", tokens: { main: "/home/u/main.token" } };
  const source = { kind: "engine", url: ENGINE.url, tokens: { main: { file: "/home/u/main.token" } } };
  const pointAt = (url = ENGINE.url): Step => ({ kind: "point-source", configPath, ...ENGINE, url });
  const giveBack = (): Step => ({ kind: "restore-source", configPath });

  it.each<[string, JsonObject | undefined]>([
    ["no former entry", undefined],
    ["other settings", { promptHints: false }],
    [
      "another engine",
      { source: { kind: "engine", url: "https://other", tokens: { work: { file: "/o" } } } },
    ],
  ])("is an engine, and is restored: %s", async (_, before) => {
    configure(before);
    await run(pointAt());
    expect(settings()).toEqual({ ...before, source });
    await run(giveBack());
    expect(settings()).toEqual(before);
    expect(warnings).toEqual([]);
  });

  it("is restored after a second engine and a killed run", async () => {
    configure(undefined);
    await run(pointAt("https://first"));
    isKilled = true;
    await run(pointAt());
    isKilled = false;
    await run(pointAt());
    await run(giveBack());
    expect(settings()).toBeUndefined();
  });

  it("keeps a later choice of the operator, with a warning", async () => {
    configure(undefined);
    await run(pointAt());
    configure({ source: { kind: "embedded" } });
    await run(giveBack());
    expect(settings()).toEqual({ source: { kind: "embedded" } });
    expect(warnings.join()).toContain("changed since the installation");
  });
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
const embeddings = () => settings().embeddings;
