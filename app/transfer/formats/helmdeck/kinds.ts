/** Classifies helmdeck's rows and finds their owners: by category first, since an agent may choose any key for its facts. */
import type { Row } from "./rows.ts";

export type Kind = "fact" | "pack" | "pipeline" | "note" | "plan" | "cache";

/** `<caller>:<uuid v4>`: a pack's session, which ends with the pack. */
const SESSION = /^(.+):[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/s;
const SOLVE_NOTES = /^swe\.solve\/[0-9a-f]{16}\/notes$/;
const CACHED = /(?:\/|^cg:claim:)[0-9a-f]{64}$/;

export function kindOf({ category, key, namespace }: Pick<Row, "category" | "key" | "namespace">): Kind {
  switch (category) {
    case "pack_history":
      return "pack";
    case "pipeline_history":
      return "pipeline";
    case "plan_history":
      return "plan";
    case "cache":
      return CACHED.test(key) ? "cache" : "fact";
    case "solve":
      return SESSION.test(namespace) && SOLVE_NOTES.test(key) ? "note" : "fact";
    default:
      return "fact";
  }
}

/** The caller of the row; for a session, the caller that started it. */
export function callerOf(row: Pick<Row, "category" | "key" | "namespace">): string {
  const isOfSession = ["note", "cache"].includes(kindOf(row));
  return (isOfSession ? SESSION.exec(row.namespace)?.[1] : undefined) ?? row.namespace;
}
