/** Declares `get`. */
import type { Command } from "commander";
import type { FactView, GetInput } from "../app/memory.ts";
import { expiryFrom, localMinute } from "../app/presenters/words.ts";
import { toWire } from "../app/wire/codec.ts";
import { defined } from "../engine/defined.ts";
import { harmlessBlock, harmlessLine } from "../engine/facts/hostile-text.ts";
import { frameOf } from "../engine/projections/frame.ts";
import { type CommandContext, missingFact, type Runs } from "./command-line.ts";
import { EXIT_DONE } from "./exit-codes.ts";
import { AS_OF, asOfMoment, FACT_NAME, withExamples } from "./option-parsers.ts";
import { withMemory } from "./with-memory.ts";

export function declareGet(program: Command, runs: Runs): void {
  const get = program
    .command("get")
    .summary("Print the value of one fact.")
    .description("Print the value of one fact.")
    .argument("<key>", FACT_NAME)
    .option("--as-of <date>", AS_OF, asOfMoment)
    .action((key: string, { asOf }: Pick<GetInput, "asOf">, command: Command) =>
      runs(command, async (context) => getCommand(context, { key, ...defined({ asOf }) })),
    );
  withExamples(get, [
    "helmdeck-memory get deploy/konflux",
    "helmdeck-memory get deploy/konflux --json",
    "helmdeck-memory get deploy/konflux --as-of 2026-04-01",
  ]);
}

/** `get`: the value of one fact. */
async function getCommand(context: CommandContext, input: GetInput): Promise<number> {
  const { shell, output, options } = context;
  const fact = await withMemory(context, (memory) => memory.getFact(options.caller, input));
  if (fact === undefined) throw missingFact(context);
  if (options.json) {
    await output.json(toWire(fact));
    return EXIT_DONE;
  }
  // stdout has only the value, for $(helmdeck-memory get …); the details for a person go to stderr.
  await output.line(harmlessBlock(fact.value));
  if (shell.stderr.isTTY === true) await output.note(output.styledNote("dim", aboutFact(fact, shell.now())));
  return EXIT_DONE;
}

function aboutFact({ tags, expiresAt, pinned, ...fact }: FactView, now: number): string {
  return [
    frameOf({ ...fact, kind: "fact" }, { time: localMinute, isForPerson: true }),
    ...(tags.length === 0 ? [] : [`tags ${harmlessLine(tags.join(", "))}`]),
    ...(pinned ? ["pinned"] : []),
    `expires ${expiryFrom(now, expiresAt)}`,
  ].join(" · ");
}
