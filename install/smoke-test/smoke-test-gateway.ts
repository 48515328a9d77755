/**
 * Starts a temporary gateway on loopback for the smoke test if none is running.
 *
 * It runs the operator's OpenClaw with the operator's configuration, so it must not act: no channels, no schedule. Its token
 * is generated and only in its environment. It ends with this process, even if this process is killed, because the watching
 * shell sees its standard input close. If the gateway ends early, waiting code fails at once with its reason.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { HelmdeckError } from "../../engine/errors.ts";
import type { Environment } from "../environment.ts";
import { INSTALLER } from "../install-names.ts";
import { lineIn } from "../run-command.ts";
import type { OpenClaw } from "../run-openclaw.ts";

const READY_WITHIN_MS = 180_000;
const LOOK_AGAIN_MS = 200;
/** The gateway's output, in this run's folder. */
const LOG = "log";

/**
 * The watcher leads a process group with all processes of the gateway. It prints the exit code if the gateway ends early. When
 * standard input closes, it sends SIGTERM to the group and waits up to a minute, because a killed gateway leaves a lease on
 * OpenClaw's state. Then it kills the rest. `$0` is the folder, which it deletes.
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

/** `use` gets an OpenClaw that uses this gateway, and a pause that rejects if the gateway ends. */
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
    // Its own process group, so that Ctrl-C reaches only us and the watcher then ends the gateway.
    detached: true,
  });
  watcher.stdin.on("error", () => {}); // it has already ended
  return watcher;
}

/** Rejects if the gateway ends early; never resolves. */
function goneOf(watcher: Watcher, folder: string): Promise<never> {
  const gone = Promise.race([once(watcher.stdout, "data"), once(watcher, "error")]).then(async ([said]) => {
    const code = said instanceof Error ? said.message : String(said).trim();
    throw new HelmdeckError(
      "upstream_failed",
      `The gateway that was started for the smoke test stopped (${code}): ${await saidIn(folder)}`,
    );
  });
  gone.catch(() => {}); // reported to waiting code
  return gone;
}

const ANOTHER_RUNS = /another OpenClaw process|already (?:running|in use)|EADDRINUSE/i;

async function saidIn(folder: string): Promise<string> {
  const line = lineIn(await readFile(join(folder, LOG), "utf8").catch(() => ""));
  if (line === undefined) return "it printed nothing. See: openclaw gateway run";
  if (!ANOTHER_RUNS.test(line)) return line;
  return (
    `${line} Another gateway of this OpenClaw runs on a port or with a token that this shell does not use. Set OPENCLAW_GATEWAY_PORT and ` +
    `OPENCLAW_GATEWAY_TOKEN to its values, then: ${INSTALLER} --verify`
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
    return false; // not listening yet
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

/** The error of a failed smoke test: the reason and the remedy. */
export function smokeTestFailed(message: string): HelmdeckError {
  return new HelmdeckError("upstream_failed", message);
}
