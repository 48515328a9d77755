/** `openclaw helmdeck status|search|list|history|undo|renew|forget|doctor`: how it is called. What it does is loaded when it runs: no gateway needs it. */
import { ANSWER_LIMITS, defined, RECALL_MODES, type RecallMode } from "../app/index.ts";
import type { CliContext } from "./openclaw-api.ts";
import type { CommandParts, CommandRequest, SharedOptions } from "./openclaw-commands.ts";

const { hits, facts } = ANSWER_LIMITS;

export interface CliParts extends CommandParts {
  readonly defaultAgent: string;
}

export function registerHelmdeckCli(program: CliContext["program"], parts: CliParts): void {
  const root = program.command("helmdeck").description("Look into, search and clean up helmdeck memory");
  const add = (usage: string, description: string) =>
    root
      .command(usage)
      .description(description)
      .option("--json", "print JSON, an error on standard error")
      .option("--agent <id>", "whose memory", parts.defaultAgent);
  const run = async (options: SharedOptions, request: CommandRequest): Promise<void> => {
    const { runCommand } = await import("./openclaw-commands.ts");
    await runCommand(parts, options, request);
  };

  add("status", "Show where memory is, whether it works and how much it holds").action(
    (options: SharedOptions) => run(options, { kind: "status" }),
  );
  add("search <query...>", "Search as the agent does")
    .option("--limit <number>", `hits wanted, ${hits.least} to ${hits.most}`, wholeNumber, hits.byDefault)
    .option("--recall <mode>", `where nothing answers surely: ${RECALL_MODES.join(", ")}`)
    .option("--explain", "show what each score is made of")
    .action((words: string[], { explain, recall, limit, ...options }: SearchOptions) =>
      run(options, { kind: "search", query: words.join(" "), limit, ...defined({ explain, recall }) }),
    );
  add("list [prefix]", "List stored facts, newest first; --json has their values")
    .option("--category <name>", "only this category")
    .option("--expiring", "only what ends within 14 days")
    .option("--limit <number>", "at most so many", wholeNumber, facts.byDefault)
    .action((prefix: string | undefined, { category, expiring, ...options }: ListOptions) =>
      run(options, { kind: "list", limit: options.limit, ...defined({ prefix, category, expiring }) }),
    );
  add("history <key>", "Show what a fact held before, newest first").action(
    (key: string, options: SharedOptions) => run(options, { kind: "history", key }),
  );
  add("renew <key>", "Keep a fact that would end: another 90 days, nothing else changes")
    .option("--ttl <seconds>", "how long from now instead", wholeNumber)
    .action((key: string, { ttl, ...options }: RenewOptions) =>
      run(options, { kind: "renew", key, ...defined({ ttlSeconds: ttl }) }),
    );
  add("undo <key>", "Take back the last store that changed a fact").action(
    (key: string, options: SharedOptions) => run(options, { kind: "undo", key }),
  );
  add(
    "forget <scope>",
    "Delete for good: a fact's exact key, a hit's path, key:<exact>, category:<name>, packs, pack:<id>, all, everything",
  )
    .option("--dry-run", "only say how much would be deleted")
    .option("--yes", "do not ask")
    .action((scope: string, { dryRun = false, yes = false, ...options }: ForgetOptions) =>
      run(options, { kind: "forget", scope, dryRun, yes }),
    );
  add("doctor", "Look at key, database, index and OpenClaw's settings, and say what to do").action(
    (options: SharedOptions) => run(options, { kind: "doctor" }),
  );
}

interface SearchOptions extends SharedOptions {
  readonly limit: number;
  readonly explain?: boolean;
  /** What is no such mode goes on as it is, and memory refuses it. */
  readonly recall?: RecallMode;
}

interface RenewOptions extends SharedOptions {
  readonly ttl?: number;
}

interface ListOptions extends SharedOptions {
  readonly category?: string;
  readonly expiring?: boolean;
  readonly limit: number;
}

interface ForgetOptions extends SharedOptions {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/** What is not a number goes on as NaN, which memory refuses with the field's name and limits. */
function wholeNumber(typed: string): number {
  return Number(typed);
}
