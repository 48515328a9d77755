/**
 * Runs the commands of docs/howto/from-helmdeck.md in their order in one shell, and compares their output with the page. helmdeck has no image here, so
 * a stand-in for `docker` copies from a folder. test/gateway/sources-helmdeck.test.ts covers the section on a running helmdeck.
 */
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROOT } from "../../scripts/build/build.ts";
import { DAY_MS } from "../app/fixtures/memories.ts";
import { CommandHome } from "../cli/command.ts";
import { goTime, KEY_HEX, makeDatabase, run } from "../transfer/helmdeck-database.ts";
import { bashBlocks, PastedShell, putProgram } from "./bash-blocks.ts";
import { consoleBlocks, patternOf } from "./console-blocks.ts";

const GUIDE = await readFile(join(ROOT, "docs/howto/from-helmdeck.md"), "utf8");
const STEPS = consoleBlocks(GUIDE).flatMap(({ steps }) => steps);

/** Handles a stopped service whose volume is a folder. */
const DOCKER = `case "$1 $2 $3" in
"compose stop control-plane") ;;
"compose cp control-plane:/data/helmdeck.db"*) cp "volume/\${3##*/}" "$4" ;;
*) exit 64 ;;
esac`;

let home: CommandHome;
let shell: PastedShell;
beforeAll(async () => {
  home = new CommandHome();
  shell = new PastedShell({ cwd: home.folder, env: await home.putInPath() });
  await mkdir(home.path("volume"));
  await putProgram(home.path("bin"), "docker", `sh -c '${DOCKER}' docker`);
  await home.write(".env.local", `HELMDECK_ADMIN_PASSWORD=x\nHELMDECK_MEMORY_KEY=${KEY_HEX}\n`);
  const session = "openclaw-configure:0b9a4c1e-5a5e-4c57-9d7e-0123456789ab";
  const now = Date.now();
  makeDatabase(home.path("volume"), [
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
afterAll(() => {
  shell.close();
  home.remove();
});

test("the guide for helmdeck users has commands for each of its tasks", () => {
  expect(STEPS.length).toBe(5);
});

test("the two files are copied", async () => {
  const [taking] = (await bashBlocks("howto/from-helmdeck.md")).filter(({ name }) => name === "compose");
  await shell.run(taking?.script ?? "exit 9");
});

test.each(STEPS)("$command", async ({ command, expected }) => {
  expect(await shell.run(command)).toMatch(patternOf(expected));
});
