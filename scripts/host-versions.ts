/**
 * Tests the plugin on several OpenClaw versions and writes the table in docs/reference/openclaw-versions.md:
 *
 *     node scripts/host-versions.ts [VERSION[/NODE]…]
 *
 * Installs each version from the registry into a separate folder and runs the tests of vitest's project other-host on it, with
 * the given Node (default: this one). This takes about five minutes per version. The table contains only these results.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { OLDEST_HOST } from "./build/plugin-package.ts";
import { LOCKED_OPENCLAW } from "./openclaw-host/runtime.ts";

const PAGE = fileURLToPath(new URL("../docs/reference/openclaw-versions.md", import.meta.url));
const MARKED = /(?<=<!-- versions -->\n)[\s\S]*?(?=<!-- \/versions -->)/;

/** The table's rows, each with the titles of the tests that must pass. */
const ROWS: Readonly<Record<string, readonly string[]>> = {
  "loads, with no diagnostics": ["is loaded without diagnostics"],
  "an agent stores a fact, and a plain `memory_search` of a new conversation finds it": [
    "is found in a new conversation by a plain memory_search",
  ],
  "`memory_get` reads it, beside OpenClaw's own notes": [
    "is read in full by its path, beside OpenClaw's own notes",
  ],
  "a closed group gets nothing": [
    "is not found for a group",
    "in a group has neither the plugin's prompt lines nor the fact",
  ],
  "another agent gets nothing": ["is not found for another agent"],
  "what is forgotten is gone": ["is not found after it was forgotten"],
  "a person is asked before a wide forget, and denies or agrees": [
    "sees a preview, denies it, and nothing is deleted",
    "approves, and the facts are deleted",
  ],
  "lines in the system prompt": ["has the plugin's prompt lines, and stores a fact with the tool"],
  "`openclaw helmdeck …`": [
    "search finds the same as the agent",
    "forget asks first, and then deletes permanently, also for the gateway",
    "doctor finds no error, and reports whether direct chats share a memory",
  ],
  "`/helmdeck` in a chat": ["shows the status, searches, and explains itself"],
  "gateway method `helmdeck.status`": ["answers a gateway method"],
  "runs of MCP tools are recorded, once": [
    "becomes one audit row that memory_search finds, with only harmless inputs",
    "that fails is recorded with its error code",
  ],
  "a changed setting holds at once": ["applies a changed setting at once, and opens its database only once"],
  "semantic search (a stand-in for Ollama), and its loss and return": [
    "finds its fact by semantic search soon after it was stored, and no unrelated one",
    "stops: keyword search answers with the reason; after a restart, semantic search works again",
  ],
  "`install.sh --no-embeddings` and `--uninstall`, while no gateway runs": [
    "installs the plugin, and removes it again",
  ],
};

const vitestReport = z.object({
  testResults: z.array(
    z.object({ assertionResults: z.array(z.object({ title: z.string(), status: z.string() })) }),
  ),
});

/** The outcome of each test by title. */
type Endings = ReadonlyMap<string, string>;

async function main(named: readonly string[]): Promise<void> {
  const { openclaw, node } = OLDEST_HOST;
  const hosts = named.length > 0 ? named : [`${openclaw}/${node}`, LOCKED_OPENCLAW.version];
  const columns: { readonly host: string; readonly endings: Endings }[] = [];
  for (const host of hosts.map((one) => (one.includes("/") ? one : `${one}/${process.versions.node}`))) {
    console.log(`==> OpenClaw ${host.replace("/", " on Node ")}`);
    columns.push({ host, endings: await endingsOn(host) });
    const page = await readFile(PAGE, "utf8");
    await writeFile(PAGE, page.replace(MARKED, tableOf(columns)));
  }
}

async function endingsOn(host: string): Promise<Endings> {
  const folder = await mkdtemp(join(tmpdir(), "helmdeck-versions-"));
  try {
    const file = join(folder, "report.json");
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
    const run = spawn("npx", ["vitest", "run", "--project", "other-host", ...reporters], {
      env: { ...process.env, HELMDECK_OPENCLAW: host },
      stdio: "inherit",
    });
    await once(run, "close");
    const { testResults } = vitestReport.parse(JSON.parse(await readFile(file, "utf8")));
    const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
    return new Map(tests.map(({ title, status }) => [title, status]));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function tableOf(columns: readonly { readonly host: string; readonly endings: Endings }[]): string {
  const heads = columns.map(({ host }) => host.replace("/", "<br>Node "));
  const rows = Object.entries(ROWS).map(([row, titles]) => [
    row,
    ...columns.map(({ endings }) => cellOf(titles.map((title) => endingOf(title, endings)))),
  ]);
  const lines = [["OpenClaw", ...heads], ["---", ...heads.map(() => ":---:")], ...rows];
  const day = new Date().toISOString().slice(0, "2026-01-01".length);
  return `\n${lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n")}\n\nRun on ${day}, ${process.platform} ${process.arch}.\n\n`;
}

/** Fails for an unknown title, which would otherwise look like a missing feature. */
function endingOf(title: string, endings: Endings): string {
  const ending = endings.get(title);
  if (ending === undefined) throw new Error(`No test is called "${title}"; see ROWS.`);
  return ending;
}

function cellOf(endings: readonly string[]): string {
  if (endings.every((ending) => ending === "passed")) return "yes";
  return endings.includes("failed") ? "**no**" : "not tried";
}

if (import.meta.main) await main(process.argv.slice(2));
