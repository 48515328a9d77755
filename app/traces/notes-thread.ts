/** The thread that looks through notes: a gateway must answer meanwhile, whatever an agent wrote into them. */
import { parentPort, workerData } from "node:worker_threads";
import type { NotesToCount } from "./count-notes.ts";
import { countNotes } from "./find-traces.ts";
import { Phrases } from "./phrases.ts";

const { values, workspaces, withinMs } = workerData as NotesToCount; // written by the parent thread of the same build
const phrases = Phrases.ofValues(values);
const counts = await Promise.all(workspaces.map((folder) => countNotes(folder, phrases, withinMs)));
parentPort?.postMessage({
  count: counts.reduce((sum, { count }) => sum + count, 0),
  isComplete: counts.every(({ isComplete }) => isComplete),
});
