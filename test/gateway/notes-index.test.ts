/**
 * OpenClaw's own search of notes after our embedding service was removed, if nobody had chosen a provider before: new notes are found, as
 * on a host that never had our plugin. Here OpenClaw had no note before; test/docker/host.test.ts shows the same with one.
 *
 * Nearly all of its time is OpenClaw's own commands, so it runs at night.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { execute } from "../../install/execute.ts";
import { inspectOpenClaw } from "../../install/inspect/inspect-openclaw.ts";
import type { Step } from "../../install/steps/registry.ts";
import { OpenClawHost } from "../../scripts/openclaw-host/openclaw-host.ts";
import { sized } from "../run/size.ts";
import { type StandInOllama, startStandInOllama } from "../sidecar/stand-in-ollama.ts";
import { environmentOf, installerIn, reporting } from "./installer.ts";

const MODEL = "nomic-embed-text";
/** The configuration of a person who never chose a provider: no `memory`, and no key for OpenClaw's default provider. */
const NO_PROVIDER = { memory: null, plugins: { allow: ["memory-core", "ollama"] } };
const TIMEOUT_MS = 900_000;

let ollama: StandInOllama;

beforeAll(async () => {
  ollama = await startStandInOllama({ models: [MODEL] });
});
afterAll(() => ollama?.close());

const atNight = describe.runIf(sized(false, true));

atNight("a running gateway that had no note yet", () => {
  let host: OpenClawHost;
  beforeAll(async () => {
    host = await OpenClawHost.make({ notes: {}, config: NO_PROVIDER });
    await host.startGateway();
  });
  afterAll(() => host?.stop());

  it("finds a note written after the embedding service was removed", { timeout: TIMEOUT_MS }, async () => {
    await done(host, pointed(host));
    const embedded = await host.invokeTool("memory_search", { query: "build system", corpus: "memory" });
    expect(embedded.details.provider).toBe("ollama");
    expect(await done(host, takenBack(host, true))).toEqual([]);
    writeNote(host, "The giraffe naps under the acacia.");
    await expect
      .poll(
        async () =>
          (await host.invokeTool("memory_search", { query: "giraffe acacia", corpus: "memory" })).text,
      )
      .toContain("giraffe naps");
  });
});

atNight("without a gateway", () => {
  let host: OpenClawHost;
  beforeAll(async () => {
    host = await OpenClawHost.make({ config: NO_PROVIDER });
  });
  afterAll(() => host?.stop());

  it("OpenClaw refuses the index that earlier versions left where there was no note yet, and --repair fixes it", {
    timeout: TIMEOUT_MS,
  }, async () => {
    await done(host, pointed(host));
    // Simulates version 0.2, which restored the provider, left the index, and then removed its journal.
    await host.openclaw(["config", "unset", "memory.search"]);
    await (await environmentOf(host.home)).journal.forget({ keepCopy: false });
    writeNote(host, "The zanzibar harbour opens at nine.");
    const refused = await host.openclaw(["memory", "index", "--force"]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("Refusing to run sync")]);

    const { code, report } = await installerIn(await environmentOf(host.home), "--repair", "--yes");
    expect([code, report.steps.at(-1)?.error]).toEqual([0, undefined]);
    expect(report.plan.map(({ kind }) => kind)).toEqual(["index-notes"]);
    const found = await host.openclaw(["memory", "search", "zanzibar harbour", "--json"]);
    expect(found.stdout).toContain("opens at nine");

    const again = await installerIn(await environmentOf(host.home), "--repair", "--yes");
    expect([again.code, again.report.plan]).toEqual([0, []]);
  });
});

const step = (host: OpenClawHost) => ({ configPath: host.home.configPath });

function pointed(host: OpenClawHost): readonly Step[] {
  const point = {
    provider: "ollama",
    model: MODEL,
    baseUrl: ollama.address,
    replaces: undefined,
    allow: [],
  } as const;
  return [
    { kind: "point-search", ...step(host), ...point },
    { kind: "index-notes", ...step(host), mustWork: true, awaitsGateway: false },
  ];
}

function takenBack(host: OpenClawHost, awaitsGateway: boolean): readonly Step[] {
  return [
    { kind: "restore-search", ...step(host) },
    { kind: "index-notes", ...step(host), mustWork: false, awaitsGateway },
  ];
}

/** Runs the steps to their end. Returns their warnings. */
async function done(host: OpenClawHost, steps: readonly Step[]): Promise<readonly string[]> {
  const environment = await environmentOf(host.home);
  const { openclaw } = await inspectOpenClaw(environment, { kind: "host" }, { notes: "never" });
  const { reporter, report } = reporting();
  const outcome = await execute(steps, environment, openclaw, reporter);
  reporter.end({ plan: undefined, ...outcome, isDryRun: false });
  expect(outcome.steps.at(-1)?.error).toBeUndefined();
  return report().warnings;
}

function writeNote({ home }: OpenClawHost, text: string): void {
  mkdirSync(join(home.workspace, "memory"), { recursive: true });
  writeFileSync(join(home.workspace, "memory", "2026-11-20.md"), `# Day\n\n${text}\n`);
}
