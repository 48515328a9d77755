/**
 * How OpenClaw's gateway is, as its own command line sees it from here.
 *
 * Only a gateway that nothing answers for counts as stopped: a second one beside it would die at once, and what goes through the
 * first one would fail half-way.
 */
import type { GatewayFacts, GatewayLock } from "../installation-facts.ts";
import { at, type Json } from "../openclaw-json.ts";
import type { OpenClaw } from "../run-openclaw.ts";

const CALL = ["gateway", "call", "health", "--timeout", "20000", "--json"];
/** OpenClaw's own patience with a gateway that starts or has much to do. Without credentials it answers at once. */
const HEALTH = ["health", "--timeout", "60000", "--json"];

/** `config` is the configuration as it is written. */
export async function inspectGateway(
  openclaw: Pick<OpenClaw, "ask">,
  config: Json | undefined,
): Promise<GatewayFacts> {
  if (at(config, "gateway", "mode") === "remote") return "remote";
  const variable = variableFor(at(config, "gateway", "auth"));
  const answer = await openclaw.ask(CALL);
  if (at(answer, "ok") === true) return "running";
  if (isRefusal(answer)) return { variable, problem: refusal(answer) };
  if (nothingListens(answer)) return "stopped";
  // Without credentials the call does not even try; health looks whether anything is there.
  const health = await openclaw.ask(HEALTH);
  const isLocked = errorType(answer) === "gateway_credentials_required";
  if (at(health, "ok") === true) return isLocked ? { variable, problem: "missing" } : "running";
  if (isRefusal(health)) return { variable, problem: refusal(health) };
  if (at(health, "gateway", "reachable") === true) return { variable, problem: "missing" };
  const isUnseen = errorType(health) === "gateway_credentials_required" || nothingListens(health);
  return isUnseen ? "stopped" : "silent";
}

function errorType(answer: Json | undefined): Json | undefined {
  return at(answer, "error", "type");
}

/** It answered, and said no. */
function isRefusal(answer: Json | undefined): boolean {
  return errorType(answer) === "gateway_request_error";
}

function refusal(answer: Json | undefined): GatewayLock["problem"] {
  const codes = [at(answer, "error", "code"), at(answer, "error", "details", "code")];
  return codes.includes("AUTH_RATE_LIMITED") ? "locked_out" : "refused";
}

function nothingListens(answer: Json | undefined): boolean {
  return String(at(answer, "error", "reason")).includes("ECONNREFUSED");
}

/** The variable that the gateway's password or token comes from. */
function variableFor(auth: Json | undefined): string {
  const kind = at(auth, "mode") === "password" ? "password" : "token";
  const secret = at(auth, kind);
  const named =
    typeof secret === "string"
      ? /^\$\{(\w+)\}$/.exec(secret)?.[1]
      : at(secret, "source") === "env" && at(secret, "id");
  return typeof named === "string" ? named : `OPENCLAW_GATEWAY_${kind.toUpperCase()}`;
}
