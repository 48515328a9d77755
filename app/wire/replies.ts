/** Replies that differ from a use case's answer in more than names and times. */
import { defined } from "../../engine/defined.ts";
import type {
  CallersPage,
  FactHistory,
  FormerView,
  MemoryStatus,
  RunsPage,
  SearchAnswer,
} from "../memory.ts";
import { toWire } from "./codec.ts";

/** The values that an undo would restore are marked among the former values instead of being repeated. */
export function historyReply({ key, former, undo }: FactHistory) {
  const isBack = (one: FormerView) => undo.some((other) => isSame(one, other));
  return toWire({ key, former: former.map((one) => ({ ...one, ...(isBack(one) && { undo: true }) })) });
}

function isSame(one: FormerView, other: FormerView): boolean {
  const same = ["key", "category", "updatedAt", "fingerprint"] as const;
  return same.every((field) => one[field] === other[field]);
}

/** Also what both command lines print. OpenClaw requires another shape for its own searches. */
export function searchReply({ partial, incomplete = partial, ...answer }: SearchAnswer) {
  return toWire({ ...answer, ...defined({ incomplete }) });
}

export function runsReply({ runs, ...page }: RunsPage) {
  return toWire({ ...page, runs: runs.map(({ at, ...run }) => ({ ...run, atUnix: at / 1_000 })) });
}

export function callersReply({ callers, ...page }: CallersPage) {
  return { ...page, callers: callers.map(({ subject, ...used }) => ({ namespace: subject, ...used })) };
}

/** `warnings`: problems with the host. */
export function statusReply(status: MemoryStatus, warnings: readonly string[] = []) {
  return { ...toWire(status), ...(warnings.length > 0 && { warnings }) };
}
