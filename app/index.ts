/** The app's public surface: the use cases that every surface calls. */
export { HelmdeckError, isHelmdeckError } from "../engine/index.ts";
export type { RecallAnswer, RecallHit, RecallQuery } from "../recall/index.ts";
export type {
  DoctorReport,
  DocumentQuery,
  DocumentSlice,
  FactInput,
  FactsPage,
  FactsQuery,
  FactView,
  Finding,
  ForgetInput,
  Forgotten,
  Memory,
  MemoryStatus,
  MyMemory,
  StoredFact,
} from "./memory.ts";
