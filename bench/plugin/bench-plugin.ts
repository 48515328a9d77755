/**
 * Measures what the plugin costs the host: the start-up time of every command compared with an empty plugin, the size, the longest time
 * that it blocks the main thread, and the time from a cold gateway to the first complete answer.
 *
 *   node bench/plugin/bench-plugin.ts [--rounds N] [--entries N]
 */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { ROOT } from "../../scripts/build/build.ts";
import { OpenClawHost } from "../../scripts/openclaw-host/openclaw-host.ts";
import { packPlugin } from "../../scripts/pack.ts";
import type { Measured } from "../measured.ts";
import { EMPTY_PLUGIN, packEmptyPlugin } from "./empty-plugin.ts";
import { fillMemory, NEEDLE } from "./fill.ts";
import type { Slices } from "./plugin-slices.ts";

export interface PluginFigures {
  readonly tarballBytes: number;
  readonly commands: readonly CommandFigures[];
  readonly slices: Slices;
  readonly coldStart: ColdStart;
}

/** Milliseconds, one per round, in the order of measurement. */
interface CommandFigures {
  readonly command: string;
  readonly emptyMs: readonly number[];
  readonly oursMs: readonly number[];
}

interface ColdStart {
  readonly entries: number;
  readonly gatewayReadyMs: number;
  readonly firstCompleteAnswerMs: number;
  /** With the memory open and the index built. */
  readonly laterAnswerMs: number;
}

export interface PluginBenchOptions {
  /** How often each command is measured with each plugin. */
  readonly rounds?: number;
  /** Entries in the memory that the slices are measured with. */
  readonly entries?: number;
  readonly onProgress?: (message: string) => void;
}

const PLUGIN = "helmdeck-memory";
const AIM_MORE_MS = 300;
const AIM_SLICE_MS = 10;
const SLICE_ROUNDS = 5;
const COLD_ENTRIES = 10_000;
const PROBE_OUTPUT_MAX_BYTES = 10_000_000;

export async function measurePlugin(options: PluginBenchOptions = {}): Promise<Measured> {
  const { rounds = 7, entries = 99_000, onProgress = () => {} } = options;
  const folder = mkdtempSync(join(tmpdir(), "helmdeck-bench-"));
  try {
    onProgress("packing the plugin, and an empty one");
    const ours = await packPlugin(folder);
    const empty = packEmptyPlugin(folder, JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")));
    const commands = await measureCommands(ours, empty, rounds, onProgress);
    onProgress(`the main thread's slices with ${entries} entries`);
    const slices = await measureSlices(entries);
    onProgress(`a cold gateway with ${COLD_ENTRIES} entries`);
    const coldStart = await measureColdStart(ours);
    const json = { tarballBytes: statSync(ours).size, commands, slices, coldStart };
    return {
      title: "The plugin in OpenClaw",
      command: "npm run bench:speed -- --only plugin",
      markdown: markdownOf(json),
      json,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Alternates between the two, so that a machine that becomes slower affects both. */
async function measureCommands(
  ours: string,
  empty: string,
  rounds: number,
  onProgress: (message: string) => void,
): Promise<readonly CommandFigures[]> {
  const hosts = { empty: await OpenClawHost.make(), ours: await OpenClawHost.make() };
  try {
    await hosts.empty.installPlugin(empty);
    await hosts.ours.installPlugin(ours);
    const commands = [
      { command: "openclaw --help", empty: ["--help"], ours: ["--help"] },
      {
        command: "openclaw plugins inspect <id> --runtime",
        empty: ["plugins", "inspect", EMPTY_PLUGIN, "--runtime"],
        ours: ["plugins", "inspect", PLUGIN, "--runtime"],
      },
    ];
    const figures: CommandFigures[] = [];
    for (const { command, empty: emptyArgs, ours: oursArgs } of commands) {
      onProgress(`${command}, ${rounds} times with each plugin`);
      const emptyMs: number[] = [];
      const oursMs: number[] = [];
      for (let round = 0; round <= rounds; round += 1) {
        const first = await timed(hosts.empty, emptyArgs);
        const second = await timed(hosts.ours, oursArgs);
        if (round === 0) continue; // the first round fills the caches of the file system and the compiler
        emptyMs.push(first);
        oursMs.push(second);
      }
      figures.push({ command, emptyMs, oursMs });
    }
    return figures;
  } finally {
    await Promise.all([hosts.empty.stop(), hosts.ours.stop()]);
  }
}

async function timed(host: OpenClawHost, args: readonly string[]): Promise<number> {
  const { code, ms, stderr } = await host.openclaw(args);
  if (code !== 0) throw new Error(`openclaw ${args.join(" ")} ended with ${code}: ${stderr}`);
  return ms;
}

/** Runs in a process of its own, so that nothing else uses its main thread. */
async function measureSlices(entries: number): Promise<Slices> {
  const probe = join(import.meta.dirname, "plugin-slices.ts");
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [probe, String(entries), String(SLICE_ROUNDS)],
    {
      maxBuffer: PROBE_OUTPUT_MAX_BYTES,
    },
  );
  const lastLine = stdout.trim().split("\n").at(-1) ?? "";
  return JSON.parse(lastLine);
}

async function measureColdStart(tarball: string): Promise<ColdStart> {
  const host = await OpenClawHost.make();
  try {
    await host.installPlugin(tarball);
    await fillMemory(host.home.stateDir, "main", COLD_ENTRIES);
    const began = performance.now();
    await host.startGateway();
    const gatewayReadyMs = performance.now() - began;
    await untilFound(host);
    const firstCompleteAnswerMs = performance.now() - began;
    const { ms: laterAnswerMs } = await host.invokeTool("memory_search", {
      query: NEEDLE.query,
      corpus: "wiki",
    });
    return { entries: COLD_ENTRIES, gatewayReadyMs, firstCompleteAnswerMs, laterAnswerMs };
  } finally {
    await host.stop();
  }
}

/** Waits until the last entry is found, and no hit says that only a part was searched. */
async function untilFound(host: OpenClawHost): Promise<void> {
  for (;;) {
    const { details } = await host.invokeTool("memory_search", { query: NEEDLE.query });
    const hits = JSON.stringify(details.results ?? []);
    if (hits.includes(NEEDLE.key) && !hits.includes("provenanceLabel")) return;
  }
}

function markdownOf({ tarballBytes, commands, slices, coldStart }: PluginFigures): string {
  return [
    `What the plugin adds to OpenClaw, beside an empty plugin. Its package has ${Math.round(tarballBytes / 1_000)} kB.`,
    "",
    "Start-up of OpenClaw's commands:",
    "",
    `| command, median of ${commands[0]?.oursMs.length ?? 0} | empty plugin | helmdeck-memory | difference, median of the pairs (aim: at most ${AIM_MORE_MS} ms) |`,
    "|---|--:|--:|--:|",
    ...commands.map(({ command, emptyMs, oursMs }) => {
      // The median of the differences of pairs, so that a burst of other work spoils one pair and not the result.
      const more = median(oursMs.map((having, round) => having - (emptyMs[round] ?? Number.NaN)));
      return `| \`${command}\` | ${ms(median(emptyMs))} | ${ms(median(oursMs))} | ${ms(more)} |`;
    }),
    "",
    "Longest time that the gateway's main thread is blocked at once. Memory runs in a worker thread, so its size does not matter:",
    "",
    `| ${slices.entries.toLocaleString("en")} entries (aim: at most ${AIM_SLICE_MS} ms) | first round | least of ${slices.rounds} rounds |`,
    "|---|--:|--:|",
    ...slices.phases.map(
      ({ phase, firstMs, leastMs }) => `| ${phase} | ${fine(firstMs)} | ${fine(leastMs)} |`,
    ),
    "",
    "From the start of the gateway:",
    "",
    `| cold gateway, ${coldStart.entries.toLocaleString("en")} entries | |`,
    "|---|--:|",
    `| the gateway takes requests | ${ms(coldStart.gatewayReadyMs)} |`,
    `| the first complete answer of memory_search | ${ms(coldStart.firstCompleteAnswerMs)} |`,
    `| a later answer, helmdeck only | ${ms(coldStart.laterAnswerMs)} |`,
  ].join("\n");
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
}

function ms(value: number): string {
  return `${Math.round(value).toLocaleString("en")} ms`;
}

function fine(value: number): string {
  return `${value.toFixed(1)} ms`;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { rounds: { type: "string" }, entries: { type: "string" } } });
  const { title, markdown } = await measurePlugin({
    ...(values.rounds === undefined ? {} : { rounds: Number(values.rounds) }),
    ...(values.entries === undefined ? {} : { entries: Number(values.entries) }),
    onProgress: (message) => console.error(`==> ${message}`),
  });
  console.log(`## ${title}\n\n${markdown}`);
}
