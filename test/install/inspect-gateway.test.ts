/** The gateway's state, from real answers of OpenClaw 2026.9.6. A running gateway never counts as stopped. */
import { describe, expect, it } from "vitest";
import { inspectGateway } from "../../install/inspect/inspect-openclaw.ts";
import type { GatewayFacts } from "../../install/installation-facts.ts";
import type { Json } from "../../install/openclaw-json.ts";

const failure = (type: string, message: string, more: Readonly<Record<string, Json>> = {}) => ({
  ok: false,
  error: { type, message, ...more },
});
const NO_CREDENTIALS = failure(
  "gateway_credentials_required",
  "gateway health requires credentials before opening a websocket\nFix: configure gateway.auth token",
);
const REACHABLE = {
  ...failure("gateway_credentials_required", "Gateway is reachable, but this CLI has no token"),
  gateway: { reachable: true },
};
const MISMATCH = failure("gateway_request_error", "unauthorized: gateway token mismatch", {
  code: "INVALID_REQUEST",
  details: { code: "AUTH_TOKEN_MISMATCH" },
});
const RATE_LIMITED = {
  ...failure("gateway_request_error", "temporarily rate-limited", { code: "AUTH_RATE_LIMITED" }),
  gateway: { reachable: true },
};
const NOTHING = failure(
  "gateway_transport_error",
  "Gateway not reachable at ws://127.0.0.1:38447 (ECONNREFUSED).",
  { kind: "closed", reason: "connect ECONNREFUSED 127.0.0.1:38447" },
);
const SLOW = "Gateway not reachable after waiting 5 s.";
const TIMEOUT = failure("gateway_transport_error", SLOW, { kind: "timeout" });
const TOKEN = "OPENCLAW_GATEWAY_TOKEN";
const lock = (problem: "missing" | "refused" | "locked_out") => ({ variable: TOKEN, problem });

describe("the gateway", () => {
  it.each<[string, Json | undefined, Json | undefined, GatewayFacts]>([
    ["answers", { ok: true }, undefined, "running"],
    ["does not run", NOTHING, undefined, "stopped"],
    ["gives an unreadable answer", undefined, undefined, "silent"],
    ["does not run, and this shell has no token", NO_CREDENTIALS, NO_CREDENTIALS, "stopped"],
    ["runs, and this shell has no token", NO_CREDENTIALS, REACHABLE, lock("missing")],
    ["gives a paired device read access only", NO_CREDENTIALS, { ok: true }, lock("missing")],
    ["refuses the token", MISMATCH, undefined, lock("refused")],
    ["refuses every request after too many attempts", RATE_LIMITED, undefined, lock("locked_out")],
    ["reports that it accepts no attempts now", NO_CREDENTIALS, RATE_LIMITED, lock("locked_out")],
    ["hangs", TIMEOUT, TIMEOUT, "silent"],
    ["is still starting", TIMEOUT, { status: "starting", startupPhase: "plugins" }, "silent"],
    ["answers the second query", TIMEOUT, { ok: true }, "running"],
    ["has stopped by the second query", TIMEOUT, NOTHING, "stopped"],
  ])("%s", async (_, call, health, state) => {
    expect(await inspectGateway(answering(call, health), {})).toEqual(state);
  });

  it.each<[Json, string]>([
    [{ mode: "token" }, TOKEN],
    [{ mode: "password" }, "OPENCLAW_GATEWAY_PASSWORD"],
    [{ mode: "token", token: { source: "env", provider: "default", id: "MY_TOKEN" } }, "MY_TOKEN"],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference in OpenClaw's configuration
    [{ mode: "password", password: "${MY_PASSWORD}" }, "MY_PASSWORD"],
    [{ token: { source: "file", provider: "default", id: "/run/token" } }, TOKEN],
  ])("names the missing variable for %j", async (auth, variable) => {
    const state = await inspectGateway(answering(NO_CREDENTIALS, REACHABLE), { gateway: { auth } });
    expect(state).toEqual({ variable, problem: "missing" });
  });

  it("is not queried if it is on another machine", async () => {
    const never = { ask: () => Promise.reject(new Error("it was asked")) };
    expect(await inspectGateway(never, { gateway: { mode: "remote" } })).toBe("remote");
  });
});

function answering(call: Json | undefined, health: Json | undefined) {
  return { ask: async (args: readonly string[]) => (args[0] === "gateway" ? call : health) };
}
