/** Declares `history`, `undo` and `renew`. */
import type { Command } from "commander";
import type { FactView, HistoryInput, RenewInput } from "../app/memory.ts";
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
    .summary("Give a fact more time.")
    .description("Give a fact more time to live. list --expiring shows facts that need it.")
    .argument("<key>", FACT_NAME)
    .option(
      "--ttl <span>",
      "How long from now: 3600, 12h, 90d; 1 hour to 365 days. Default: 90 days, or what it has if that is more.",
      seconds,
    )
    .action((key: string, { ttl }: { readonly ttl?: number }, command: Command) =>
      runs(command, async (context) => {
        return renewCommand(context, { key, ...defined({ ttlSeconds: ttl }) });
      }),
    );
  withExamples(renew, [
    "helmdeck-memory renew deploy/konflux",
    "helmdeck-memory renew deploy/konflux --ttl 365d",
  ]);
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
    memory.renewFact(options.caller, input, { surface: "cli", isPerson: true }),
  );
  if (options.json) await output.json(toWire(fact));
  else await present(context, renewText(fact, voiceOf(context)));
  return EXIT_DONE;
}

export function renewText(
  { key, expiresAt }: FactView,
  { caller, now }: Pick<Voice, "caller" | "now">,
): Presented {
  const end = expiresAt === undefined ? "" : `, on ${localMinute(expiresAt)}`;
  const name = `${harmlessLine(key)} for ${harmlessLine(caller)}`;
  return { answer: [`Renewed ${name}. It expires ${expiryFrom(now, expiresAt)}${end}.`], notes: [] };
}
