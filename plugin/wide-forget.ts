/** Whether a call of a forget tool goes on, is refused, or waits for a person: what they are shown, and where nobody can be asked, what they can do. */
import { cutText, type Forgotten, forgetPreview, harmlessLine, isWideForget } from "../app/index.ts";
import type { AccessPolicy } from "./access-policy.ts";
import { type Admitted, sentenceOfRefusal, sessionKindOf } from "./identity.ts";
import type { MemoryAccess } from "./memory-access.ts";
import { FORGET_TOOL } from "./tool-names.ts";
import { fieldOf } from "./unchecked.ts";

export type ForgetDecision =
  | { readonly block: true; readonly blockReason: string }
  | { readonly requireApproval: ApprovalRequest };

interface ApprovalRequest {
  readonly title: string;
  readonly description: string;
  readonly severity: "critical";
  readonly timeoutMs: number;
  readonly allowedDecisions: ("allow-once" | "deny")[];
}

export interface ForgetParts {
  readonly access: MemoryAccess;
  readonly gate: AccessPolicy;
}

interface ForgetCall {
  readonly tool: string;
  readonly params: unknown;
  /** The hook's context, unchecked. */
  readonly context: unknown;
}

/** The host refuses what is longer, and may spell out a character or two. */
const DESCRIPTION_MAX_CHARS = 480;
const TITLE_MAX_CHARS = 76;
const ASKED_FOR_MS = 120_000;
/** Runs by themselves: nobody sits before them. */
const NOBODY_THERE = new Set(["subagent", "acp", "cron", "hook"]);

/** Undefined: the call goes on. Throws `invalid_input` for a scope that is no text: the host may yet make one of it. */
export async function decideForget(
  { tool, params, context }: ForgetCall,
  { access, gate }: ForgetParts,
): Promise<ForgetDecision | undefined> {
  const scope = fieldOf(params, "scope");
  if (fieldOf(params, "dry_run") === true || isRefusedAnyway(scope) || !isWideForget(scope)) return undefined;
  const wanted = String(scope).trim();
  // Whose memory an MCP server changes is its own affair; that it is asked about is ours.
  if (tool !== FORGET_TOOL) return askOrRefuse(context, wanted, `Through ${harmlessLine(tool)}.`);
  const verdict = await gate.verdictWithoutSandboxFlag({
    agentId: fieldOf(context, "agentId"),
    agentSessionKey: fieldOf(context, "sessionKey"),
  });
  if (!verdict.ok) return block(`identity_refused: ${sentenceOfRefusal(verdict.reason)}.`);
  if (!canAsk(context)) return nobodyToAsk(wanted, verdict);
  const memory = await access.open();
  const covered = await memory.forget(verdict.subject, { scope: wanted, dryRun: true });
  if (covered.deleted + (covered.former ?? 0) === 0) return undefined;
  return ask(wanted, whatGoes(covered, verdict, await forgetPreview(memory, verdict.subject, wanted)));
}

/** By the tool itself, which says more about it. */
function isRefusedAnyway(scope: unknown): boolean {
  if (scope === undefined) return true;
  if (typeof scope !== "string") return false;
  try {
    isWideForget(scope);
    return false;
  } catch {
    return true;
  }
}

function askOrRefuse(context: unknown, scope: string, what: string): ForgetDecision {
  return canAsk(context) ? ask(scope, what) : nobodyToAsk(scope);
}

function ask(scope: string, description: string): ForgetDecision {
  return {
    requireApproval: {
      title: cutText(`Forget for good: ${scope}`, TITLE_MAX_CHARS),
      description: cutText(description, DESCRIPTION_MAX_CHARS),
      severity: "critical",
      timeoutMs: ASKED_FOR_MS,
      allowedDecisions: ["allow-once", "deny"],
    },
  };
}

/** Keys and first words are as somebody stored them, and are shown as that; lines that do not fit are left out. */
function whatGoes(covered: Forgotten, { agentId }: Admitted, lines: readonly string[]): string {
  const { deleted, former = 0 } = covered;
  const count = `${deleted} ${deleted === 1 ? "entry" : "entries"} of ${agentId}'s memory`;
  const more = former === 0 ? "" : `, and ${former} former values of other facts,`;
  let text = `${count}${more} would be deleted for good.`;
  if (lines.length > 0) text += " Newest first, key and first words as stored:";
  for (const line of lines.map((one) => `\n> ${one}`)) {
    if (text.length + line.length <= DESCRIPTION_MAX_CHARS) text += line;
  }
  return text;
}

/** Where nobody sits, the host can only refuse, and does not say what else a person can do. */
function canAsk(context: unknown): boolean {
  const channel = fieldOf(fieldOf(context, "requester"), "channel");
  if (typeof channel !== "string" || channel.trim() === "") return false;
  return !NOBODY_THERE.has(sessionKindOf(fieldOf(context, "sessionKey")));
}

function nobodyToAsk(scope: string, verdict?: Admitted): ForgetDecision {
  const agent = verdict === undefined || verdict.agentId === "main" ? "" : ` --agent ${verdict.agentId}`;
  const caller =
    verdict === undefined || verdict.subject === "main" ? "" : ` --caller ${quoted(verdict.subject)}`;
  return block(
    `Nothing was forgotten: forgetting ${scope} wants a person's yes, and nobody can be asked in this session. ` +
      `They can run it themselves: openclaw helmdeck forget ${scope}${agent}, or: helmdeck-memory forget ${scope}${caller}`,
  );
}

/** For a shell. */
function quoted(subject: string): string {
  return /^[\w.@-]+$/.test(subject) ? subject : `'${harmlessLine(subject).replaceAll("'", "'\\''")}'`;
}

function block(blockReason: string): ForgetDecision {
  return { block: true, blockReason };
}
