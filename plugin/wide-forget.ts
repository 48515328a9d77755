/** Decides whether a forget call proceeds, is refused, or needs a person's approval, and words the question or the refusal. */

import { isWideForget } from "../app/forgetting.ts";
import type { Forgotten } from "../app/memory.ts";
import { forgetPreview, wouldForget } from "../app/presenters/forget-texts.ts";
import { shellWord } from "../app/presenters/words.ts";
import type { Arguments } from "../app/wire/arguments.ts";
import { harmlessLine } from "../engine/facts/hostile-text.ts";
import { cutText } from "../engine/projections/frame.ts";
import type { AccessPolicy } from "./access-policy.ts";
import { type Admitted, sentenceOfRefusal, sessionKindOf } from "./identity.ts";
import type { MemoryAccess } from "./memory-access.ts";
import { FORGET_TOOL } from "./tool-names.ts";
import { callerIn, fieldOf } from "./unchecked.ts";

export type Decision =
  | { readonly block: true; readonly blockReason: string }
  | {
      readonly requireApproval?: ApprovalRequest;
      /** The call's arguments, limited to what was counted. */
      readonly params?: Readonly<Record<string, unknown>>;
    };

interface ApprovalRequest {
  readonly title: string;
  readonly description: string;
  readonly severity: "critical";
  readonly timeoutMs: number;
  readonly allowedDecisions: ("allow-once" | "deny")[];
}

export interface DecisionParts {
  readonly access: MemoryAccess;
  readonly policy: AccessPolicy;
}

export interface ToolCall {
  readonly tool: string;
  /** As the tool reads them. */
  readonly params: Arguments;
  /** The hook's context, unchecked. */
  readonly context: unknown;
}

/** The host refuses longer text, and may escape some characters. */
const DESCRIPTION_MAX_CHARS = 480;
const TITLE_MAX_CHARS = 76;
const LEAST_LINE_CHARS = 40;
const ASKED_FOR_MS = 120_000;
/** Unattended runs. */
const NOBODY_THERE = new Set(["subagent", "acp", "cron", "hook"]);

/** Undefined: the call proceeds. */
export async function decideForget(
  { tool, params, context }: ToolCall,
  { access, policy }: DecisionParts,
): Promise<Decision | undefined> {
  const wanted = String(params.scope).trim();
  if (params.dry_run === true || !isWide(wanted)) return undefined;
  // An MCP server decides whose memory it changes; here only the approval is required.
  if (tool !== FORGET_TOOL)
    return canAsk(context) ? ask(wanted, `Through ${harmlessLine(tool)}.`) : nobodyToAsk(wanted);
  const verdict = await policy.verdictWithoutSandboxFlag(callerIn(context));
  if (!verdict.ok) return block(`identity_refused: ${sentenceOfRefusal(verdict.reason)}.`);
  if (!canAsk(context)) return nobodyToAsk(wanted, verdict);
  const memory = await access.open();
  const limit = typeof params.up_to === "number" ? { upTo: params.up_to } : {};
  const covered = await memory.forget(verdict.subject, { scope: wanted, dryRun: true, ...limit });
  const bounded = upToShown(params, limit, covered);
  if (covered.deleted + (covered.former ?? 0) === 0) return bounded;
  const would = await wouldForget(memory, verdict.subject, covered, ` of ${harmlessLine(verdict.agentId)}`);
  const lines = await forgetPreview(memory, verdict.subject, wanted);
  return { ...ask(wanted, whatGoes(would, lines)), ...bounded };
}

/** Undefined if memory has no numbers of changes. */
function upToShown(params: Arguments, { upTo }: { readonly upTo?: number }, { revision }: Forgotten) {
  if (revision === undefined) return undefined;
  return { params: { ...params, up_to: Math.min(upTo ?? revision, revision) } };
}

function isWide(scope: string): boolean {
  try {
    return isWideForget(scope);
  } catch {
    return false; // the tool itself refuses the scope, with a better message
  }
}

function ask(scope: string, description: string): Decision {
  return askPerson(`Forget for good: ${scope}`, description);
}

export function askPerson(title: string, description: string): Decision {
  return {
    requireApproval: {
      title: cutText(title, TITLE_MAX_CHARS),
      description: cutText(description, DESCRIPTION_MAX_CHARS),
      severity: "critical",
      timeoutMs: ASKED_FOR_MS,
      allowedDecisions: ["allow-once", "deny"],
    },
  };
}

/** The preview's keys and first words are quoted as stored; a line that does not fit is cut, or left out. */
function whatGoes(would: string, lines: readonly string[]): string {
  let text = would;
  if (lines.length > 0) text += " Newest first, key and first words as stored:";
  for (const line of lines.map((one) => `\n> ${one}`)) {
    const room = DESCRIPTION_MAX_CHARS - text.length;
    if (room >= LEAST_LINE_CHARS) text += line.length <= room ? line : `${cutText(line, room - 1)}…`;
  }
  return text;
}

/** In an unattended run the host could only refuse, without telling what a person can do instead. */
export function canAsk(context: unknown): boolean {
  const channel = fieldOf(fieldOf(context, "requester"), "channel");
  if (typeof channel !== "string" || channel.trim() === "") return false;
  return !NOBODY_THERE.has(sessionKindOf(fieldOf(context, "sessionKey")));
}

function nobodyToAsk(scope: string, verdict?: Admitted): Decision {
  const agent = verdict === undefined || verdict.agentId === "main" ? "" : ` --agent ${verdict.agentId}`;
  const caller =
    verdict === undefined || verdict.subject === "main"
      ? ""
      : ` --caller ${shellWord(harmlessLine(verdict.subject))}`;
  return block(
    `Nothing was forgotten: forgetting ${scope} needs a person's approval, and nobody can be asked in this session. ` +
      `A person can run: openclaw helmdeck forget ${scope}${agent}, or: helmdeck-memory forget ${scope}${caller}`,
  );
}

export function block(blockReason: string): Decision {
  return { block: true, blockReason };
}
