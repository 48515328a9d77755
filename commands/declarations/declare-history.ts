/** Declares `history` and `undo`. */
import type { Command } from "commander";
import type { Runs } from "../command-line.ts";
import { withExamples } from "./option-parsers.ts";

const KEY = "The exact key; case matters. Or the path, docid or citation of a search hit.";

export function declareHistory(program: Command, runs: Runs): void {
  const history = program
    .command("history")
    .summary("Show a fact's former values.")
    .description(
      "Show a fact's former values, newest first: the last ten, including those of facts that it superseded. Searches never find them.",
    )
    .argument("<key>", `${KEY} The key of a superseded fact leads to the fact that replaced it.`)
    .action((key: string, _options: unknown, command: Command) =>
      runs(command, async (context) => (await import("../work/history.ts")).historyCommand(context, key)),
    );
  withExamples(history, ["helmdeck-memory history deploy/konflux"]);
}

export function declareUndo(program: Command, runs: Runs): void {
  const undo = program
    .command("undo")
    .summary("Undo the last store of a fact.")
    .description(
      "Undo the last store that changed a fact. The former value returns, and so do facts that the store superseded. The undone value is deleted; another undo goes one store further back.",
    )
    .argument("<key>", KEY)
    .action((key: string, _options: unknown, command: Command) =>
      runs(command, async (context) => (await import("../work/history.ts")).undoCommand(context, key)),
    );
  withExamples(undo, ["helmdeck-memory undo deploy/konflux"]);
}
