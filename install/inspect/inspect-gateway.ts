/**
 * Inspects OpenClaw's gateway through OpenClaw's own command line.
 *
 * A gateway counts as stopped only if nothing answers at all: a second gateway would exit at once, and calls to the first one
 * would fail midway.
 */
import type { GatewayFacts, GatewayLock } from "../installation-facts.ts";
import { at, type Json } from "../openclaw-json.ts";
import type { OpenClaw } from "../run-openclaw.ts";

const CALL = ["gateway", "call", "health", "--timeout", "20000", "--json"];
/** OpenClaw's own timeout for a starting or busy gateway. Without credentials it answers at once. */
const HEALTH = ["health", "--timeout", "60000", "--json"];

/** `config`: the configuration as written in the file. */
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
  // Without credentials the call is not sent; health shows whether anything is listening.
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

/** The gateway answered with a refusal. */
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

/** The variable with the gateway's password or token. */
function variableFor(auth: Json | undefined): string {
  const kind = at(auth, "mode") === "password" ? "password" : "token";
  const secret = at(auth, kind);
  const named =
    typeof secret === "string"
      ? /^\$\{(\w+)\}$/.exec(secret)?.[1]
      : at(secret, "source") === "env" && at(secret, "id");
  return typeof named === "string" ? named : `OPENCLAW_GATEWAY_${kind.toUpperCase()}`;
}
