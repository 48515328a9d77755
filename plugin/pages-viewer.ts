/**
 * Decides what a viewer of the pages in OpenClaw's Control UI may see.
 *
 * Threat: somebody reaches the route with less than an operator's rights, or asks for a memory that belongs to no agent. The
 * host has checked the token or its frame's cookie and reports the scopes; agent and session do not count here. A request
 * with the scope to read sees keys and values, as it sees OpenClaw's own notes and transcripts. Any other request sees only
 * counts. The address names an agent, never a subject.
 */
import { type DoctorReport, type Finding, type Memory, memoryFrom } from "../app/memory.ts";
import { shellWord } from "../app/presenters/words.ts";
import { HelmdeckError } from "../engine/errors.ts";
import type { Viewer } from "../pages/viewer.ts";
import { defaultAgent, knownAgents } from "./access-policy.ts";
import type { PluginConfig } from "./config.ts";
import { type SubjectRules, sentenceOfRefusal, subjectOf } from "./identity.ts";
import type { MemoryAccess } from "./memory-access.ts";
import type { HostConfig } from "./openclaw-api.ts";
import { failureOf } from "./plugin-failure.ts";
import { type Receipts, receiptsOf } from "./receipts.ts";
import { withinDeadline } from "./within-deadline.ts";

export interface PagesParts {
  readonly access: MemoryAccess;
  readonly config: SubjectRules & Pick<PluginConfig, "databasePath">;
  readonly hostConfig: () => HostConfig;
  readonly hostFindings: () => Promise<readonly Finding[]>;
  readonly receipts: Receipts;
  readonly deadlineMs?: number;
}

/** Longer than an agent's search deadline: only the person who asked waits, and doctor checks every row. */
const PAGE_DEADLINE_MS = 10_000;
const TURNS_SHOWN = 20;
/** `operator.sessions.read` may see the sessions that it was invited to, and no memory. */
const READS_EVERYTHING: ReadonlySet<unknown> = new Set(["operator.read", "operator.write", "operator.admin"]);

/** `scopes`: the request's scopes from the host, unchecked; a host may send none. Throws a HelmdeckError. */
export function viewerOf(asked: URLSearchParams, scopes: unknown, parts: PagesParts): Viewer {
  const agents = agentsOf(parts.hostConfig());
  const agent = agentAsked(asked.get("agent"), agents);
  const verdict = subjectOf(agent, parts.config);
  if (!verdict.ok) {
    const why =
      verdict.reason === "no_token"
        ? sentenceOfRefusal(verdict.reason)
        : "its id, or its entry in the plugin's setting subjects, is malformed. Correct it";
    throw new HelmdeckError("identity_refused", `This agent has no memory: ${why}.`);
  }
  const memory = memoryInTime(parts);
  const isOnly = agents.length === 1;
  return {
    memory,
    subject: verdict.subject,
    choices: isOnly ? [] : agents.map((id) => ({ id, isShown: id === agent })),
    sees: mayReadEverything(scopes) ? "values" : "counts",
    changes: {
      ...{ kind: "commands", program: "openclaw helmdeck", options: isOnly ? "" : `--agent ${agent}` },
      ...(parts.config.source.kind === "embedded" && {
        openCommand: openCommand(verdict.subject, parts.config),
      }),
    },
    seesCallers: false,
    unasked: () => receiptsOf(parts.receipts, verdict.subject, TURNS_SHOWN),
    doctor: () => examine(memory, parts),
  };
}

function openCommand(subject: string, { databasePath }: PagesParts["config"]): string {
  const caller = subject === "main" ? [] : ["--caller", shellWord(subject)];
  const place = databasePath === undefined ? [] : ["--db", shellWord(databasePath)];
  return ["helmdeck-memory open", ...caller, ...place].join(" ");
}

/** The default agent first. If none is configured, it is the only one. */
function agentsOf(host: HostConfig): readonly string[] {
  const usual = defaultAgent(host);
  const known = [...(knownAgents(host) ?? [usual])];
  return [...known.filter((id) => id === usual), ...known.filter((id) => id !== usual)];
}

function agentAsked(asked: string | null, agents: readonly string[]): string {
  const wanted = asked === null ? agents[0] : asked.trim().toLowerCase();
  const agent = agents.find((id) => id === wanted);
  if (agent !== undefined) return agent;
  throw new HelmdeckError(
    "not_found",
    "OpenClaw's configuration has no agent with this name. Choose a configured agent.",
  );
}

function mayReadEverything(scopes: unknown): boolean {
  return Array.isArray(scopes) && scopes.some((scope) => READS_EVERYTHING.has(scope));
}

/** Opens memory in the call that needs it, so that the failure shows where it matters. */
function memoryInTime({ access, deadlineMs = PAGE_DEADLINE_MS }: PagesParts): Memory {
  return memoryFrom((name) => {
    const ask = (...args: readonly unknown[]) => {
      const answer = access.open().then((memory) => {
        // The arguments belong to this use case; the compiler cannot correlate the two.
        const useCase = memory[name] as (...args: readonly unknown[]) => Promise<unknown>;
        return useCase.call(memory, ...args);
      });
      return withinDeadline(deadlineMs, answer);
    };
    return ask as unknown as Memory[typeof name];
  });
}

async function examine(memory: Memory, { hostFindings }: PagesParts): Promise<DoctorReport> {
  const [report, host] = await Promise.all([memory.doctor().catch(unopened), hostFindings()]);
  return { ...report, findings: [...report.findings, ...host] };
}

/** The only finding for a memory that cannot be opened, for example because its key cannot be read. */
function unopened(error: unknown): DoctorReport {
  return { findings: [{ level: "error", check: "memory", message: failureOf(error).message }] };
}
