/** Declares `renew`. */
import type { Command } from "commander";
import { defined } from "../../engine/defined.ts";
import type { Runs } from "../command-line.ts";
import { seconds, withExamples } from "./option-parsers.ts";

export function declareRenew(program: Command, runs: Runs): void {
  const renew = program
    .command("renew")
    .summary("Give a fact more time.")
    .description(
      "Give a fact more time to live. Nothing else changes. list --expiring shows facts that expire within 14 days.",
    )
    .argument("<key>", "The exact key; case matters. Or the path, docid or citation of a search hit.")
    .option(
      "--ttl <span>",
      "How long from now: 3600, 12h, 90d; 1 hour to 365 days. Default: 90 days, but never less than it already has.",
      seconds,
    )
    .action((key: string, { ttl }: { readonly ttl?: number }, command: Command) =>
      runs(command, async (context) => {
        const { renewCommand } = await import("../work/renew.ts");
        return renewCommand(context, { key, ...defined({ ttlSeconds: ttl }) });
      }),
    );
  withExamples(renew, [
    "helmdeck-memory renew deploy/konflux",
    "helmdeck-memory renew deploy/konflux --ttl 365d",
  ]);
}
