/** The commands for one memory, which every command line has. */
import type { Declare } from "./command-line.ts";
import { declareDoctor } from "./doctor.ts";
import { declareEdit } from "./edit.ts";
import { declareExport } from "./export.ts";
import { declareForget } from "./forget.ts";
import { declareGet } from "./get.ts";
import { HISTORY_COMMANDS } from "./history.ts";
import { declareImport, declareImports } from "./import.ts";
import { declareList } from "./list.ts";
import { declareModel } from "./model.ts";
import { PIN_COMMANDS } from "./pin.ts";
import { declareSearch } from "./search.ts";
import { declareStatus } from "./status.ts";
import { declareStore } from "./store.ts";
import { declareTidy } from "./tidy.ts";
import { declareTraces } from "./traces.ts";

/** In the order of the help. */
export const MEMORY_COMMANDS: readonly Declare[] = [
  declareStore,
  declareGet,
  declareList,
  declareSearch,
  declareEdit,
  ...HISTORY_COMMANDS,
  ...PIN_COMMANDS,
  declareTidy,
  declareForget,
  declareTraces,
  declareImport,
  declareImports,
  declareExport,
  declareModel,
  declareStatus,
  declareDoctor,
];
