/** How `helmdeck-memory history` and `undo` are called. */
import type { Command } from "commander";
import type { Runs } from "../command-line.ts";
import { withExamples } from "./option-parsers.ts";

const KEY = "The exact key; case matters. Or the path, docid or citation of a search hit.";

export function declareHistory(program: Command, runs: Runs): void {
  const history = program
    .command("history")
    .summary("Show what a fact held before.")
    .description(
      "Show what a fact held before, newest first: the last ten values, also those of facts that it superseded. Nothing of it is found by a search.",
    )
    .argument("<key>", `${KEY} A superseded fact's leads to the one in its place.`)
    .action((key: string, _options: unknown, command: Command) =>
      runs(command, async (context) => (await import("../work/history.ts")).historyCommand(context, key)),
    );
  withExamples(history, ["helmdeck-memory history deploy/konflux"]);
}

export function declareUndo(program: Command, runs: Runs): void {
  const undo = program
    .command("undo")
    .summary("Take back the last store of a fact.")
    .description(
      "Take back the last store that changed a fact: what it held before is there again, and so are facts that it superseded. What is taken back is erased; undo again goes one store further back.",
    )
    .argument("<key>", KEY)
    .action((key: string, _options: unknown, command: Command) =>
      runs(command, async (context) => (await import("../work/history.ts")).undoCommand(context, key)),
    );
  withExamples(undo, ["helmdeck-memory undo deploy/konflux"]);
}
