/** Doctor's checks of a running helmdeck: the connection, each agent's memory, and how much of it is known here. */
import * as z from "zod";
import { harmlessLine } from "../../../engine/facts/hostile-text.ts";
import { rfc3339 } from "../../../engine/rfc3339.ts";
import type { Subject } from "../../../engine/store/namespace.ts";
import type { DoctorReport, Finding } from "../../memory.ts";
import type { EngineAddress } from "../engine/engine-address.ts";
import type { EngineClient, TokenSource } from "../engine/engine-client.ts";
import { DAY_MS, failed, SOURCE, sharedFindings, wayFinding } from "../engine/examine-engine.ts";
import { reachHelmdeck } from "./helmdeck-status.ts";
import { extentText } from "./helmdeck-texts.ts";
import type { Extent } from "./known-rows.ts";

/** Tokens from helmdeck's own script are valid for a week. */
const WARNED_MS = 2 * DAY_MS;

export interface ExamineHelmdeckParts {
  readonly rest: EngineClient;
  readonly address: EngineAddress;
  readonly agents: readonly Subject[];
  readonly tokenOf: TokenSource;
  readonly freshen: (agent: Subject) => Promise<Extent>;
  readonly now: number;
}

interface Known {
  readonly agent: Subject;
  readonly subject: string;
  readonly findings: readonly Finding[];
}

/** Never rejects. */
export async function examineHelmdeck(parts: ExamineHelmdeckParts): Promise<DoctorReport> {
  const source = await sourceFinding(parts.rest);
  const looked = await Promise.all(parts.agents.map((agent) => lookAt(parts, agent)));
  const known = looked.filter((one) => "subject" in one);
  return {
    findings: [
      source,
      wayFinding(parts.address, "connection to helmdeck"),
      ...looked.flatMap((one) => ("subject" in one ? one.findings : [one])),
      ...sharedFindings(known),
    ],
  };
}

async function sourceFinding(rest: EngineClient): Promise<Finding> {
  try {
    const { version, tookMs } = await reachHelmdeck(rest);
    const message = `the helmdeck at ${rest.url}, version ${harmlessLine(version)}; a request took ${tookMs} ms. It keeps no history, and search uses keywords`;
    return { level: "ok", check: SOURCE, message };
  } catch (error) {
    return failed(SOURCE, error);
  }
}

async function lookAt(parts: ExamineHelmdeckParts, agent: Subject): Promise<Known | Finding> {
  const check = `agent ${harmlessLine(agent)}`;
  try {
    const extent = await parts.freshen(agent);
    const { scopes, expiresAt } = claimsOf(await parts.tokenOf(agent, { refused: false }));
    const until = expiresAt === undefined ? "" : `, until ${rfc3339(expiresAt)}`;
    const of = harmlessLine(extent.subject);
    const has: Finding = {
      level: "ok",
      check,
      message: `has the memory of ${of} at helmdeck${until}; known here: ${extentText(extent, parts.now)}`,
    };
    const more = [
      ...(scopes.includes("admin") ? [adminFinding(check, agent)] : []),
      ...endFinding(check, agent, expiresAt, parts.now),
    ];
    return { agent, subject: extent.subject, findings: [has, ...more] };
  } catch (error) {
    return failed(check, error);
  }
}

function adminFinding(check: string, agent: Subject): Finding {
  return {
    level: "warning",
    check,
    message:
      "its token has the scope admin, so it can read and change everything in helmdeck; agents that share the token share a memory",
    remedy: `On helmdeck's machine, create a token without admin for each agent, and set its file in source.tokens: ${mint(agent)}`,
  };
}

function endFinding(
  check: string,
  agent: Subject,
  expiresAt: number | undefined,
  now: number,
): readonly Finding[] {
  if (expiresAt === undefined || expiresAt - now >= WARNED_MS) return [];
  return [
    {
      level: "warning",
      check,
      message: `its token expires on ${rfc3339(expiresAt)}`,
      remedy: `Run helmdeck's scripts/configure-openclaw.sh again, if it created this token; or create another and put it into the same file: ${mint(agent)}`,
    },
  ];
}

/** For a shell on helmdeck's machine. */
function mint(agent: Subject): string {
  const name = /^[\w.@-]+$/.test(agent) ? agent : "AGENT";
  return `control-plane -mint-token ${name} -mint-token-scopes ""`;
}

const claimsSchema = z.object({
  sub: z.string().optional(),
  exp: z.number().optional(),
  scopes: z.array(z.string()).nullish(),
});

interface TokenClaims {
  readonly scopes: readonly string[];
  /** Unix milliseconds. */
  readonly expiresAt?: number;
}

/** A token's unverified claims: they grant nothing, since only helmdeck can verify them. Empty when it is not such a token. */
function claimsOf(token: string): TokenClaims {
  const read = claimsSchema.safeParse(payloadOf(token));
  if (!read.success) return { scopes: [] };
  const { scopes, exp } = read.data;
  return { scopes: scopes ?? [], ...(exp !== undefined && { expiresAt: exp * 1_000 }) };
}

function payloadOf(token: string): unknown {
  try {
    return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
  } catch {
    return undefined;
  }
}
