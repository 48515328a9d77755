/** The commands for one memory, which every command line has. */
import type { Declare } from "./command-line.ts";
import { declareDoctor } from "./declarations/declare-doctor.ts";
import { declareEdit } from "./declarations/declare-edit.ts";
import { declareExport } from "./declarations/declare-export.ts";
import { declareForget } from "./declarations/declare-forget.ts";
import { declareGet } from "./declarations/declare-get.ts";
import { HISTORY_COMMANDS } from "./declarations/declare-history.ts";
import { declareImport, declareImports } from "./declarations/declare-import.ts";
import { declareList } from "./declarations/declare-list.ts";
import { declareSearch } from "./declarations/declare-search.ts";
import { declareStatus } from "./declarations/declare-status.ts";
import { declareStore } from "./declarations/declare-store.ts";

/** In the order of the help. */
export const MEMORY_COMMANDS: readonly Declare[] = [
  declareStore,
  declareGet,
  declareList,
  declareSearch,
  declareEdit,
  ...HISTORY_COMMANDS,
  declareForget,
  declareImport,
  declareImports,
  declareExport,
  declareStatus,
  declareDoctor,
];
