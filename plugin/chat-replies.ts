/**
 * The replies of the chat commands, for the caller that the host reports.
 *
 * Strangers may read a chat. So the commands are refused wherever the agent's tools are. Commands that list or change memory
 * are also refused in a group to which the operator opened memory, because everybody in it would see the reply.
 */

import type { Memory } from "../app/memory.ts";
import { endingLine } from "../app/presenters/ending-text.ts";
import { defined } from "../engine/defined.ts";
import { isHelmdeckError } from "../engine/errors.ts";
import { harmlessLine } from "../engine/facts/hostile-text.ts";
import type { AccessPolicy } from "./access-policy.ts";
import { HELP, REPLIES } from "./chat-memory.ts";
import { parseChatRequest } from "./chat-status.ts";
import { sentenceOfRefusal } from "./identity.ts";
import type { MemoryAccess } from "./memory-access.ts";
import type { Logger, SlashContext } from "./openclaw-api.ts";
import { logLineOf, sentenceOf } from "./plugin-failure.ts";
import type { ChatCommand } from "./tool-names.ts";
import { startDeadline } from "./within-deadline.ts";

export interface CommandParts {
  readonly access: MemoryAccess;
  readonly policy: AccessPolicy;
  readonly log: Logger;
  /** Warnings about the host, for status. */
  readonly warnings?: () => readonly string[];
  /** The folder in which an agent keeps its notes; undefined if unknown. */
  readonly workspaceOf?: (agentId: string) => string | undefined;
  readonly deadlineMs?: number;
}

/** A write waits up to 5 s for a locked database. */
const COMMAND_DEADLINE_MS = 10_000;
/** OpenClaw passes on at most this many characters of a command, and does not report that it cut the rest. */
const ARGUMENT_MAX_CHARS = 4_096;
const TOO_LONG =
  "This is too long for a chat command; the limit is 4,096 characters. Nothing was changed. Use a shell: openclaw helmdeck store KEY --value-file FILE";
/** Codes of errors that are about what was typed. */
const SHOWN: ReadonlySet<string> = new Set([
  "invalid_input",
  "quota_exceeded",
  "not_found",
  "changed_meanwhile",
]);
const ALONE = "Only in a direct chat with the agent, which nobody else can read";

/** Never rejects. */
export async function replyTo(
  command: ChatCommand,
  context: SlashContext,
  parts: CommandParts,
): Promise<string> {
  const typed = (context.args ?? "").trim();
  if (command === "helmdeck" && parseChatRequest(typed).kind === "help") return HELP;
  const deadline = startDeadline(parts.deadlineMs ?? COMMAND_DEADLINE_MS);
  const verdict = await parts.policy.verdictWithoutSandboxFlag({
    agentId: context.agentId,
    agentSessionKey: context.sessionKey,
  });
  if (!verdict.ok) return `helmdeck memory: ${sentenceOfRefusal(verdict.reason)}.`;
  if (command !== "helmdeck" && verdict.opened !== undefined) return `${ALONE}: /${command}.`;
  if ((context.args ?? "").length >= ARGUMENT_MAX_CHARS) return TOO_LONG;
  try {
    const reply = REPLIES[command];
    const { warnings, workspaceOf } = parts;
    const host = defined({ warnings: warnings?.(), workspace: workspaceOf?.(verdict.agentId) });
    const answered = async (memory: Memory) => {
      const said = await reply(memory, verdict, typed, host);
      if (verdict.opened !== undefined) return said;
      const { facts } = await memory.tellEnding(verdict.subject).catch(() => ({ facts: 0 }));
      return facts === 0 ? said : `${said}\n${endingLine(facts, "openclaw helmdeck renew --expiring")}`;
    };
    return await deadline(parts.access.open().then(answered));
  } catch (error) {
    return failureText(error, parts);
  }
}

/** Errors that the person can fix are shown with their own message, which has no stored value. Other errors go to the log. */
function failureText(error: unknown, { log }: CommandParts): string {
  if (isHelmdeckError(error, "secret_refused")) {
    return `${harmlessLine(error.message)} What you typed stays in this chat's own transcript.`;
  }
  if (isHelmdeckError(error) && SHOWN.has(error.code)) return harmlessLine(error.message);
  log.warn(`helmdeck memory: ${logLineOf(error)}`);
  return `${sentenceOf(error)}.`;
}
