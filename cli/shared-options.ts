/** The options that every command of `helmdeck-memory` and `helmdeck-here` has. */
import type { Command } from "commander";
import { requireSubject } from "../app/subject.ts";
import type { CommandLine } from "../commands/command-line.ts";
import { nonEmpty } from "../commands/option-parsers.ts";
import { defined } from "../engine/defined.ts";
import manifest from "../package.json" with { type: "json" };

/** OpenClaw's default agent, so that a shell shares that agent's memory. */
const DEFAULT_CALLER = "main";

export const OUR_OPTIONS: Pick<
  CommandLine,
  "version" | "declareShared" | "readShared" | "memoryOptions" | "openClaw"
> = {
  version: manifest.version,
  declareShared: (root: Command) =>
    void root
      .option(
        "--caller <subject>",
        "Whose memory to use: the id of an OpenClaw agent.",
        nonEmpty,
        DEFAULT_CALLER,
      )
      .option("--db <path>", "A different database than the OpenClaw plugin's.", nonEmpty)
      .option("--store <url>", "A database on a PostgreSQL server: postgres://USER@HOST/DATABASE.", nonEmpty),
  readShared: ({ json, caller, db, store }) => ({
    caller: requireSubject(caller),
    ...defined({
      json: json === true,
      db: db === undefined ? undefined : String(db),
      store: store === undefined ? undefined : String(store),
    }),
  }),
  memoryOptions: async (context) => (await import("./memory-options.ts")).memoryOptions(context),
  openClaw: async (context) => (await import("./memory-options.ts")).openClawHere(context),
};
