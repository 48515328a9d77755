/** `openclaw helmdeck status|search|list|forget|doctor`: memory on OpenClaw's command line. */
import {
  type DoctorReport,
  defined,
  type Finding,
  type Forgotten,
  HelmdeckError,
  isHelmdeckError,
  type Memory,
} from "../app/index.ts";
import type { Verdict } from "./identity.ts";
import type { CliContext } from "./openclaw-api.ts";
import { answerText, doctorText, factsText, forgottenText, statusText } from "./presenters.ts";

const DEFAULT_HITS = 10;
const DEFAULT_FACTS = 100;

/** What the commands need of the process; a test has its own. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** Undefined when nobody is there to answer. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  fail(exitCode: number): void;
}

export interface CliParts {
  readonly open: () => Promise<Memory>;
  readonly close: () => Promise<void>;
  readonly defaultAgent: string;
  /** Whose memory an agent uses. */
  readonly subjectOf: (agentId: string) => Verdict;
  readonly hostFindings: () => Promise<readonly Finding[]>;
  /** What status says of the host. */
  readonly hostWarnings: () => readonly string[];
  readonly terminal: Terminal;
}

interface SharedOptions {
  readonly json?: boolean;
  readonly agent: string;
}

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/** Adds the command; what it does is decided when it runs. */
export function registerHelmdeckCli(program: CliContext["program"], parts: CliParts): void {
  const root = program.command("helmdeck").description("Look into, search and clean up helmdeck memory");
  const add = (usage: string, description: string) =>
    root
      .command(usage)
      .description(description)
      .option("--json", "print JSON")
      .option("--agent <id>", "whose memory", parts.defaultAgent);

  add("status", "Show where memory is, whether it works and how much it holds").action(
    (options: SharedOptions) => run(parts, options, (subject) => status(subject, options, parts)),
  );
  add("search <query...>", "Search as the agent does")
    .option("--limit <number>", "hits wanted, 1 to 50", wholeNumber, DEFAULT_HITS)
    .option("--explain", "show what each score is made of")
    .action((words: string[], options: SearchOptions) =>
      run(parts, options, async (subject) =>
        search(await parts.open(), subject, words.join(" "), options, parts.terminal),
      ),
    );
  add("list [prefix]", "List stored facts, newest first, without their values")
    .option("--category <name>", "only this category")
    .option("--limit <number>", "facts wanted, 1 to 1000", wholeNumber, DEFAULT_FACTS)
    .action((prefix: string | undefined, options: ListOptions) =>
      run(parts, options, async (subject) =>
        list(await parts.open(), subject, prefix, options, parts.terminal),
      ),
    );
  add(
    "forget <scope>",
    "Delete for good: a fact's exact key, a hit's path, key:<exact>, category:<name>, packs, pack:<id>, all, everything",
  )
    .option("--dry-run", "only say how much would be deleted")
    .option("--yes", "do not ask")
    .action((scope: string, options: ForgetOptions) =>
      run(parts, options, async (subject) =>
        forget(await parts.open(), subject, scope, options, parts.terminal),
      ),
    );
  add("doctor", "Look at key, database, index and OpenClaw's settings, and say what to do").action(
    (options: SharedOptions) => run(parts, options, () => doctor(options, parts)),
  );
}

interface SearchOptions extends SharedOptions {
  readonly limit: number;
  readonly explain?: boolean;
}

interface ListOptions extends SharedOptions {
  readonly category?: string;
  readonly limit: number;
}

interface ForgetOptions extends SharedOptions {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

async function run(
  parts: CliParts,
  options: SharedOptions,
  work: (subject: string) => Promise<void>,
): Promise<void> {
  try {
    const verdict = parts.subjectOf(options.agent);
    if (!verdict.ok) {
      throw new HelmdeckError(
        "invalid_input",
        "--agent must be the id of an agent, with a well-formed entry in subjects.",
      );
    }
    await work(verdict.subject);
  } catch (error) {
    fail(error, options, parts.terminal);
  } finally {
    await parts.close().catch(() => undefined);
  }
}

function fail(error: unknown, { json }: SharedOptions, terminal: Terminal): void {
  const failure = isHelmdeckError(error)
    ? error
    : new HelmdeckError(
        "internal",
        "The command failed; this is a defect of helmdeck memory. Please report what you did.",
      );
  const { code, message, details } = failure;
  if (json) terminal.out(JSON.stringify({ error: code, message, details }));
  else terminal.err(`${code}: ${message}`);
  terminal.fail(code === "invalid_input" ? EXIT_USAGE : EXIT_FAILED);
}

/** Also of a memory that cannot even be asked, because its configured key cannot be had. */
async function status(subject: string, { json }: SharedOptions, parts: CliParts): Promise<void> {
  const { out, fail } = parts.terminal;
  const opened = await tryOpen(parts);
  if ("error" in opened) {
    const { code, message } = opened.error;
    out(
      json
        ? JSON.stringify({ state: "failed", error: { code, message } })
        : `helmdeck memory: failed (${code})\n  ${message}`,
    );
    return fail(EXIT_FAILED);
  }
  const shown = await opened.memory.status(subject);
  const warnings = parts.hostWarnings();
  const withWarnings = warnings.length === 0 ? shown : { ...shown, warnings };
  out(json ? JSON.stringify(withWarnings) : statusText(shown, warnings));
  if (shown.state === "failed") fail(EXIT_FAILED);
}

async function tryOpen(parts: CliParts): Promise<{ memory: Memory } | { error: HelmdeckError }> {
  try {
    return { memory: await parts.open() };
  } catch (error) {
    if (isHelmdeckError(error)) return { error };
    throw error;
  }
}

async function search(
  memory: Memory,
  subject: string,
  query: string,
  { json, limit, explain = false }: SearchOptions,
  terminal: Terminal,
): Promise<void> {
  // A gateway answers from what is indexed so far and knows more a moment later; a command has no later.
  await memory.warm(subject);
  const answer = await memory.search(subject, { query, limit, explain });
  terminal.out(json ? JSON.stringify(answer) : answerText(query, answer, explain));
}

async function list(
  memory: Memory,
  subject: string,
  prefix: string | undefined,
  { json, category, limit }: ListOptions,
  terminal: Terminal,
): Promise<void> {
  const page = await memory.listFacts(subject, {
    limit,
    ...defined({ prefix, category }),
  });
  const withoutValues = { ...page, facts: page.facts.map(({ value: _, ...shown }) => shown) };
  const narrowed = prefix !== undefined || category !== undefined;
  terminal.out(json ? JSON.stringify(withoutValues) : factsText(page, narrowed));
}

async function forget(
  memory: Memory,
  subject: string,
  scope: string,
  options: ForgetOptions,
  terminal: Terminal,
): Promise<void> {
  const result = await forgetAsAsked(memory, subject, scope, options, terminal);
  terminal.out(options.json ? JSON.stringify(result) : forgottenText(result));
}

async function forgetAsAsked(
  memory: Memory,
  subject: string,
  scope: string,
  { dryRun = false, yes }: ForgetOptions,
  terminal: Terminal,
): Promise<Forgotten> {
  const preview = await memory.forget(subject, { scope, dryRun: true });
  if (preview.deleted === 0) return { ...preview, dryRun };
  const goesOn = !dryRun && (yes || (await confirmed(preview, terminal)));
  return goesOn ? memory.forget(subject, { scope, dryRun: false }) : preview;
}

async function confirmed(
  { deleted, scope }: { deleted: number; scope: string },
  terminal: Terminal,
): Promise<boolean> {
  if (terminal.ask === undefined) {
    throw new HelmdeckError(
      "invalid_input",
      "forget deletes for good; add --yes, or --dry-run to see how much it would be.",
    );
  }
  const answer = await terminal.ask(`Forget ${deleted} of ${JSON.stringify(scope)} for good? [y/N] `);
  return /^y(es)?$/i.test(answer.trim());
}

async function doctor({ json }: SharedOptions, parts: CliParts): Promise<void> {
  const [report, host] = await Promise.all([memoryReport(parts), parts.hostFindings()]);
  const findings = [...report.findings, ...host];
  parts.terminal.out(json ? JSON.stringify({ ...report, findings }) : doctorText({ ...report, findings }));
  if (findings.some((finding) => finding.level === "error")) parts.terminal.fail(EXIT_FAILED);
}

async function memoryReport(parts: CliParts): Promise<DoctorReport> {
  const opened = await tryOpen(parts);
  if ("memory" in opened) return opened.memory.doctor();
  return { findings: [{ level: "error", check: "key", message: opened.error.message }] };
}

/** What is not a number goes on as NaN, which memory refuses with the field's name and limits. */
function wholeNumber(typed: string): number {
  return Number(typed);
}
