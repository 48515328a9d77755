/** The commands of `helmdeck-memory`. */
import type { CommandLine } from "../commands/command-line.ts";
import { MEMORY_COMMANDS } from "../commands/memory-commands.ts";
import { declareBackup, declareRestore } from "./commands/backup.ts";
import { declareCompletion } from "./commands/completion.ts";
import { declareEmbed } from "./commands/embed.ts";
import { declareInstall } from "./commands/install.ts";
import { declareKey } from "./commands/key.ts";
import { declareOpen } from "./commands/open.ts";
import { declareRepair, declareVerify } from "./commands/repair.ts";
import { declareRotateKey } from "./commands/rotate-key.ts";
import { declareToken } from "./commands/token.ts";
import { declareHere } from "./declarations/declare-here.ts";
import { declareHook } from "./declarations/declare-hook.ts";
import { declareMcp } from "./declarations/declare-mcp.ts";
import { declareMove } from "./declarations/declare-move.ts";
import { declareServe } from "./declarations/declare-serve.ts";
import { OUR_OPTIONS } from "./shared-options.ts";

export const HELMDECK_MEMORY: CommandLine = {
  name: "helmdeck-memory",
  description: "Store, find, correct and forget facts in helmdeck memory for OpenClaw.",
  ...OUR_OPTIONS,
  commands: [
    ...MEMORY_COMMANDS,
    declareEmbed,
    declareMcp,
    declareOpen,
    declareServe,
    declareToken,
    declareHere,
    declareHook,
    declareBackup,
    declareRestore,
    declareMove,
    declareRotateKey,
    declareKey,
    declareVerify,
    declareRepair,
    declareInstall,
    declareCompletion,
  ],
  examples: [
    'helmdeck-memory store deploy/konflux "We deploy through Konflux, never by hand"',
    'helmdeck-memory search "konflux deployment preference"',
    "helmdeck-memory list",
  ],
};
