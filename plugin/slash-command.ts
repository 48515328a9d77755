/** The chat command /helmdeck: status, search and help, for whoever may see the agent's memory. */
import { ANSWER_LIMITS, defined, type Memory, type RecallQuery } from "../app/index.ts";
import type { AccessPolicy } from "./access-policy.ts";
import { type Admitted, isQuiet, sentenceOfRefusal } from "./identity.ts";
import type { MemoryAccess } from "./memory-access.ts";
import type { Logger, SlashCommand, SlashContext } from "./openclaw-api.ts";
import { logLineOf, sentenceOf } from "./plugin-failure.ts";
import { startDeadline } from "./within-deadline.ts";

const COMMAND_DEADLINE_MS = 3_000;
const CHAT_HITS = 5;
const VOICE = { command: "openclaw helmdeck" };
export const HELP = "/helmdeck status · /helmdeck search <words> · /helmdeck help";

/** What someone typed after /helmdeck. */
export type ChatRequest =
  | { readonly kind: "status" }
  | { readonly kind: "help" }
  | { readonly kind: "search"; readonly query: string };

export interface CommandParts {
  readonly access: MemoryAccess;
  readonly gate: AccessPolicy;
  readonly log: Logger;
  /** What status says of the host. */
  readonly warnings?: () => readonly string[];
  readonly deadlineMs?: number;
}

export function makeSlashCommand(parts: CommandParts): SlashCommand {
  return {
    name: "helmdeck",
    description: "Helmdeck memory: status, search",
    acceptsArgs: true,
    requireAuth: true,
    handler: async (context) => ({ text: await replyTo(context, parts) }),
  };
}

/** Nothing typed means status; what is not understood, or a search for nothing, means help. */
export function parseChatRequest(args: string | undefined): ChatRequest {
  const typed = (args ?? "").trim();
  const [word = ""] = typed.split(/\s/, 1);
  const rest = typed.slice(word.length).trim().slice(0, ANSWER_LIMITS.queryCharacters);
  const name = word.toLowerCase();
  if (name === "search" && rest !== "") return { kind: "search", query: rest };
  return name === "" || (name === "status" && rest === "") ? { kind: "status" } : { kind: "help" };
}

async function replyTo(context: SlashContext, parts: CommandParts): Promise<string> {
  const request = parseChatRequest(context.args);
  if (request.kind === "help") return HELP;
  const deadline = startDeadline(parts.deadlineMs ?? COMMAND_DEADLINE_MS);
  const verdict = await parts.gate.verdictWithoutSandboxFlag({
    agentId: context.agentId,
    agentSessionKey: context.sessionKey,
  });
  if (!verdict.ok) return `helmdeck memory: ${sentenceOfRefusal(verdict.reason)}.`;
  try {
    return await deadline(
      parts.access.open().then((memory) => reply(memory, verdict, request, parts.warnings?.())),
    );
  } catch (error) {
    parts.log.warn(`helmdeck memory: ${logLineOf(error)}`);
    return `${sentenceOf(error)}.`;
  }
}

async function reply(
  memory: Memory,
  verdict: Admitted,
  request: Exclude<ChatRequest, { kind: "help" }>,
  warnings: readonly string[] | undefined,
): Promise<string> {
  const { answerText, statusText } = await import("./seldom.ts"); // a gateway needs them here alone
  const { subject } = verdict;
  if (request.kind === "status") return statusText(await memory.status(subject), VOICE, warnings);
  const { query } = request;
  const quiet = isQuiet(verdict);
  const asked: RecallQuery = { query, limit: CHAT_HITS, ...(quiet && { recall: "quiet" }) };
  const { unmatched, ...answer } = await memory.search(subject, asked);
  // How much there is tells strangers what they may not see.
  return answerText(query, { ...answer, ...(!quiet && defined({ unmatched })) });
}
