/**
 * A gateway of our own on loopback, for as long as the proof takes, where none runs.
 *
 * It is the operator's OpenClaw with the operator's configuration, so it must not act: no channels, no schedule. Its token is
 * made for it and is in its environment alone. It ends with this process, also when that is killed: the shell that watches it
 * sees its standard input close.
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { HelmdeckError } from "../app/index.ts";
import type { OpenClaw } from "./openclaw.ts";
import type { World } from "./world.ts";

const READY_WITHIN_MS = 180_000;
const LOOK_AGAIN_MS = 200;

/**
 * The watcher leads a process group, and all that the gateway starts is in it. Once standard input closes, the group is asked
 * to end and gets a minute: a gateway that is killed leaves a lease on OpenClaw's state behind. Then whatever is left is killed.
 */
const WATCHED = `
openclaw gateway run --bind loopback --auth token --port "$OPENCLAW_GATEWAY_PORT" --allow-unconfigured </dev/null >/dev/null 2>&1 &
gateway=$!
cat >/dev/null
trap '' TERM
kill -s TERM -- "-$$"
(sleep 60; kill -s KILL -- "-$$") &
wait "$gateway"
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

export async function withGateway<Answer>(
  openclaw: OpenClaw,
  { env, pause }: Pick<World, "env" | "pause">,
  use: (openclaw: OpenClaw) => Promise<Answer>,
): Promise<Answer> {
  const port = await freePort();
  const own = {
    OPENCLAW_GATEWAY_PORT: String(port),
    OPENCLAW_GATEWAY_TOKEN: randomBytes(24).toString("hex"),
  };
  const watcher = spawn("sh", ["-c", WATCHED], {
    env: { ...env, ...QUIET, ...own },
    stdio: ["pipe", "ignore", "ignore"],
    // A group of its own; so Ctrl-C in the terminal is for us, and the watcher ends the gateway afterwards.
    detached: true,
  });
  watcher.on("error", () => {}); // seen as a gateway that is not ready
  const ended = once(watcher, "exit");
  try {
    await untilReady(port, pause);
    return await use(openclaw.withEnv(own));
  } finally {
    watcher.stdin.end();
    await ended;
  }
}

async function untilReady(port: number, pause: World["pause"]): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS;
  while (!(await isReady(port))) {
    if (Date.now() > deadline) {
      throw new HelmdeckError(
        "upstream_failed",
        `OpenClaw's gateway was not ready within ${READY_WITHIN_MS / 1_000} s. See: openclaw gateway run`,
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
