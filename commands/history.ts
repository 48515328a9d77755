/** Declares `history`, `undo` and `renew`. */
import type { Command } from "commander";
import type { FactView, HistoryInput, RenewFactsInput, RenewInput } from "../app/memory.ts";
import { renewedText } from "../app/presenters/ending-text.ts";
import { historyText, noHistory, undoText } from "../app/presenters/history-text.ts";
import type { Presented, Voice } from "../app/presenters/presented.ts";
import { expiryFrom, localMinute } from "../app/presenters/words.ts";
import { toWire } from "../app/wire/codec.ts";
import { historyReply } from "../app/wire/replies.ts";
import { defined } from "../engine/defined.ts";
import { harmlessLine } from "../engine/facts/hostile-text.ts";
import { type CommandContext, present, type Runs, voiceOf } from "./command-line.ts";
import { EXIT_DONE } from "./exit-codes.ts";
import { FACT_NAME, seconds, sinceMoment, withExamples } from "./option-parsers.ts";
import { withMemory, withMemoryToChange } from "./with-memory.ts";

function declareHistory(program: Command, runs: Runs): void {
  const history = program
    .command("history")
    .summary("Show a fact's former values.")
    .description(
      "Show a fact's former values, newest first: the last ten, with those of facts that it superseded.",
    )
    .argument("<key>", `${FACT_NAME} A superseded key leads to its successor.`)
    .option("--since <date>", "Only values that were replaced since that day or time.", sinceMoment)
    .action((key: string, { since }: Pick<HistoryInput, "since">, command: Command) =>
      runs(command, async (context) => historyCommand(context, { key, ...defined({ since }) })),
    );
  withExamples(history, [
    "helmdeck-memory history deploy/konflux",
    "helmdeck-memory history deploy/konflux --since 2026-04-01",
  ]);
}

function declareUndo(program: Command, runs: Runs): void {
  const undo = program
    .command("undo")
    .summary("Undo the last store of a fact.")
    .description(
      "Undo the last store that changed a fact. The former value returns, and so do facts that it superseded. The undone value is deleted. Another undo goes one store further back.",
    )
    .argument("<key>", FACT_NAME)
    .action((key: string, _options: unknown, command: Command) =>
      runs(command, async (context) => undoCommand(context, key)),
    );
  withExamples(undo, ["helmdeck-memory undo deploy/konflux"]);
}

function declareRenew(program: Command, runs: Runs): void {
  const renew = program
    .command("renew")
    .summary("Give facts more time.")
    .description("Give a fact, or many, more time to live. list --expiring shows facts that need it.")
    .argument("[key]", FACT_NAME)
    .option("--expiring", "All facts that expire within 14 days.")
    .option("--all", "All facts.")
    .option("--undo", "Give the facts of the last --expiring or --all their former ends back.")
    .option("--dry-run", "Only say how many facts.")
    .option(
      "--ttl <span>",
      "How long from now: 3600, 12h, 90d; 1 hour to 365 days. Default: as for a new fact, or what it has if that is more.",
      seconds,
    )
    .action((key: string | undefined, { ttl, dryRun = false, ...many }: RenewOptions, command: Command) => {
      const [which, ...others] = (["expiring", "all", "undo"] as const).filter((one) => many[one]);
      if ([key, which, ...others].filter((one) => one !== undefined).length !== 1)
        command.error("give one of: a key, --expiring, --all, --undo.");
      if (which !== undefined && ttl !== undefined) command.error("--ttl is for one fact.");
      return runs(command, async (context) => {
        if (which !== undefined) return renewManyCommand(context, { which, dryRun });
        return renewCommand(context, { key: key ?? "", dryRun, ...defined({ ttlSeconds: ttl }) });
      });
    });
  withExamples(renew, [
    "helmdeck-memory renew deploy/konflux",
    "helmdeck-memory renew deploy/konflux --ttl 365d",
    "helmdeck-memory renew --expiring",
  ]);
}

interface RenewOptions {
  readonly ttl?: number;
  readonly expiring?: boolean;
  readonly all?: boolean;
  readonly undo?: boolean;
  readonly dryRun?: boolean;
}

export const HISTORY_COMMANDS = [declareHistory, declareUndo, declareRenew];

/** `history`: a fact's former values. `undo`: undoes the last store. `renew`: gives a fact a new lifetime. */
async function historyCommand(context: CommandContext, input: HistoryInput): Promise<number> {
  const { output, options } = context;
  const history = await withMemory(context, (memory) => memory.factHistory(options.caller, input));
  if (history === undefined) throw noHistory(options.caller);
  if (options.json) await output.json(historyReply(history));
  else await present(context, historyText(history, voiceOf(context)));
  return EXIT_DONE;
}

async function undoCommand(context: CommandContext, key: string): Promise<number> {
  const { output, options } = context;
  const undone = await withMemoryToChange(context, (memory) => memory.undoFact(options.caller, { key }));
  if (options.json) await output.json(toWire(undone));
  else await present(context, undoText(undone, `${voiceOf(context).command} undo`));
  return EXIT_DONE;
}

async function renewCommand(context: CommandContext, input: RenewInput): Promise<number> {
  const { output, options } = context;
  const fact = await withMemoryToChange(context, (memory) =>
    memory.renewFact(options.caller, input, BY_PERSON),
  );
  if (options.json) await output.json(toWire(fact));
  else await present(context, renewText(fact, { ...voiceOf(context), dryRun: input.dryRun }));
  return EXIT_DONE;
}

const BY_PERSON = { surface: "cli", isPerson: true } as const;

async function renewManyCommand(context: CommandContext, input: RenewFactsInput): Promise<number> {
  const { output, options } = context;
  const done = await withMemoryToChange(context, (memory) =>
    memory.renewFacts(options.caller, input, BY_PERSON),
  );
  if (options.json) await output.json(toWire(done));
  else {
    const isUndoable = done.renewed > 0 && !done.dryRun && done.which !== "undo";
    const notes = isUndoable ? [`To undo this: ${voiceOf(context).command} renew --undo`] : [];
    await present(context, { answer: [renewedText(done)], notes });
  }
  return EXIT_DONE;
}

export function renewText(
  { key, expiresAt }: FactView,
  { caller, now, dryRun = false }: Pick<Voice, "caller" | "now"> & { readonly dryRun?: boolean | undefined },
): Presented {
  const end = expiresAt === undefined ? "" : `, on ${localMinute(expiresAt)}`;
  const name = `${harmlessLine(key)} for ${harmlessLine(caller)}`;
  return {
    answer: [
      `${dryRun ? "Would renew" : "Renewed"} ${name}. It expires ${expiryFrom(now, expiresAt)}${end}.`,
    ],
    notes: [],
  };
}
