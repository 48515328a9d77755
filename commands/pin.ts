/** Declares `pin` and `unpin`. */
import type { Command } from "commander";
import { pinText } from "../app/presenters/ending-text.ts";
import { toWire } from "../app/wire/codec.ts";
import { PIN_LIMITS } from "../engine/projections/pinned-text.ts";
import { type CommandContext, present, type Runs, voiceOf } from "./command-line.ts";
import { EXIT_DONE } from "./exit-codes.ts";
import { FACT_NAME, withExamples } from "./option-parsers.ts";
import { withMemoryToChange } from "./with-memory.ts";

function declarePin(program: Command, runs: Runs): void {
  const pin = program
    .command("pin")
    .summary("Keep a fact in every prompt of its agent.")
    .description(
      `Keep a fact in every prompt of its agent, for a year. At most ${PIN_LIMITS.facts} facts, of about ${PIN_LIMITS.tokens} tokens together. Again: for another year from now. Pinned facts come first in lists.`,
    )
    .argument("<key>", FACT_NAME)
    .action((key: string, _options: unknown, command: Command) =>
      runs(command, async (context) => pinCommand(context, key, true)),
    );
  withExamples(pin, ["helmdeck-memory pin allergies"]);
}

function declareUnpin(program: Command, runs: Runs): void {
  const unpin = program
    .command("unpin")
    .summary("Take a fact out of the prompts.")
    .description("Take a fact out of its agent's prompts. It stays stored, with its former end.")
    .argument("<key>", FACT_NAME)
    .action((key: string, _options: unknown, command: Command) =>
      runs(command, async (context) => pinCommand(context, key, false)),
    );
  withExamples(unpin, ["helmdeck-memory unpin allergies"]);
}

export const PIN_COMMANDS = [declarePin, declareUnpin];

async function pinCommand(context: CommandContext, key: string, pinned: boolean): Promise<number> {
  const { output, options } = context;
  const person = { surface: "cli", isPerson: true } as const;
  const fact = await withMemoryToChange(context, (memory) =>
    memory.pinFact(options.caller, { key, pinned }, person),
  );
  if (options.json) await output.json(toWire(fact));
  else await present(context, { answer: [pinText(fact, `${voiceOf(context).command} pin`)], notes: [] });
  return EXIT_DONE;
}
