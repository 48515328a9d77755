/** Declares `doctor`. */
import type { Command } from "commander";
import type { Runs } from "../command-line.ts";
import { withExamples } from "./option-parsers.ts";

export function declareDoctor(program: Command, runs: Runs): void {
  const doctor = program
    .command("doctor")
    .summary("Find problems and their remedies.")
    .description(
      "Check everything that memory needs, and name problems and remedies. The exit code is 1 if there is a problem.",
    )
    .option(
      "--compact",
      "First rewrite a database from an older version, so that forgotten facts return their space. Nobody can write meanwhile; twice its size must be free.",
    )
    .action((options: { readonly compact?: boolean }, command: Command) =>
      runs(command, async (context) => (await import("../work/doctor.ts")).doctorCommand(context, options)),
    );
  withExamples(doctor, ["helmdeck-memory doctor", "helmdeck-memory doctor --json"]);
}
