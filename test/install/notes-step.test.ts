/**
 * OpenClaw's index of its notes after our service was removed, with a simulated OpenClaw that behaves like the real one (see
 * test/gateway/notes-index.test.ts): it refuses to change vectors whose provider is gone.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { Target } from "../../install/installation-facts.ts";
import { Journal } from "../../install/journal.ts";
import type { Json } from "../../install/openclaw-json.ts";
import type { Run } from "../../install/run-command.ts";
import type { Step } from "../../install/steps/registry.ts";
import { environmentIn, runSteps, testFolder } from "./fixtures.ts";

const URL = "http://127.0.0.1:11434";

let folder: string;
let configPath: string;
/** The provider that made the index. Undefined if the index is for keyword search only. */
let indexedBy: string | undefined;
let hasVectors: boolean;
/** Providers that answer now. */
let alive: Set<string>;
let hasNotes: boolean;
let commands: string[];
let version: string;
/** The number of resets that will still find the index busy. */
let busy: number;
/** What the gateway's search answers, in order: the provider that it embeds with, or a problem. The last one stays. */
let gatewayUses: string[];
let isKilled: (command: string) => boolean;
let warnings: readonly string[];
let clockMs: number;
/** Of the last step. */
let remark: string | undefined;
/** False: OpenClaw's commands succeed and change nothing. */
let isEffective: boolean;

beforeEach(() => {
  folder = testFolder();
  configPath = join(folder, "openclaw.json");
  indexedBy = undefined;
  hasVectors = false;
  alive = new Set(["ollama"]);
  hasNotes = true;
  commands = [];
  version = "2026.9.6";
  busy = 0;
  gatewayUses = ["none"];
  isKilled = () => false;
  warnings = [];
  clockMs = 0;
  isEffective = true;
});

const point = (): Step => ({
  ...{ kind: "point-search", configPath, provider: "ollama", model: "m", baseUrl: URL },
  ...{ replaces: undefined, allow: [] },
});
const restore = (): Step => ({ kind: "restore-search", configPath });
const index = (changes: { mustWork?: boolean; awaitsGateway?: boolean } = {}): Step => ({
  ...{ kind: "index-notes", configPath, mustWork: false, awaitsGateway: false },
  ...changes,
});

describe("after our service is removed, if no provider was set before", () => {
  beforeEach(async () => {
    write({});
    await run(point(), index({ mustWork: true }));
    expect(indexedBy).toBe("ollama");
  });

  it("the vectors are deleted, so that OpenClaw can index again", async () => {
    await run(restore(), index());
    expect(canIndex()).toBe(true);
    expect(commands).toContain("memory reset --yes --agent main");
    expect(warnings).toEqual([]);
  });

  it("the vectors stay in OpenClaw's cache if its default provider takes over", async () => {
    alive.add("openai");
    await run(restore(), index());
    expect([indexedBy, canIndex()]).toEqual(["openai", true]);
    expect(commands.some((command) => command.includes("reset"))).toBe(false);
  });

  it("the vectors are deleted also if there are no notes at the moment, so that OpenClaw has nothing to index", async () => {
    hasNotes = false;
    await run(restore(), index());
    hasNotes = true;
    expect(canIndex()).toBe(true);
  });

  it("the step waits for a busy index, and warns with a remedy if it stays busy", async () => {
    busy = 5;
    await run(restore(), index());
    expect(canIndex()).toBe(true);
    await run(point(), index({ mustWork: true }));
    busy = Number.POSITIVE_INFINITY;
    await run(restore(), index());
    expect(warnings.join()).toMatch(
      /the index is busy.*install\.sh --repair.*memory reset --yes --agent main/,
    );
    expect(clockMs).toBeLessThan(200_000);
  });

  it("an OpenClaw without a reset is named as the reason", async () => {
    version = "2026.8.1";
    await run(restore(), index());
    expect(warnings.join()).toContain("OpenClaw 2026.8.1 has no command that deletes it. Update it first");
    expect(commands.some((command) => command.includes("reset"))).toBe(false);
  });

  it.each(["memory status", "memory index", "memory reset", "config patch"])(
    "the next run finishes a run that was killed at %s",
    async (command) => {
      isKilled = (now) => now.startsWith(command);
      await run(restore(), index()).catch(() => {});
      isKilled = () => false;
      const { entries } = await Journal.read(join(folder, "journal"));
      expect(entries.indexDue).toBe(true);
      await run(...(entries.search === undefined ? [] : [restore()]), index());
      expect([canIndex(), read()]).toEqual([true, {}]);
      expect((await Journal.read(join(folder, "journal"))).entries.indexDue).toBeUndefined();
    },
  );

  it("the step waits until the gateway no longer embeds with our service, or it would restore the vectors", async () => {
    gatewayUses = ["ollama", "restarts", "ollama", "none"];
    commands = [];
    await run(restore(), index({ awaitsGateway: true }));
    const first = commands.findIndex((command) => command.startsWith("memory"));
    expect(commands.slice(0, first).filter((command) => command.startsWith("gateway call"))).toHaveLength(4);
    expect([canIndex(), warnings]).toEqual([true, []]);
  });

  it("the step warns if the gateway keeps using our service", async () => {
    gatewayUses = ["ollama"];
    await run(restore(), index({ awaitsGateway: true }));
    expect(warnings).toEqual([
      "The gateway may still use its former settings. Restart it, then look again: openclaw gateway restart, then: install.sh --repair",
    ]);
    expect(canIndex()).toBe(true);
  });

  it("the step asks the gateway again afterwards, and waits until it searches the new index", async () => {
    gatewayUses = ["none", "stale", "paused", "restarts", "none"];
    await run(restore(), index({ awaitsGateway: true }));
    expect([gatewayUses, warnings]).toEqual([["none"], []]);
  });

  it.each<[string, Target, string]>([
    ["on this machine", { kind: "host" }, "openclaw gateway restart"],
    ["in a container", { kind: "container", name: "claw" }, "docker restart claw"],
  ])(
    "the step names the command that restarts a gateway %s whose search stays paused",
    async (_, target, command) => {
      await run(restore());
      gatewayUses = ["none", "paused"];
      await runIn(target, index({ awaitsGateway: true }));
      expect(warnings).toEqual([
        `The gateway does not search OpenClaw's notes: index was built for model fts-only, expected m. Restart it, then look again: ${command}, then: install.sh --repair`,
      ]);
    },
  );
});

// verifies P-install-undone
describe("our service is removed from an OpenClaw that had no note yet", () => {
  beforeEach(async () => {
    write({});
    hasNotes = false;
    await run(point(), index({ mustWork: true }));
    expect([indexedBy, hasVectors]).toEqual(["ollama", false]);
  });

  it("a note that is written later can be indexed", async () => {
    await run(restore(), index());
    hasNotes = true;
    expect([canIndex(), warnings]).toEqual([true, []]);
    expect(remark).toBe("0 notes; OpenClaw indexes new ones when it next looks");
  });

  it("the step does not claim what it does not see", async () => {
    isEffective = false;
    await run(restore(), index());
    expect(canIndex()).toBe(false);
    expect(warnings.join()).toMatch(/did not rebuild.*it still belongs to the former provider.*--repair/);
    expect((await Journal.read(join(folder, "journal"))).entries.indexDue).toBe(true);
  });
});

describe("the operator's own provider", () => {
  it("is kept if it was set after the installation, and OpenClaw indexes with it", async () => {
    write({});
    await run(point(), index());
    const theirs = { memory: { search: { provider: "gemini", model: "g" } } };
    write(theirs);
    alive.add("gemini");
    await run(restore(), index());
    expect([read(), indexedBy]).toEqual([theirs, "gemini"]);
    expect(commands.some((command) => command.includes("reset"))).toBe(false);
  });

  it("keeps its vectors if it is down, and the warning names a command that works", async () => {
    write({ memory: { search: { provider: "gemini" } } });
    await run(point(), index());
    await run(restore(), index());
    expect(warnings.join()).toMatch(
      /provider gemini is unavailable.*openclaw memory index --force --agent main/,
    );
    expect(commands.some((command) => command.includes("reset"))).toBe(false);
    alive.add("gemini");
    await run(index());
    expect(indexedBy).toBe("gemini");
  });

  it("does not index again what it has indexed", async () => {
    write({});
    await run(point(), index());
    commands = [];
    await run(index());
    expect(commands.filter((command) => command.startsWith("memory"))).toEqual(["memory status --json"]);
  });
});

describe("an index that cannot be built", () => {
  it("fails a step that must work, with the reason", async () => {
    write({});
    await run(point());
    alive.clear();
    await expect(run(index({ mustWork: true }))).rejects.toThrow("provider ollama is unavailable");
  });

  it("does not create a journal if there was none", async () => {
    write({});
    indexedBy = "ollama";
    await run(index());
    expect(canIndex()).toBe(true);
    expect(existsSync(join(folder, "journal"))).toBe(false);
  });
});

/** Runs the steps in one run. The journal is read again, as in a new run. */
function run(...steps: readonly Step[]): Promise<void> {
  return runIn({ kind: "host" }, ...steps);
}

async function runIn(target: Target, ...steps: readonly Step[]): Promise<void> {
  const pause = async (ms: number) => {
    clockMs += ms;
  };
  const environment = await environmentIn(folder, program, { pause, now: () => clockMs });
  const outcome = await runSteps(steps, environment, target);
  warnings = outcome.warnings;
  remark = outcome.steps.at(-1)?.remark;
  if (outcome.error !== undefined) throw new Error(outcome.error);
}

const done = (stdout = "") => ({ exitCode: 0, stdout, stderr: "" });
const failed = (stderr: string) => ({ exitCode: 1, stdout: "", stderr });

/** In a container, `docker exec -i claw openclaw …`, and `sh` reads files. */
const program: Run = async (file, args, { input = "" } = {}) => {
  const command = (file === "docker" ? args.slice(4) : args).join(" ");
  if (args[3] === "sh") return failed("");
  if (command === "--version") return done(`OpenClaw ${version}\n`);
  commands.push(command);
  if (isKilled(command)) throw new Error("killed");
  if (command.startsWith("config patch")) write(JSON.parse(String(input)) as Json);
  if (command.startsWith("gateway call")) return gateway();
  if (command.startsWith("memory status")) return done(status());
  if (command.startsWith("memory index")) return indexing();
  if (command.startsWith("memory reset")) return reset();
  return done();
};

/** The default applies if nobody chose a provider. */
const provider = () => chosen() ?? "openai";
const chosen = (): string | undefined => read().memory?.search?.provider;
/** Whether `openclaw memory index` would succeed. Changes nothing. */
const canIndex = () => alive.has(provider()) || (chosen() === undefined && indexedBy === undefined);

function indexing() {
  if (!isEffective) return done();
  if (!canIndex()) return failed(`Memory index failed (main): provider ${provider()} is unavailable\n`);
  indexedBy = alive.has(provider()) ? provider() : undefined;
  hasVectors = hasNotes && indexedBy !== undefined;
  return done();
}

function reset() {
  busy -= 1;
  if (busy >= 0) return failed("Memory reset failed: the index is busy\n");
  if (isEffective) [indexedBy, hasVectors] = [undefined, false];
  return done();
}

function status(): string {
  const identity =
    indexedBy === provider()
      ? { status: "valid" }
      : {
          status: "mismatched",
          reason: `index was built for provider ${indexedBy ?? "none"}, expected ${provider()}`,
        };
  const vector = hasVectors ? { dims: 768 } : {};
  const files = hasNotes ? 1 : 0;
  const agent = { agentId: "main", status: { files, vector, custom: { indexIdentity: identity } } };
  return JSON.stringify([agent], null, 2);
}

/** The answers of OpenClaw 2026.9.6 to a search that its index does not allow. */
const TROUBLE: Readonly<Record<string, Json>> = {
  paused: {
    unavailable: true,
    error: "index was built for model fts-only, expected m",
    warning: "Memory search is paused.",
  },
  stale: { provider: "none", stale: true, warning: "Memory index is stale: Refusing to run sync." },
};

function gateway() {
  const [uses = "none"] = gatewayUses;
  if (gatewayUses.length > 1) gatewayUses = gatewayUses.slice(1);
  if (uses === "restarts") return failed("Gateway not reachable\n");
  const details = TROUBLE[uses] ?? { provider: uses };
  return done(JSON.stringify({ ok: true, output: { details } }));
}

/** A merge patch of two levels is enough here. */
function write(patch: Json): void {
  const memory = (patch as { memory?: Json }).memory;
  writeFileSync(configPath, JSON.stringify(memory === undefined || memory === null ? {} : { memory }));
}
const read = () => JSON.parse(existsSync(configPath) ? readFileSync(configPath, "utf8") : "{}");
