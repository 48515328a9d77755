/** docs/howto/from-helmdeck.md: its commands, in its order, print what it says. */
import { execFile } from "node:child_process";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROOT } from "../../scripts/build/build.ts";
import { DAY_MS } from "../app/fixtures/memories.ts";
import { BUNDLED_COMMAND, CommandHome } from "../cli/command.ts";
import { goTime, KEY_HEX, makeDatabase, run } from "../transfer/helmdeck-database.ts";
import { consoleBlocks, patternOf } from "./console-blocks.ts";

const GUIDE = await readFile(join(ROOT, "docs/howto/from-helmdeck.md"), "utf8");
const STEPS = consoleBlocks(GUIDE).flatMap(({ steps }) => steps);

let home: CommandHome;
beforeAll(async () => {
  home = new CommandHome();
  const command = home.path("bin/helmdeck-memory");
  await mkdir(home.path("bin"));
  await writeFile(command, `#!/bin/sh\nexec "${process.execPath}" "${BUNDLED_COMMAND}" "$@"\n`);
  await chmod(command, 0o755);
  await home.write(".env.local", `HELMDECK_ADMIN_PASSWORD=x\nHELMDECK_MEMORY_KEY=${KEY_HEX}\n`);
  const session = "openclaw-configure:0b9a4c1e-5a5e-4c57-9d7e-0123456789ab";
  const now = Date.now();
  makeDatabase(home.folder, [
    { key: "deploy/tool", value: "We deploy through Konflux." },
    { key: "react/vue", value: "React over Vue", category: "My Prefs" },
    { key: "reports", value: "In Arabic.", tags: ["language"] },
    { key: "deploy/tool", value: "Ask the platform team.", namespace: "admin" },
    run("pack", DAY_MS, now),
    run("pipeline", DAY_MS, now),
    {
      key: `swe.solve/${"a1".repeat(8)}/notes`,
      value: "summary: done",
      category: "solve",
      namespace: session,
    },
    { key: `github.list_issues/${"0f".repeat(32)}`, value: "{}", category: "cache" },
    { key: `plan_history/${"a1".repeat(8)}/0${now}000000`, value: "{}", category: "plan_history" },
    { key: "old", value: "v", expiresAt: goTime(now - 1_000) },
    { key: "foreign", value: "v", sealedWith: Buffer.alloc(32, 7) },
  ]);
});
afterAll(() => home.remove());

test("shows each of its tasks", () => {
  expect(STEPS.length).toBe(5);
});

test.each(STEPS)("$command", async ({ command, expected }) => {
  const env = { PATH: `${home.path("bin")}:${process.env.PATH}`, HOME: home.folder, TZ: "UTC" };
  const running = promisify(execFile)("sh", ["-eu", "-c", `(${command}) 2>&1`], { cwd: home.folder, env });
  expect((await running).stdout).toMatch(patternOf(expected));
});
