/** How `helmdeck-memory doctor` is called. */
import type { Command } from "commander";
import type { Runs } from "../command-line.ts";
import { withExamples } from "./option-parsers.ts";

export function declareDoctor(program: Command, runs: Runs): void {
  const doctor = program
    .command("doctor")
    .summary("Look for what is wrong, and say what to do.")
    .description(
      "Look at everything that memory needs, and say what is wrong and what to do. Exit code 1 when something is.",
    )
    .option(
      "--compact",
      "First write a database anew that an older version made, so that the space of what is forgotten returns. Others cannot write meanwhile; twice its size must be free.",
    )
    .action((options: { readonly compact?: boolean }, command: Command) =>
      runs(command, async (context) => (await import("../work/doctor.ts")).doctorCommand(context, options)),
    );
  withExamples(doctor, ["helmdeck-memory doctor", "helmdeck-memory doctor --json"]);
}
