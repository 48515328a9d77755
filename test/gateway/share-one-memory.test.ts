/** Runs the commands of docs/howto/share-one-memory.md unchanged: some in a shell of the engine's machine, some in one of OpenClaw's. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DIST } from "../../scripts/build/build.ts";
import { OpenClawHost } from "../../scripts/openclaw-host/openclaw-host.ts";
import { bashBlocks, PastedShell, putProgram } from "../docs/bash-blocks.ts";
import { resultOfSetUp } from "./shared.ts";

const BLOCKS = await bashBlocks("howto/share-one-memory.md");
const ADDRESS = "https://memory.example";

let host: OpenClawHost;
let engineUrl: string;
let shells: { readonly engine: PastedShell; readonly openclaw: PastedShell };
const cleanUps: (() => Promise<void>)[] = [];

beforeAll(async () => {
  host = await OpenClawHost.make({ otherAgents: ["work"] });
  cleanUps.push(() => host.stop());
  await host.installPlugin((await resultOfSetUp()).tarball);
  const { node, entry } = host.home.runtime;
  await putProgram(bin(), "openclaw", `"${node}" "${entry}"`);
  await putProgram(bin(), "helmdeck-memory", `"${process.execPath}" "${join(DIST, "helmdeck-memory.mjs")}"`);
  await putProgram(bin(), "install.sh", `"${process.execPath}" "${join(DIST, "install.mjs")}"`);
  const shellOf = (where: keyof typeof shells) => new PastedShell({ env: envOf(where), cwd: host.home.root });
  shells = { engine: shellOf("engine"), openclaw: shellOf("openclaw") };
  cleanUps.push(async () => {
    for (const shell of Object.values(shells)) shell.close();
  });
});
afterAll(async () => {
  for (const clean of cleanUps.reverse()) await clean();
});

// The tests depend on their order, like the steps of the page.
describe("the guide to one memory for several machines", () => {
  it("moves the existing memory", async () => {
    await run('openclaw helmdeck store editor "Edits with vim"', "openclaw");
    for (const script of blocks("before")) await run(script, "openclaw");
    for (const script of blocks("engine")) await run(script, "engine");
    for (const script of blocks("after")) await run(script, "engine");
  });

  it("starts the server", async () => {
    const [script = ""] = blocks("serve");
    const [secret = "", ...command] = script.trim().split(" ");
    const serving = `export ${secret}; exec ${command.join(" ")} --port 0`;
    const child = spawn("bash", ["-euc", serving], {
      env: envOf("engine"),
      stdio: ["ignore", "pipe", "ignore"],
    });
    const ended = once(child, "close");
    cleanUps.push(async () => {
      child.kill("SIGTERM");
      await ended;
    });
    const [line] = await Promise.race([once(child.stdout.setEncoding("utf8"), "data"), ended]);
    engineUrl = /http:\/\/127\.0\.0\.1:\d+/.exec(String(line))?.[0] ?? "";
    expect(engineUrl).not.toBe("");
  });

  it("configures OpenClaw to use the engine, and reports it", async () => {
    const [plan, , check] = [...blocks("openclaw")];
    expect(await run(plan ?? "", "openclaw")).toContain(
      `let the engine at ${engineUrl} keep the memory of main, work`,
    );
    for (const script of blocks("openclaw").slice(1, 2)) await run(script, "openclaw");
    const said = await run(check ?? "", "openclaw");
    expect(said).toContain(`the engine at ${engineUrl}, version`);
    expect(said).toContain("agent work: has the memory of work");
    expect(said).toContain("We deploy through Konflux");
    expect(await run("openclaw helmdeck get editor", "openclaw")).toContain("Edits with vim");
  });

  it("has only commands that this test runs", () => {
    expect(BLOCKS.map(({ name }) => name)).toEqual([
      ...["engine", "serve", "engine", "openclaw", "openclaw", "openclaw", "before", "after"],
    ]);
  });
});

function blocks(where: string): readonly string[] {
  return BLOCKS.filter(({ name }) => name === where).map(({ script }) => script);
}

/** Both machines are this one, with one home folder. The engine's memory has a separate folder. */
function envOf(where: "engine" | "openclaw"): Record<string, string> {
  const { env, root } = host.home;
  const path = { PATH: `${bin()}:${env.PATH}` };
  if (where === "openclaw") return { ...env, ...path };
  return { ...path, HOME: String(env.HOME), OPENCLAW_STATE_DIR: join(root, "engine-state") };
}

function run(script: string, where: "engine" | "openclaw"): Promise<string> {
  return shells[where].run(script.replaceAll(ADDRESS, engineUrl));
}

function bin(): string {
  return join(host.home.root, "bin");
}
