/** What `openclaw helmdeck` does, in the words and shapes of the command `helmdeck-memory`. */
import {
  collectFacts,
  type DoctorReport,
  doctorReply,
  doctorText,
  errorReply,
  type Finding,
  type ForgetOrder,
  factReply,
  factsReply,
  forgetAsAsked,
  forgetReply,
  forgetText,
  HelmdeckError,
  harmlessLine,
  historyReply,
  historyText,
  isHelmdeckError,
  type ListRequest,
  listText,
  type Memory,
  noHistory,
  type Presented,
  type RecallQuery,
  type RenewInput,
  renewText,
  safeJson,
  searchReply,
  searchText,
  statusReply,
  undoReply,
  undoText,
  type Voice,
} from "../app/index.ts";
import type { Verdict } from "./identity.ts";
import { statusText } from "./presenters.ts";
import { processTerminal, type Terminal } from "./terminal.ts";

/** Only `doctor` asks OpenClaw's settings, so what does stands with the commands. */
export { answersInTime, hostFindings } from "./examine-plugin.ts";
/** What a gateway needs seldom lies in this file too. */
export { historyAnswer } from "./history-answer.ts";
export { answerText, statusText } from "./presenters.ts";

export interface CommandParts {
  readonly open: () => Promise<Memory>;
  readonly close: () => Promise<void>;
  /** Whose memory an agent uses. */
  readonly subjectOf: (agentId: string) => Verdict;
  readonly hostFindings: () => Promise<readonly Finding[]>;
  /** What status says of the host. */
  readonly hostWarnings: () => readonly string[];
  /** Default: the process's own. */
  readonly terminal?: Terminal;
}

export interface SharedOptions {
  readonly json?: boolean;
  readonly agent: string;
}

export type CommandRequest =
  | { readonly kind: "status" | "doctor" }
  | ({ readonly kind: "search" } & RecallQuery)
  | ({ readonly kind: "list" } & ListRequest)
  | { readonly kind: "history" | "undo"; readonly key: string }
  | ({ readonly kind: "renew" } & RenewInput)
  | ({ readonly kind: "forget" } & ForgetOrder);

interface Call {
  readonly parts: CommandParts;
  readonly terminal: Terminal;
  readonly json: boolean;
  readonly voice: Voice;
}

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/** Never throws: a failure is said on standard error, with its exit code. */
export async function runCommand(
  parts: CommandParts,
  { agent, json = false }: SharedOptions,
  request: CommandRequest,
): Promise<void> {
  const { terminal = processTerminal() } = parts;
  try {
    const verdict = parts.subjectOf(agent);
    if (!verdict.ok) {
      throw new HelmdeckError(
        "invalid_input",
        "--agent must be the id of an agent, with a well-formed entry in subjects.",
      );
    }
    await perform({ parts, terminal, json, voice: voiceFor(verdict.subject, terminal) }, request);
  } catch (error) {
    fail(error, json, terminal);
  } finally {
    await parts.close().catch(() => undefined);
  }
}

function voiceFor(caller: string, { now }: Terminal): Voice {
  const storing = "Ask an agent to remember something.";
  return { command: "openclaw helmdeck", storing, caller, now: now(), style: (_, text) => text };
}

function perform(call: Call, request: CommandRequest): Promise<void> {
  switch (request.kind) {
    case "status":
      return status(call);
    case "search":
      return search(call, request);
    case "list":
      return list(call, request);
    case "history":
      return history(call, request.key);
    case "undo":
      return undo(call, request.key);
    case "renew":
      return renew(call, request);
    case "forget":
      return forget(call, request);
    case "doctor":
      return doctor(call);
  }
}

function fail(error: unknown, json: boolean, terminal: Terminal): void {
  const failure = isHelmdeckError(error)
    ? error
    : new HelmdeckError(
        "internal",
        "The command failed; this is a defect of helmdeck memory. Please report what you did.",
      );
  const { code, message } = failure;
  terminal.err(json ? safeJson(errorReply(failure)) : `${code}: ${harmlessLine(message)}`);
  terminal.fail(code === "invalid_input" ? EXIT_USAGE : EXIT_FAILED);
}

function show({ terminal }: Call, { answer, notes }: Presented): void {
  if (answer.length > 0) terminal.out(answer.join("\n"));
  for (const note of notes) terminal.err(note);
}

/** Also of a memory that cannot even be asked, because its configured key cannot be had. */
async function status({ parts, terminal, json, voice }: Call): Promise<void> {
  const opened = await tryOpen(parts);
  if ("error" in opened) {
    const { code, message } = opened.error;
    terminal.out(
      json
        ? safeJson({ state: "failed", error: { code, message } })
        : `helmdeck memory: failed (${code})\n  ${harmlessLine(message)}`,
    );
    return terminal.fail(EXIT_FAILED);
  }
  const shown = await opened.memory.status(voice.caller);
  const warnings = parts.hostWarnings();
  terminal.out(json ? safeJson(statusReply(shown, warnings)) : statusText(shown, warnings));
  if (shown.state === "failed") terminal.fail(EXIT_FAILED);
}

async function tryOpen(parts: CommandParts): Promise<{ memory: Memory } | { error: HelmdeckError }> {
  try {
    return { memory: await parts.open() };
  } catch (error) {
    if (isHelmdeckError(error)) return { error };
    throw error;
  }
}

async function search(call: Call, { kind: _, ...query }: { kind: "search" } & RecallQuery): Promise<void> {
  const memory = await call.parts.open();
  // A gateway answers from what is indexed so far and knows more a moment later; a command has no later.
  await memory.warm(call.voice.caller);
  const answer = await memory.search(call.voice.caller, query);
  if (call.json) call.terminal.out(safeJson(searchReply(answer)));
  else show(call, searchText(answer, call.voice));
}

async function list(call: Call, { kind: _, ...request }: { kind: "list" } & ListRequest): Promise<void> {
  const memory = await call.parts.open();
  const page = await collectFacts(memory, call.voice.caller, request);
  if (call.json) call.terminal.out(safeJson(factsReply(page)));
  else show(call, await listText(memory, page, request, call.voice));
}

async function history(call: Call, key: string): Promise<void> {
  const found = await (await call.parts.open()).factHistory(call.voice.caller, key);
  if (found === undefined) throw noHistory(call.voice.caller);
  if (call.json) call.terminal.out(safeJson(historyReply(found)));
  else show(call, historyText(found, call.voice));
}

async function renew(call: Call, { kind: _, ...input }: { kind: "renew" } & RenewInput): Promise<void> {
  const fact = await (await call.parts.open()).renewFact(call.voice.caller, input);
  if (call.json) call.terminal.out(safeJson(factReply(fact)));
  else show(call, renewText(fact, call.voice));
}

async function undo(call: Call, key: string): Promise<void> {
  const undone = await (await call.parts.open()).undoFact(call.voice.caller, key);
  if (call.json) call.terminal.out(safeJson(undoReply(undone)));
  else show(call, undoText(undone, call.voice));
}

async function forget(call: Call, order: ForgetOrder): Promise<void> {
  const { parts, terminal, json, voice } = call;
  const { ask, err: tell } = terminal;
  const forgotten = await forgetAsAsked(await parts.open(), voice.caller, order, ask && { tell, ask });
  if (forgotten === undefined) return terminal.fail(EXIT_FAILED);
  if (json) terminal.out(safeJson(forgetReply(forgotten)));
  else show(call, forgetText(forgotten, voice));
}

async function doctor(call: Call): Promise<void> {
  const { parts, terminal, json, voice } = call;
  const [memory, host] = await Promise.all([memoryReport(parts), parts.hostFindings()]);
  const report = { ...memory, findings: [...memory.findings, ...host] };
  if (json) terminal.out(safeJson(doctorReply(report)));
  else show(call, doctorText(report, voice));
  if (report.findings.some(({ level }) => level === "error")) terminal.fail(EXIT_FAILED);
}

async function memoryReport(parts: CommandParts): Promise<DoctorReport> {
  const opened = await tryOpen(parts);
  if ("memory" in opened) return opened.memory.doctor();
  return { findings: [{ level: "error", check: "key", message: opened.error.message }] };
}
