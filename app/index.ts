/** The app's public surface: the use cases that every surface calls. */
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
