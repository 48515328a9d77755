/** Checks the memory's source: the gateway uses the configured engine, and the engine accepts its token. */
import { HelmdeckError } from "../../engine/errors.ts";
import type { Environment } from "../environment.ts";
import { INSTALLER } from "../install-names.ts";
import { at } from "../openclaw-json.ts";
import type { OpenClaw } from "../run-openclaw.ts";

/** The plugin is reloaded when its configuration changes; generous for a slow machine. */
const SETTLED_WITHIN_MS = 120_000;
const LOOK_AGAIN_MS = 500;

/** Asks the gateway itself, which may still use its former settings. Does not wait for a failing engine. */
export async function waitUntilMemoryIsAt(
  openclaw: OpenClaw,
  url: string,
  { now, pause }: Pick<Environment, "now" | "pause">,
): Promise<void> {
  const deadline = now() + SETTLED_WITHIN_MS;
  for (;;) {
    const status = await openclaw.callGateway("helmdeck.status");
    const isThere = at(status, "engine", "url") === url;
    if (isThere && at(status, "state") === "ready") return;
    if (isThere || now() > deadline) {
      const reason = at(status, "error", "message") ?? "the gateway does not use it";
      throw new HelmdeckError(
        "engine_unavailable",
        `The memory of the engine at ${url} does not work: ${String(reason)} See: openclaw helmdeck doctor; then: ${INSTALLER} --verify`,
      );
    }
    await pause(LOOK_AGAIN_MS);
  }
}
