/** Declares `history`, `undo` and `renew`. */
import type { Command } from "commander";
import { defined } from "../../engine/defined.ts";
import type { Runs } from "../command-line.ts";
import { seconds, withExamples } from "./option-parsers.ts";

const KEY = "The exact key; case matters. Or the path, docid or citation of a search hit.";

function declareHistory(program: Command, runs: Runs): void {
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

function declareUndo(program: Command, runs: Runs): void {
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

function declareRenew(program: Command, runs: Runs): void {
  const renew = program
    .command("renew")
    .summary("Give a fact more time.")
    .description(
      "Give a fact more time to live. Nothing else changes. list --expiring shows facts that expire within 14 days.",
    )
    .argument("<key>", KEY)
    .option(
      "--ttl <span>",
      "How long from now: 3600, 12h, 90d; 1 hour to 365 days. Default: 90 days, but never less than it already has.",
      seconds,
    )
    .action((key: string, { ttl }: { readonly ttl?: number }, command: Command) =>
      runs(command, async (context) => {
        const { renewCommand } = await import("../work/history.ts");
        return renewCommand(context, { key, ...defined({ ttlSeconds: ttl }) });
      }),
    );
  withExamples(renew, [
    "helmdeck-memory renew deploy/konflux",
    "helmdeck-memory renew deploy/konflux --ttl 365d",
  ]);
}

export const HISTORY_COMMANDS = [declareHistory, declareUndo, declareRenew];
