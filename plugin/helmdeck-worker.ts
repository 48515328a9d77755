/** The worker thread for the memory of a running helmdeck. */
import { serveUpstreamMemory } from "../app/index.ts";

serveUpstreamMemory();
