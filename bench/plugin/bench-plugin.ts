/**
 * Measures what the plugin costs the host: the start-up time of every command compared with an empty plugin, the size, the longest time
 * that it blocks the main thread, and the time from a cold gateway, and a cold server, to the first complete answer.
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
import { type ColdStart, measureColdStarts, tableOfColdStarts } from "./cold-starts.ts";
import { EMPTY_PLUGIN, packEmptyPlugin } from "./empty-plugin.ts";
import type { Slices } from "./plugin-slices.ts";

export interface PluginFigures {
  readonly tarballBytes: number;
  readonly commands: readonly CommandFigures[];
  readonly slices: Slices;
  readonly coldStarts: readonly ColdStart[];
}

/** Milliseconds, one per round, in the order of measurement. */
interface CommandFigures {
  readonly command: string;
  readonly emptyMs: readonly number[];
  readonly oursMs: readonly number[];
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
const COLD_ENTRIES = [10_000, 100_000];
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
    const coldStarts = await measureColdStarts(ours, empty, COLD_ENTRIES, onProgress);
    const json = { tarballBytes: statSync(ours).size, commands, slices, coldStarts };
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

function markdownOf({ tarballBytes, commands, slices, coldStarts }: PluginFigures): string {
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
    "Cold starts: a gateway and `helmdeck-memory serve` over the same memory. An answer counts as complete if it has the hits of a later one, and no note that only a part was searched. A gateway with an empty plugin shows what OpenClaw takes for its own first answer. Aim: 1,000 ms among 100,000 facts. This gateway has a proxy at which nothing listens, and OpenClaw with a proxy ends without stopping its plugins; without one, a gateway that stops keeps a copy.",
    "",
    tableOfColdStarts(coldStarts),
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
