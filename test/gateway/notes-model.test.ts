/**
 * OpenClaw's own notes, embedded by the built-in model in the real gateway: set up by the installer, through every fault that
 * docs/howto/openclaw-notes.md tells of, until the installer takes it back.
 *
 * Nearly all of its time is OpenClaw's own commands: thirteen minutes on two busy cores, so the faults run at night.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { installModel, modelFolderIn } from "../../model/artefact.ts";
import { NOTES_PLUGIN_ID, NOTES_PROVIDER } from "../../plugin/notes/notes-names.ts";
import { buildAll, MODEL_DIST } from "../../scripts/build/build.ts";
import { OpenClawHost } from "../../scripts/openclaw-host/openclaw-host.ts";
import { sized } from "../run/size.ts";
import { environmentOf, installerIn } from "./installer.ts";

const TIMEOUT_MS = 900_000;
/** After a failed search, OpenClaw does not search for a minute. */
const POLLING = { timeout: 180_000, interval: 1_000 };
const NOTE = "Maria cannot eat peanuts or shellfish.";
/** Shares no word with the note. Each is a new one, so that no cache answers. */
const meant = (number: number) => `dangerous food for her, question ${number}`;
const worded = (number: number) => `peanuts or shellfish, question ${number}`;

const atNight = it.runIf(sized(false, true));

let host: OpenClawHost;
let asked = 0;

beforeAll(async () => {
  await buildAll();
  host = await OpenClawHost.make({ notes: {}, config: { memory: null } });
  mkdirSync(join(host.home.workspace, "memory"), { recursive: true });
  writeFileSync(join(host.home.workspace, "memory", "2026-11-20.md"), `# Day\n\n${NOTE}\n`);
  await host.startGateway();
}, TIMEOUT_MS);
afterAll(() => host?.stop());

async function ask(question: (number: number) => string): Promise<string> {
  asked += 1;
  const { text } = await host.invokeTool("memory_search", { query: question(asked), corpus: "memory" });
  return text;
}
const finds = (question: (number: number) => string) =>
  expect.poll(() => ask(question), POLLING).toContain(NOTE);

async function openclaw(...args: readonly string[]): Promise<void> {
  const { code, stderr } = await host.openclaw(args);
  expect([code, code === 0 ? "" : stderr], args.join(" ")).toEqual([0, ""]);
}

const installer = async (...args: readonly string[]) => {
  const { code, report } = await installerIn(await environmentOf(host.home), ...args, "--yes");
  expect([code, report.missing, report.steps.at(-1)?.error]).toEqual([0, [], undefined]);
  return report;
};

/** With the gateway's process of the model, which has its files in memory. */
async function withoutGateway(change: () => unknown): Promise<void> {
  await host.stopGateway();
  await change();
  await host.startGateway();
}

// verifies P-notes-asked
it(
  "the installer leaves notes alone until it is asked for them, and then OpenClaw finds one in other words",
  async () => {
    const first = await installer("--embeddings", "builtin");
    expect(first.plan.map(({ kind }) => kind)).not.toContain("point-search");
    expect(await ask(meant)).not.toContain(NOTE);
    const report = await installer("--notes", "builtin");
    expect(report.plan.map(({ kind }) => kind)).toEqual([
      ...["install-notes-plugin", "point-search", "index-notes", "prove"],
    ]);
    expect(report.steps.at(-1)?.remark).toContain("OpenClaw embeds its own notes (1 chunk indexed)");
    await finds(meant);
  },
  TIMEOUT_MS,
);

atNight(
  "without the plugin, OpenClaw finds nothing and says so, until it is there again",
  async () => {
    await openclaw("plugins", "disable", NOTES_PLUGIN_ID);
    const unknown = `Unknown memory embedding provider: ${NOTES_PROVIDER}`;
    await expect.poll(() => ask(worded), POLLING).toContain(unknown);
    await openclaw("plugins", "enable", NOTES_PLUGIN_ID);
    await finds(meant);
    await openclaw("plugins", "uninstall", NOTES_PLUGIN_ID, "--force");
    await expect.poll(() => ask(worded), POLLING).toContain(unknown);
    const { plan } = await installer();
    expect(plan.map(({ kind }) => kind)).toEqual(["install-notes-plugin", "prove"]);
    await finds(meant);
  },
  TIMEOUT_MS,
);

atNight.each([
  ["deleted", (model: string) => rmSync(model, { recursive: true })],
  [
    "changed in one byte",
    (model: string) => {
      const file = join(model, "model.ort");
      const bytes = readFileSync(file);
      bytes[12_345] = (bytes[12_345] ?? 0) ^ 1;
      writeFileSync(file, bytes);
    },
  ],
])(
  "with the model %s, OpenClaw finds by words, until it is installed again",
  async (_, break_) => {
    const { stateDir } = host.home;
    await withoutGateway(() => break_(modelFolderIn(stateDir)));
    await finds(worded);
    expect(await ask(meant)).not.toContain(NOTE);
    await installModel(MODEL_DIST, stateDir);
    await finds(meant);
  },
  TIMEOUT_MS,
);

it(
  "the installer takes it back, and OpenClaw finds by words as before",
  async () => {
    const { warnings } = await installer("--uninstall");
    expect(warnings).toEqual([]);
    await finds(worded);
    expect(await ask(meant)).not.toContain(NOTE);
    expect(readFileSync(host.home.configPath, "utf8")).not.toMatch(/helmdeck-(memory|builtin)/);
  },
  TIMEOUT_MS,
);
