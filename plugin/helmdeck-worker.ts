/** The worker thread for the memory of a running helmdeck. */
import { serveUpstreamMemory } from "../app/worker/upstream-worker.ts";

serveUpstreamMemory();
