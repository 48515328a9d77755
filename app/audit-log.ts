/**
 * The audit log: one line of JSON for each action of an operator, by whichever door it came. (What packs and tools did for a caller
 * stands in run records, engine/audit/.)
 *
 * Threat: whoever reads the log learns what is stored, or gets a token; a name forges a line; another account rewrites the file; an
 * action leaves no line. Defence: what was acted on is told in the fields below only, of which none takes a stored text, and one
 * declaration of an operation or command decides that it has a line. The file must pass {@link PathGuard}, is only appended to, and
 * is opened for each line, so that it can be renamed. A command does nothing, and a server does not start, while the file cannot be
 * written; if a line cannot be written later, the action stands and `onUnwritten` tells the line.
 */
import { constants } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  ABOUT_THE_INPUT,
  asHelmdeckError,
  type ErrorCode,
  type HelmdeckError,
  invalidField,
  isHelmdeckError,
  systemCodeOf,
} from "../engine/errors.ts";
import { type ForgetScope, parseForgetScope } from "../engine/facts/forget-scope.ts";
import { PathGuard, type Unguarded } from "../engine/given-file.ts";
import { deadEndOf } from "../engine/private-file.ts";
import { rfc3339 } from "../engine/rfc3339.ts";
import { safeJson } from "./presenters/safe-json.ts";

/** In the order of docs/reference/serve.md; a test compares the two. */
export const AUDIT_ACTIONS = [
  ...["engine_started", "engine_stopped", "settings_changed", "secrets_changed", "revocations_changed"],
  ...["token_made", "tokens_revoked", "key_changed", "key_copy_confirmed"],
  ...["memory_moved", "memory_reopened", "store_prepared", "memory_backed_up", "memory_restored"],
  ...["memory_repaired", "memory_read", "memory_exported", "memory_forgotten"],
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Who acted, as the door knows it: an account of the operating system, a verified caller, or a process by itself. */
export type AuditActor =
  | { readonly kind: "user"; readonly name: string; readonly uid: number }
  | { readonly kind: "caller"; readonly name: string; readonly surface: string }
  | { readonly kind: "process"; readonly pid: number; readonly signal?: string };

/** Of a token, whose it is, its rights and its times in RFC 3339; ids of keys; places of memories, files and engines; names of settings. */
type Texts = OfTokens | "key" | "former_key" | "state" | "from" | "to" | "file" | "address" | "version";
type OfTokens = "subject" | "issued_at" | "expires_at" | "until";
type Lists = "scopes" | "roles" | "settings" | "need_restart";
type Counts = "entries" | "secrets" | "added";

/** What was acted on. `scope`: of a forget, without the key or name in it. */
export type AuditObject = { readonly [Name in Texts]?: string } & {
  readonly [Name in Lists]?: readonly string[];
} & { readonly [Name in Counts]?: number } & { readonly scope?: ForgetScope["kind"] };

export interface AuditEvent {
  readonly action: AuditAction;
  readonly outcome: "done" | "refused" | "failed";
  readonly code?: ErrorCode;
  readonly actor: AuditActor;
  readonly object: AuditObject;
}

/** Never throws. */
export type Audit = (event: AuditEvent) => Promise<void>;

/** Another input, or another caller, could succeed. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set([...ABOUT_THE_INPUT, "forbidden", "identity_refused"]);

export function failed(error: unknown): Pick<AuditEvent, "outcome" | "code"> {
  const isMistyped = error instanceof Error && "exitCode" in error; // commander found it after the command began
  const code = isMistyped ? "invalid_input" : asHelmdeckError(error).code;
  return { outcome: REFUSALS.has(code) ? "refused" : "failed", code };
}

/** Carries out what has a line. `found` adds to its object. `isDone`: whether the answer means that it was carried out, and whole. */
export async function audited<Answer>(
  audit: Audit,
  { action, actor }: Pick<AuditEvent, "action" | "actor">,
  work: (found: (more: AuditObject) => void) => Promise<Answer>,
  isDone: (answer: Answer) => boolean = () => true,
): Promise<Answer> {
  const object: AuditObject = {};
  const end = (how: Pick<AuditEvent, "outcome" | "code">) => audit({ action, ...how, actor, object });
  const answer = await work((more) => void Object.assign(object, more)).catch(async (error: unknown) => {
    await end(failed(error));
    throw error;
  });
  await end({ outcome: isDone(answer) ? "done" : "failed" });
  return answer;
}

/** Whoever types a value in place of a key must not find it in the log. */
export function kindOfScope(scope: unknown): Pick<AuditObject, "scope"> {
  try {
    return { scope: parseForgetScope(scope)[0].kind };
  } catch {
    return {};
  }
}

/** An account without a name has its number. */
export function thisUser(): AuditActor {
  const uid = process.geteuid?.() ?? -1;
  try {
    return { kind: "user", name: userInfo().username, uid };
  } catch {
    return { kind: "user", name: String(uid), uid };
  }
}

export const THIS_PROCESS = { kind: "process", pid: process.pid } as const;

/**
 * The file that HELMDECK_AUDIT_FILE names, if it does. Creates it; throws `invalid_input` unless a line could be written there.
 * `onUnwritten`: something has happened whose line is not in the file.
 */
export async function openAuditFile(
  { env, now }: { readonly env: Readonly<Record<string, string | undefined>>; readonly now: () => number },
  onUnwritten: (event: AuditEvent, problem: string) => void,
): Promise<Audit | undefined> {
  if (!env.HELMDECK_AUDIT_FILE) return undefined;
  const path = resolve(env.HELMDECK_AUDIT_FILE);
  await append(path, "");
  let last = Promise.resolve(); // lines stand in the order of their times
  return (event) => {
    const line = `${safeJson({ time: rfc3339(now()), ...event })}\n`;
    last = last
      .then(() => append(path, line))
      .catch((error: unknown) => onUnwritten(event, asHelmdeckError(error).message));
    return last;
  };
}

/** In one write, so that lines of several processes do not mix. After half a line, which a full disk left, begins a new one. */
async function append(path: string, line: string): Promise<void> {
  try {
    const file = await openOrCreate(path);
    try {
      if (!(await file.stat()).isFile()) throw unusable(path, "is not a regular file");
      refuseUnguarded(path, (await new PathGuard().examine(path)).problem);
      if (line === "") return;
      const bytes = Buffer.from((await isCut(file)) ? `\n${line}` : line);
      const { bytesWritten } = await file.write(bytes);
      if (bytesWritten < bytes.length) throw unusable(path, "cannot grow; free some space on its disk");
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    if (isHelmdeckError(error)) throw error;
    const owner = systemCodeOf(error) === "EACCES" && (await stat(path).catch(() => undefined))?.uid;
    if (typeof owner === "number" && owner !== process.geteuid?.())
      throw unusable(path, `belongs to another account (uid ${owner}); chown it to this one`, error);
    const why =
      deadEndOf(error) ?? `cannot be written (${systemCodeOf(error)}); check its folder and its disk`;
    throw unusable(path, why, error);
  }
}

/** A refusal creates nothing: a file of this account would lock out the account whose folder it is. */
async function openOrCreate(path: string): Promise<FileHandle> {
  // Without O_NONBLOCK, opening a named pipe would wait.
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_NONBLOCK;
  try {
    return await open(path, flags);
  } catch (error) {
    if (systemCodeOf(error) !== "ENOENT") throw error;
    refuseUnguarded(path, await new PathGuard().examineAbove(path));
    return open(path, flags | constants.O_CREAT | constants.O_NOFOLLOW, 0o600); // a link could lead to another folder
  }
}

function refuseUnguarded(path: string, problem: Unguarded | undefined): void {
  if (problem === undefined) return;
  throw unusable(path, problem.path === path ? problem.rule : `is not safe: ${problem.path} ${problem.rule}`);
}

/** A line that another process is just writing is whole a moment later. */
async function isCut(file: FileHandle): Promise<boolean> {
  for (let tries = 5; tries > 0; tries--) {
    const { size } = await file.stat();
    const { buffer } = await file.read(Buffer.from("\n"), 0, 1, Math.max(0, size - 1));
    if (buffer.toString() === "\n") return false;
    await delay(10);
  }
  return true;
}

function unusable(path: string, rule: string, cause?: unknown): HelmdeckError {
  return invalidField("audit-file", rule, { named: `The audit log ${path}`, details: { path }, cause });
}
