/**
 * Who looks at the pages in OpenClaw's Control UI, and what is shown.
 *
 * Who attacks: whoever reaches the route with less than an operator's rights, or asks for a memory that is no agent's. The
 * host has checked the token or the cookie of its own frame, and says which scopes it stands for; an agent and its session
 * say nothing here. Keys and values are shown to a request that surely has the scope to read, as OpenClaw shows its own
 * notes and transcripts to it; else only how many there are. The address names an agent, never a subject.
 */
import { type DoctorReport, type Finding, HelmdeckError, type Memory, memoryFrom } from "../app/index.ts";
import type { Viewer } from "../pages/index.ts";
import { defaultAgent, knownAgents } from "./access-policy.ts";
import { type SubjectRules, sentenceOfRefusal, subjectOf } from "./identity.ts";
import type { MemoryAccess } from "./memory-access.ts";
import type { HostConfig } from "./openclaw-api.ts";
import { failureOf } from "./plugin-failure.ts";
import { withinDeadline } from "./within-deadline.ts";

export interface PagesParts {
  readonly access: MemoryAccess;
  readonly config: SubjectRules;
  readonly hostConfig: () => HostConfig;
  readonly hostFindings: () => Promise<readonly Finding[]>;
  readonly deadlineMs?: number;
}

/** Longer than an agent's search has: only the person who asked waits, and doctor looks at every row. */
const PAGE_DEADLINE_MS = 10_000;
/** `operator.sessions.read` sees the sessions it was invited to, and no memory. */
const READS_EVERYTHING: ReadonlySet<unknown> = new Set(["operator.read", "operator.write", "operator.admin"]);

/** `scopes`: what the host says that the request may do; anything, since a host may say nothing. Throws a HelmdeckError. */
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
    changes: { kind: "commands", program: "openclaw helmdeck", options: isOnly ? "" : `--agent ${agent}` },
    seesCallers: false,
    doctor: () => examine(memory, parts),
  };
}

/** The default one first. Where none is configured, there is only that one. */
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
    "OpenClaw's configuration has no agent of this name. Choose one of those that it has.",
  );
}

function mayReadEverything(scopes: unknown): boolean {
  return Array.isArray(scopes) && scopes.some((scope) => READS_EVERYTHING.has(scope));
}

/** Opened by the call that needs it, so that what stands in the way is said where it matters. */
function memoryInTime({ access, deadlineMs = PAGE_DEADLINE_MS }: PagesParts): Memory {
  return memoryFrom((name) => {
    const ask = (...args: readonly unknown[]) => {
      const answer = access.open().then((memory) => {
        // The arguments are those of this very use case; the compiler loses sight of it between the two.
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

/** A memory that cannot be asked, such as one whose key is not to be had, has this one finding. */
function unopened(error: unknown): DoctorReport {
  return { findings: [{ level: "error", check: "memory", message: failureOf(error).message }] };
}
