/** The unit of systemd that ships, judged by systemd's own tool, with the settings that the guide shows for it. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { CommandHome } from "../cli/command.ts";
import { whyWithout } from "../run/programs.ts";

const at = (page: string) => fileURLToPath(new URL(`../../docs/${page}`, import.meta.url));
const run = promisify(execFile);
const missing = whyWithout("systemd-analyze", "--version");

let folder: string;
let unit: string;
let text: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "helmdeck-unit-"));
  unit = join(folder, "helmdeck-memory.service");
  text = await readFile(at("reference/helmdeck-memory.service"), "utf8");
  // systemd asks whether the program is there; its arguments are tested below.
  await writeFile(unit, text.replace("ExecStart=/usr/bin/helmdeck-memory", "ExecStart=/bin/true"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const settingOf = (name: string) => new RegExp(`^${name}=(.*)$`, "m").exec(text)?.[1] ?? "";

describe.skipIf(missing !== undefined)(`the unit${missing ? ` (left out: ${missing})` : ""}`, () => {
  test("is one that systemd takes without a word", async () => {
    expect(await run("systemd-analyze", ["verify", unit])).toEqual({ stdout: "", stderr: "" });
  });

  test("exposes little", async () => {
    const args = ["security", "--offline=true", "--threshold=15", unit];
    expect((await run("systemd-analyze", args)).stdout).toMatch(/Overall exposure level .*: 1\.\d OK/);
  });
});

test("the unit starts the server as its guide says, and gives it time to end", async () => {
  const [, settings = ""] =
    /```yaml\n(# \/etc\/helmdeck\/serve\.yml[\s\S]*?)```/.exec(
      await readFile(at("howto/run-the-server.md"), "utf8"),
    ) ?? [];
  const file = join(folder, "serve.yml");
  await writeFile(file, settings.replaceAll("/etc/helmdeck", folder), { mode: 0o600 });
  for (const name of ["memory.key", "jwt.secret"])
    await writeFile(join(folder, name), "5a".repeat(32), { mode: 0o600 });
  const [program, ...args] = settingOf("ExecStart").replace("/etc/helmdeck/serve.yml", file).split(" ");
  expect(program).toBe("/usr/bin/helmdeck-memory");
  const home = new CommandHome();
  try {
    const checked = await home.run([...args, "--check-config", "--json"]);
    expect(JSON.parse(checked.stdout).problems).toEqual([]);
  } finally {
    home.remove();
  }
  const { "drain-seconds": drainSeconds } = parse(settings);
  const GRACE_SECONDS = 10;
  expect(Number(settingOf("TimeoutStopSec"))).toBeGreaterThan(drainSeconds + 2 * GRACE_SECONDS);
});
