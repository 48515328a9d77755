/** Declares the commands of the process seam: `helmdeck-memory here recall|offer|state`, and the same three in `helmdeck-here`. */
import { Argument, type Command, InvalidArgumentError } from "commander";
import type { Runs } from "../../commands/command-line.ts";
import { withExamples } from "../../commands/option-parsers.ts";

const PHASES_TEXT = "setup, plan, work, review, release, bugfix or documenter; anything else counts as work.";

export function declareHere(program: Command, runs: Runs): void {
  const here = program
    .command("here")
    .summary("Tell scripts what memory knows about this project.")
    .description(
      "Tell scripts and coding tools about the project in this folder: what memory knows of it, where something would be saved, and where the plan is. Only reads. If there is no memory, the answer is empty and stderr says why.",
    );
  declareRecall(here.command("recall"), runs, "helmdeck-memory here recall");
  declareOffer(here.command("offer"), runs, "helmdeck-memory here offer");
  declareState(here.command("state"), runs, "helmdeck-memory here state");
}

export function declareRecallHere(program: Command, runs: Runs): void {
  declareRecall(program.command("recall-here"), runs, "helmdeck-here recall-here");
}

export function declareOfferSaveHere(program: Command, runs: Runs): void {
  declareOffer(program.command("offer-save-here"), runs, "helmdeck-here offer-save-here");
}

export function declareStatePath(program: Command, runs: Runs): void {
  declareState(program.command("state-path"), runs, "helmdeck-here state-path");
}

function declareRecall(command: Command, runs: Runs, called: string): void {
  withCwd(command)
    .summary("Print the memory for a phase of this project.")
    .description(
      "Print what memory knows for a phase of this project, as text for a model. Prints nothing if nothing is known.",
    )
    .option("--phase <name>", PHASES_TEXT)
    .option("--query <words>", "Rank the phase's entries by this query.")
    .option("--limit <tokens>", "Budget; default: HARNESS_RECALL_BUDGET_<PHASE>, else by phase.", tokens)
    .action((_options: unknown, self: Command) =>
      runs(self, async (context) => {
        const { recallCommand } = await import("../commands/here.ts");
        return recallCommand(context, self.opts());
      }),
    );
  withExamples(command, [`${called} --phase plan`, `${called} --phase work --query "flaky upload test"`]);
}

function declareOffer(command: Command, runs: Runs, called: string): void {
  withCwd(command)
    .summary("Print where something would be saved, as a JSON list.")
    .description(
      "Print where something would be saved, as a JSON list. Saves nothing. target.arguments fits helmdeck__memory_store.",
    )
    .option("--phase <name>", "Passed through.")
    .requiredOption(
      "--kind <kind>",
      "decision, known_issue, open_question, convention, index, wiki_style, or a word of your own.",
    )
    .requiredOption("--slug <name>", "A short name for it.")
    .option("--body-file <file>", "The text; - is standard input.", "-")
    .option("--confidence <number>", "Passed through.", number)
    .option("--confidence-reason <text>", "Passed through.")
    .action((_options: unknown, self: Command) =>
      runs(self, async (context) => {
        const { offerCommand } = await import("../commands/here.ts");
        return offerCommand(context, self.opts());
      }),
    );
  withExamples(command, [`${called} --kind decision --slug one-file-database --body-file decision.md`]);
}

function declareState(command: Command, runs: Runs, called: string): void {
  withCwd(command)
    .summary("Print the path of the active plan or its progress.")
    .description(
      "Print the path of the active plan or its progress. The file need not exist. A marker .harness/active-plan that names no plan is an error.",
    )
    .addArgument(new Argument("<which>", "Which file.").choices(["plan", "progress"]))
    .option("--plan <name>", "A named plan: foo, PLAN-foo or PLAN-foo.md.")
    .action((which: "plan" | "progress", _options: unknown, self: Command) =>
      runs(self, async (context) => {
        const { stateCommand } = await import("../commands/here.ts");
        return stateCommand(context, which, self.opts());
      }),
    );
  withExamples(command, [`${called} plan`, `${called} progress --plan release-2`]);
}

function withCwd(command: Command): Command {
  return command.option("--cwd <folder>", "The project's root; default: the current folder.");
}

/** Zero and negative numbers mean the phase's own budget, as existing callers expect. */
function tokens(text: string): number {
  if (!/^[+-]?\d{1,9}$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}

function number(text: string): number {
  const parsed = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isFinite(parsed)) throw new InvalidArgumentError("It must be a number.");
  return parsed;
}
