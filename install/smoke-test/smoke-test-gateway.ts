/**
 * A gateway of our own on loopback, for as long as the smoke test takes, where none runs.
 *
 * It is the operator's OpenClaw with the operator's configuration, so it must not act: no channels, no schedule. Its token is
 * made for it and is in its environment alone. It ends with this process, also when that is killed: the shell that watches it
 * sees its standard input close. When it ends by itself, whoever waits for it is told at once, with its own reason.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { HelmdeckError } from "../../app/index.ts";
import type { Environment } from "../environment.ts";
import { INSTALLER } from "../install-names.ts";
import { lineIn } from "../reason.ts";
import type { OpenClaw } from "../run-openclaw.ts";

const READY_WITHIN_MS = 180_000;
const LOOK_AGAIN_MS = 200;
/** What the gateway prints, in the folder of this run. */
const LOG = "log";

/**
 * The watcher leads a process group, and all that the gateway starts is in it. It prints the gateway's exit code when that ends
 * by itself. Once standard input closes, the group is asked to end and gets a minute: a gateway that is killed leaves a lease on
 * OpenClaw's state behind. Then whatever is left is killed. `$0` is the folder, which goes too.
 */
const WATCHED = `
{
  trap : TERM
  openclaw gateway run --bind loopback --auth token --port "$OPENCLAW_GATEWAY_PORT" --allow-unconfigured </dev/null >"$0/${LOG}" 2>&1
  echo "$?"
} &
gateway=$!
cat >/dev/null
trap '' TERM
kill -s TERM -- "-$$"
(sleep 60; kill -s KILL -- "-$$") &
wait "$gateway"
rm -rf "$0"
kill -s KILL -- "-$$"
`;

const QUIET = {
  OPENCLAW_SKIP_CHANNELS: "1",
  OPENCLAW_SKIP_CRON: "1",
  OPENCLAW_SKIP_GMAIL_WATCHER: "1",
  OPENCLAW_SKIP_BROWSER_CONTROL_SERVER: "1",
  OPENCLAW_DISABLE_BONJOUR: "1",
  OPENCLAW_NO_AUTO_UPDATE: "1",
  OPENCLAW_NO_RESPAWN: "1",
};

type Watcher = ChildProcessByStdio<Writable, Readable, null>;
type Pause = Environment["pause"];

/** `use` gets the OpenClaw that asks this gateway, and a pause that ends with an error when the gateway ends. */
export async function withGateway<Answer>(
  openclaw: OpenClaw,
  { env, pause }: Pick<Environment, "env" | "pause">,
  use: (openclaw: OpenClaw, pause: Pause) => Promise<Answer>,
): Promise<Answer> {
  const port = await freePort();
  const own = {
    OPENCLAW_GATEWAY_PORT: String(port),
    OPENCLAW_GATEWAY_TOKEN: randomBytes(24).toString("hex"),
  };
  const folder = await mkdtemp(join(env.TMPDIR || tmpdir(), "helmdeck-smoke-test-"));
  const watcher = watch(folder, { ...env, ...QUIET, ...own });
  const gone = goneOf(watcher, folder);
  const exited = Promise.race([once(watcher, "exit"), once(watcher, "error")]).catch(() => {});
  const watchedPause: Pause = (ms) => Promise.race([pause(ms), gone]);
  try {
    await untilReady(port, folder, watchedPause);
    return await Promise.race([use(openclaw.withEnv(own), watchedPause), gone]);
  } finally {
    watcher.stdin.end();
    await exited;
    await rm(folder, { recursive: true, force: true });
  }
}

function watch(folder: string, env: NodeJS.ProcessEnv): Watcher {
  const watcher = spawn("sh", ["-c", WATCHED, folder], {
    env,
    stdio: ["pipe", "pipe", "ignore"],
    // A group of its own; so Ctrl-C in the terminal is for us, and the watcher ends the gateway afterwards.
    detached: true,
  });
  watcher.stdin.on("error", () => {}); // it has ended already
  return watcher;
}

/** Rejects when the gateway has ended by itself; never resolves. */
function goneOf(watcher: Watcher, folder: string): Promise<never> {
  const gone = Promise.race([once(watcher.stdout, "data"), once(watcher, "error")]).then(async ([said]) => {
    const code = said instanceof Error ? said.message : String(said).trim();
    throw new HelmdeckError(
      "upstream_failed",
      `The gateway that was started for the smoke test stopped (${code}): ${await saidIn(folder)}`,
    );
  });
  gone.catch(() => {}); // told to whoever waits at that moment
  return gone;
}

const ANOTHER_RUNS = /another OpenClaw process|already (?:running|in use)|EADDRINUSE/i;

async function saidIn(folder: string): Promise<string> {
  const line = lineIn(await readFile(join(folder, LOG), "utf8").catch(() => ""));
  if (line === undefined) return "it said nothing. See: openclaw gateway run";
  if (!ANOTHER_RUNS.test(line)) return line;
  return (
    `${line} Another gateway of this OpenClaw runs, which is not where this shell looks for it: set OPENCLAW_GATEWAY_PORT and ` +
    `OPENCLAW_GATEWAY_TOKEN to what it was started with, then: ${INSTALLER} --verify`
  );
}

async function untilReady(port: number, folder: string, pause: Pause): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS;
  while (!(await isReady(port))) {
    if (Date.now() > deadline) {
      throw new HelmdeckError(
        "upstream_failed",
        `OpenClaw's gateway was not ready within ${READY_WITHIN_MS / 1_000} s: ${await saidIn(folder)}`,
      );
    }
    await pause(LOOK_AGAIN_MS);
  }
}

async function isReady(port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`);
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false; // nothing listens yet
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
