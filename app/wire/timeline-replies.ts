/** Replies with runs of packs, pipelines and tools, and a memory's growth, for REST. */
import { defined } from "../../engine/index.ts";
import type { Growth, RunsPage, RunView } from "../memory.ts";
import type { GrowthReply, RunsReply } from "./timeline-schemas.ts";
import { writerReply } from "./view-replies.ts";

export function runsReply({ runs, unreadable, nextCursor }: RunsPage): RunsReply {
  return { runs: runs.map(runReply), unreadable, ...defined({ next_cursor: nextCursor }) };
}

function runReply({ isOk, at, durationMs, writer, ...run }: RunView): RunsReply["runs"][number] {
  return {
    ...run,
    is_ok: isOk,
    at_unix: at / 1_000,
    ...defined({ duration_ms: durationMs }),
    ...(writer && { writer: writerReply(writer) }),
  };
}

export function growthReply({ days, bytes }: Growth): GrowthReply {
  return { days: [...days], bytes };
}
