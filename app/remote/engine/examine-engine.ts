/** Doctor's checks of a served engine: the connection, and the memory behind each token. */
import { asHelmdeckError } from "../../../engine/errors.ts";
import { harmlessLine } from "../../../engine/facts/hostile-text.ts";
import { rfc3339 } from "../../../engine/rfc3339.ts";
import type { Subject } from "../../../engine/store/namespace.ts";
import { remedyFor } from "../../health/remedies.ts";
import type { DoctorReport, Finding } from "../../memory.ts";
import { shellWord } from "../../presenters/words.ts";
import type { EngineAddress } from "./engine-address.ts";
import type { EngineClient } from "./engine-client.ts";
import { askCaller, reachEngine } from "./engine-status.ts";

export const SOURCE = "memory source";
/** Allows recording tool runs. An agent needs no other scope. */
const RECORD_SCOPE = "record";
const WARNED_DAYS = 7;
export const DAY_MS = 86_400_000;

interface Known {
  readonly agent: Subject;
  readonly subject: string;
  readonly authenticated: boolean;
  readonly scopes: readonly string[];
  readonly expiresAt?: number;
}

/** Never rejects. */
export async function examineEngine(
  client: EngineClient,
  { address, agents, now }: { address: EngineAddress; agents: readonly Subject[]; now: number },
): Promise<DoctorReport> {
  const source = await sourceFinding(client);
  const whoever = await Promise.all(agents.map((agent) => knownOf(client, agent)));
  const known = whoever.filter((one) => "subject" in one);
  return {
    findings: [
      source,
      wayFinding(address),
      ...whoever.flatMap((one) => ("subject" in one ? agentFindings(one, now) : [one])),
      ...sharedFindings(known),
    ],
  };
}

async function sourceFinding(client: EngineClient): Promise<Finding> {
  try {
    const { version, tookMs } = await reachEngine(client);
    const message = `the engine at ${client.url}, version ${harmlessLine(version)}; a request took ${tookMs} ms`;
    return { level: "ok", check: SOURCE, message };
  } catch (error) {
    return failed(SOURCE, error);
  }
}

export function wayFinding(
  { isPlain, fingerprint256, caFile }: EngineAddress,
  check = "connection to the engine",
): Finding {
  if (isPlain) {
    return {
      level: "ok",
      check,
      message: "plain HTTP: anyone on that network can read tokens and facts",
    };
  }
  if (fingerprint256 !== undefined)
    return { level: "ok", check, message: "TLS, with the certificate that fingerprint256 names" };
  const trusted = caFile === undefined ? "this machine trusts" : `${caFile} lists`;
  return { level: "ok", check, message: `TLS, with a certificate from an authority that ${trusted}` };
}

async function knownOf(client: EngineClient, agent: Subject): Promise<Known | Finding> {
  try {
    return { agent, ...(await askCaller(client, agent)) };
  } catch (error) {
    return failed(checkOf(agent), error);
  }
}

/** The token's memory, and recommendations. */
function agentFindings({ agent, subject, authenticated, scopes, expiresAt }: Known, now: number): Finding[] {
  const check = checkOf(agent);
  const name = harmlessLine(subject);
  if (!authenticated) {
    const message = `the engine requires no token, so everybody who reaches it has the memory of ${name}`;
    const remedy = "Give the engine a secret (HELMDECK_JWT_SECRET_FILE), and each agent a token.";
    return [{ level: "warning", check, message, remedy }];
  }
  const until = expiresAt === undefined ? "" : `, until ${rfc3339(expiresAt)}`;
  const findings: Finding[] = [
    { level: "ok", check, message: `has the memory of ${name} at the engine${until}` },
  ];
  const remedy = `Create a smaller token on the engine's machine: ${mint(subject)}`;
  if (scopes.includes("admin"))
    findings.push({
      level: "warning",
      check,
      message: "its token has the scope admin, so it can read other callers' data",
      remedy,
    });
  if (!scopes.includes(RECORD_SCOPE))
    findings.push({
      level: "warning",
      check,
      message: "its token lacks the scope record, so its tool runs are not recorded",
      remedy: `Create a token that has it: ${mint(subject)}`,
    });
  if (expiresAt !== undefined && expiresAt - now < WARNED_DAYS * DAY_MS)
    findings.push({
      level: "warning",
      check,
      message: `its token expires on ${rfc3339(expiresAt)}`,
      remedy: `Create another and put it into the same file: ${mint(subject)}`,
    });
  return findings;
}

/** Each agent should have its own memory unless a person decided otherwise. */
export function sharedFindings(known: readonly Pick<Known, "agent" | "subject">[]): Finding[] {
  const bySubject = Map.groupBy(known, ({ subject }) => subject);
  return [...bySubject].flatMap(([subject, agents]): Finding[] =>
    agents.length === 1
      ? []
      : [
          {
            level: "warning",
            check: "agents that share a memory",
            message: `${agents.map(({ agent }) => agent).join(", ")} have tokens for the same memory, that of ${harmlessLine(subject)}`,
            remedy: "Give each agent its own token, unless they should share a memory.",
          },
        ],
  );
}

function mint(subject: string): string {
  return `helmdeck-memory token --subject ${shellWord(harmlessLine(subject))} --scope ${RECORD_SCOPE}`;
}

function checkOf(agent: Subject): string {
  return `agent ${harmlessLine(agent)}`;
}

export function failed(check: string, error: unknown): Finding {
  const { code, message } = asHelmdeckError(error);
  return { level: "error", check, message: `${code}: ${message}`, remedy: remedyFor(code) };
}
