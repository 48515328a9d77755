/** The gateway of the smoke test: it runs while it is needed, has its own token, and ends in any case, however the installer ends. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { makeRun } from "../../install/run-command.ts";
import { Docker } from "../../install/run-docker.ts";
import { OpenClaw } from "../../install/run-openclaw.ts";
import { withGateway } from "../../install/smoke-test/smoke-test-gateway.ts";
import { testFolder } from "./fixtures.ts";

/** Listens like a gateway, has a child process like a gateway, and takes a moment to shut down. */
const PROGRAM = `#!/bin/sh
if [ "$1" = --version ]; then echo "OpenClaw 2026.9.6"; exit 0; fi
if [ "$1" = token ]; then echo "$OPENCLAW_GATEWAY_TOKEN"; exit 0; fi
echo "$@" > "$SEEN/arguments"
if [ "$DIES" = at-once ]; then
  echo "WARNING - a banner that says nothing"
  echo "Doctor could not enter maintenance. another OpenClaw process owns gateway-lifecycle" >&2
  echo "[gateway] requires state migration. Stop the service" >&2
  exit 78
fi
exec "${process.execPath}" -e '
  const { spawn } = require("node:child_process");
  const fs = require("node:fs");
  const child = spawn("sleep", ["1000"]);
  fs.writeFileSync(process.env.SEEN + "/pids", process.pid + " " + child.pid);
  const server = require("node:http").createServer((_, response) => response.end("ok"));
  server.listen(Number(process.env.OPENCLAW_GATEWAY_PORT), "127.0.0.1");
  process.once("SIGTERM", () => setTimeout(() => {
    fs.writeFileSync(process.env.SEEN + "/let-go", "");
    process.exit(0);
  }, 300));
  const dies = setInterval(() => {
    if (!fs.existsSync(process.env.SEEN + "/die")) return;
    console.error("FATAL ERROR: the heap is full");
    child.kill();
    process.exit(134);
  }, 20);
'
`;

let folder: string;
let env: Record<string, string>;

beforeEach(() => {
  folder = testFolder();
  writeFileSync(join(folder, "openclaw"), PROGRAM, { mode: 0o755 });
  env = { PATH: `${folder}:${process.env.PATH}`, SEEN: folder, HOME: folder, TMPDIR: folder };
});

describe("the gateway of the smoke test", () => {
  it("is called with its own token, and ends with its child processes", async () => {
    const token = await withGateway(await openclaw(), environment(), async (gateway) => {
      expect(pids().every(isAlive)).toBe(true);
      return (await gateway.must("say its token", ["token"])).trim();
    });
    expect(token).toMatch(/^[\da-f]{48}$/);
    expect(seen("arguments")).not.toContain(token);
    expect(seen("arguments")).toContain("--bind loopback");
    expect(existsSync(join(folder, "let-go"))).toBe(true);
    expect(pids().some(isAlive)).toBe(false);
  });

  it("ends also after a failure", async () => {
    const failing = withGateway(await openclaw(), environment(), async () => {
      throw new Error("not passed");
    });
    await expect(failing).rejects.toThrow("not passed");
    expect(pids().some(isAlive)).toBe(false);
  });

  it("fails at once if it ends early, with its own reason and the setting that helps", async () => {
    env = { ...env, DIES: "at-once" };
    let pauses = 0;
    const counted = async (ms: number) => {
      pauses += 1;
      await pause(ms);
    };
    const testing = withGateway(await openclaw(), { env, pause: counted }, () =>
      Promise.reject(new Error("it was never ready")),
    );
    await expect(testing).rejects.toThrow(
      /stopped \(78\): Doctor could not enter maintenance\. another OpenClaw process owns gateway-lifecycle .*OPENCLAW_GATEWAY_PORT/,
    );
    // Three minutes would be nine hundred checks.
    expect(pauses).toBeLessThan(450);
    expect(foldersOfSmokeTests()).toEqual([]);
  });

  it("stops every wait with its reason if it ends during the test", async () => {
    const testing = withGateway(await openclaw(), environment(), async (_, watchedPause) => {
      writeFileSync(join(folder, "die"), "");
      await watchedPause(600_000);
    });
    await expect(testing).rejects.toThrow("stopped (134): FATAL ERROR: the heap is full");
    expect(pids().some(isAlive)).toBe(false);
  });

  it("ends soon after the installer is killed", async () => {
    const installer = spawn(process.execPath, ["--input-type=module", "-e", KILLED], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(installer.stdout, "data");
    installer.kill("SIGKILL");
    await once(installer, "exit");
    while (pids().some(isAlive)) await pause(20);
    expect(existsSync(join(folder, "let-go"))).toBe(true);
    await expect.poll(foldersOfSmokeTests).toEqual([]);
  });
});

const module = (name: string) => JSON.stringify(join(import.meta.dirname, "..", "..", "install", name));
/** An installer in the middle of its smoke test. */
const KILLED = `
  import { withGateway } from ${module("smoke-test/smoke-test-gateway.ts")};
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  await withGateway({ withEnv: () => ({}) }, { env: process.env, pause }, () => {
    console.log("ready");
    return new Promise(() => setInterval(() => {}, 1_000));
  });
`;

async function openclaw(): Promise<OpenClaw> {
  const run = makeRun(env);
  const found = await OpenClaw.find(
    { kind: "host" },
    { run, docker: new Docker(run, folder), homeDir: folder },
  );
  if (found === undefined) throw new Error("the program was not found");
  return found;
}

const environment = () => ({
  env,
  pause: async (ms: number) => {
    await pause(ms);
  },
});
const seen = (name: string) => readFileSync(join(folder, name), "utf8");
/** The watcher's own folders. */
const foldersOfSmokeTests = () =>
  readdirSync(folder).filter((name) => name.startsWith("helmdeck-smoke-test-"));
const pids = () => seen("pids").split(" ").map(Number);

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(stateOf(pid));
  } catch {
    return false;
  }
}

/** A dead process that its parent has not collected yet counts as gone. Without /proc, the two cannot be distinguished. */
function stateOf(pid: number): string {
  const file = `/proc/${pid}/status`;
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}
