/** The worker thread for the memory of a running helmdeck. */
import { serveHelmdeckMemory } from "../app/worker/helmdeck-worker.ts";

serveHelmdeckMemory();
