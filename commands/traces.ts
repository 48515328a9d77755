/** Declares `traces`. */
import type { Command } from "commander";
import type { Runs } from "./command-line.ts";
import { withExamples } from "./option-parsers.ts";

export function declareTraces(program: Command, runs: Runs): void {
  const traces = program
    .command("traces")
    .summary("Show where else a fact stands: OpenClaw's notes, index and transcripts, exports.")
    .description(
      "Show where else a fact, or words, stand: OpenClaw's notes, dreams, index and transcripts, known exports and backups. On a terminal it then offers to take lines out of notes, one place at a time. Without a key, it asks for words, or reads them from standard input, one phrase a line, and keeps them nowhere.",
    )
    .argument("[key]", "The exact key of a fact whose value to look for.")
    .action((key: string | undefined, _options: unknown, command: Command) =>
      runs(command, async (context) => (await import("./show-traces.ts")).tracesCommand(context, key)),
    );
  withExamples(traces, ["helmdeck-memory traces deploy/konflux", "helmdeck-memory traces < words.txt"]);
}
