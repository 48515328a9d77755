/** What a person saw: a change is confirmed only for the revision that its preview showed. The store judges it. */
import type { FactView } from "../../app/memory.ts";
import { isHelmdeckError } from "../../engine/errors.ts";
import type { Fields, PageContext } from "../page.ts";
import { text } from "./form-parts.ts";

/** The fact with exactly this key. Undefined if it cannot be opened: it can only be stored again or forgotten. */
export async function factAt({ memory, subject }: PageContext, key: string): Promise<FactView | undefined> {
  try {
    const fact = await memory.getFact(subject, { key });
    return fact?.key === key ? fact : undefined;
  } catch (error) {
    if (isHelmdeckError(error, "entry_unreadable")) return undefined;
    throw error;
  }
}

/** The revision that a form carries from its preview, for the store's condition; undefined if it has none. */
export function revisionOf(fields: Fields, name = "revision"): number | undefined {
  const carried = text(fields, name);
  return /^\d{1,15}$/.test(carried) ? Number(carried) : undefined;
}
