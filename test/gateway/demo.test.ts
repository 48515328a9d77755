/** The demo: its output, its messages if something is wrong, and that it leaves nothing behind. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { it as base, describe, expect } from "vitest";
import { ROOT } from "../../scripts/build/build.ts";
import { processesWith } from "../../scripts/openclaw-host/openclaw-host.ts";

/** The watcher of a killed demo asks the gateway to end, and waits for it. */
const CLEAN_WITHIN_MS = 90_000;

/** Two tests at a time (vitest.config.ts), each with its own place. */
const it = base.extend<{ place: Place }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which other fixtures this one needs
  place: async ({}, use) => {
    const temp = await realpath(await mkdtemp(join(tmpdir(), "helmdeck-demo-")));
    const factsFolder = await mkdtemp(join(tmpdir(), "helmdeck-facts-"));
    await use({ temp, factsFolder });
    for (const folder of [temp, factsFolder]) await rm(folder, { recursive: true, force: true });
  },
});

describe.concurrent("npm run demo", () => {
  it("finds facts in other words beside OpenClaw's notes, and shows what contradicts; --keep leaves the gateway until its stop command", async ({
    place,
  }) => {
    const { code, stdout } = await demo(place, ["--json", "--keep"]).ended;
    expect(code, stdout).toBe(0);
    const shown = JSON.parse(stdout);
    expect(shown.found).toBe(true);
    const [meant, fact, times] = shown.answers.map(({ hits }: { hits: readonly unknown[] }) => hits);
    expect(meant[0]).toMatchObject({ corpus: "helmdeck", path: "helmdeck/user_facts/editor.md" });
    expect(meant[0].score).toBeGreaterThan(0.5);
    expect(fact).toContainEqual(
      expect.objectContaining({ corpus: "helmdeck", path: "helmdeck/user_facts/deployment-preference.md" }),
    );
    expect(fact).toContainEqual(expect.objectContaining({ corpus: "memory", path: "memory/2026-10-05.md" }));
    expect(times[0].snippet).toMatch(/contradicts "(office\/parking|garage\/hours)"/);
    expect(shown.steps.length).toBeGreaterThan(4);

    const token = (await readFile(shown.gateway.tokenPath, "utf8")).trim();
    const ready = await fetch(`${shown.gateway.url}/readyz`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(ready.status).toBe(200);
    // Simulates a shell without Node, or with an old one.
    const env = { PATH: "/usr/bin:/bin", HOME: place.temp };
    const used = await promisify(execFile)("sh", ["-c", shown.gateway.use], { env });
    expect(used.stdout).toContain("deployment-preference");
    await new Promise((done) => execFile("sh", ["-c", shown.gateway.stop], done));
    await expectNothingLeft(place);
  });

  it("searches a user's own facts, names questions without hits, and then fails", async ({ place }) => {
    const facts = await factsFile(
      place,
      { key: "canteen/soup", value: "The canteen serves lentil soup on Thursdays." },
      {
        audit: "pipeline",
        pipeline: "nightly-index",
        run_id: "r7",
        outcome: "failed",
        at_unix: 1_790_000_000,
      },
    );
    const queries = ["--query", "which soup does the canteen serve", "--query", "how tall is the lighthouse"];
    const { code, stdout } = await demo(place, ["--facts", facts, ...queries]).ended;
    expect(stdout).toContain("helmdeck/user_facts/canteen/soup.md");
    expect(stdout).toContain("? how tall is the lighthouse");
    expect(stdout).toMatch(
      /✗ memory_search's reply to "how tall is the lighthouse" holds no sure hit from helmdeck\//,
    );
    expect(stdout).not.toContain("\u001b");
    expect(code).toBe(1);
    await expectNothingLeft(place);
  });

  it.for<[string[], number, RegExp]>([
    [
      ["--facts", "no-such-file.jsonl", "--query", "x"],
      1,
      /✗ --facts no-such-file\.jsonl cannot be read \(ENOENT\)/,
    ],
    [["--facts", "no-such-file.jsonl"], 2, /--facts needs a question/],
    [["--fact", "x"], 2, /unknown option/],
    [["--help"], 0, /Usage: npm run demo --/],
  ])("%j ends with %i at once", async ([args, expected, said], { place }) => {
    const { code, stdout, stderr } = await demo(place, args).ended;
    expect(stdout + stderr).toMatch(said);
    expect(stdout).not.toContain("install the plugin");
    expect(code).toBe(expected);
    await expectNothingLeft(place);
  });

  it("reports bad lines of a user's file before any long step", async ({ place }) => {
    const facts = await factsFile(
      place,
      { key: "good", value: "v" },
      { key: "", value: "v" },
      { value: "v" },
    );
    const { code, stdout } = await demo(place, ["--facts", facts, "--query", "x"]).ended;
    expect(stdout).toContain("line 2: key is missing");
    expect(stdout).toContain("line 3: key is missing");
    expect(stdout).not.toContain("line 1");
    expect(stdout).not.toContain("install the plugin");
    expect(code).toBe(1);
    await expectNothingLeft(place);
  });
});

describe.concurrent("stopping the demo", () => {
  it("with Ctrl-C after the gateway's start leaves no process and no folder", async ({ place }) => {
    const run = demo(place, []);
    await run.printed("✓ start the gateway");
    // A terminal sends SIGINT to the whole foreground process group: npm, its scripts and the demo.
    process.kill(-run.pid, "SIGINT");
    const { code, stdout } = await run.ended;
    expect(code).not.toBe(0);
    expect(stdout).toContain("Stopped.");
    expect(stdout).not.toContain("✗");
    await expectNothingLeft(place);
  });

  it("with Ctrl-C during the build leaves no process and no folder, neither in the temporary folder nor in the clone", async ({
    place,
  }) => {
    const before = await unfinishedBuilds();
    const run = demo(place, []);
    await expect.poll(() => remaining(place), { timeout: CLEAN_WITHIN_MS, interval: 10 }).not.toEqual([]);
    process.kill(-run.pid, "SIGINT");
    expect((await run.ended).code).not.toBe(0);
    await expectNothingLeft(place);
    expect(await unfinishedBuilds()).toEqual(before);
  });

  it("with SIGKILL leaves nothing behind for long", async ({ place }) => {
    const run = demo(place, []);
    await run.printed("✓ install the plugin");
    process.kill(-run.pid, "SIGKILL");
    await run.ended;
    await expect.poll(() => remaining(place), { timeout: CLEAN_WITHIN_MS }).toEqual([]);
  });
});

interface Place {
  /** TMPDIR of every process that a test starts. Everything that a demo leaves behind is in it, or has it in its environment. */
  readonly temp: string;
  readonly factsFolder: string;
}

interface Run {
  readonly pid: number;
  /** Resolves when the text is printed. Rejects if the demo ends without it. */
  printed(text: string): Promise<void>;
  readonly ended: Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>;
}

function demo({ temp }: Place, args: readonly string[]): Run {
  const env = { ...process.env, TMPDIR: temp, FORCE_COLOR: undefined };
  const child = spawn("npm", ["run", "--silent", "demo", "--", ...args], { cwd: ROOT, env, detached: true });
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk) => (output.stdout += chunk));
  child.stderr.on("data", (chunk) => (output.stderr += chunk));
  const ended = new Promise<Awaited<Run["ended"]>>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, ...output }));
  });
  return { pid: child.pid ?? 0, ended, printed: (text) => printed(child, output, text) };
}

function printed(child: ChildProcess, output: { readonly stdout: string }, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = () => output.stdout.includes(text) && resolve();
    child.stdout?.on("data", look);
    child.once("close", () => reject(new Error(`"${text}" was not printed:\n${output.stdout}`)));
    look();
  });
}

async function factsFile({ factsFolder }: Place, ...lines: readonly object[]): Promise<string> {
  const file = join(factsFolder, "facts.jsonl");
  await writeFile(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return file;
}

/** Folders of builds that were killed, at any time. */
async function unfinishedBuilds(): Promise<readonly string[]> {
  return (await readdir(ROOT)).filter((name) => name.startsWith(".dist"));
}

async function expectNothingLeft(place: Place): Promise<void> {
  expect(await remaining(place)).toEqual([]);
}

/** Processes and files that carry the test's TMPDIR. Ignores npm's compile cache, which npm always leaves there. */
async function remaining({ temp }: Place): Promise<readonly (number | string)[]> {
  const files = (await readdir(temp)).filter((name) => name !== "node-compile-cache");
  return [...(await processesWith(temp)), ...files];
}
