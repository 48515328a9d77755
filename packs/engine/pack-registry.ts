/** The packs of an engine by name, with their descriptions for clients. */
import { toJSONSchema } from "zod/v4/core";
import { defined } from "../../engine/defined.ts";
import { type HelmdeckError, invalidField } from "../../engine/errors.ts";
import { checkPack } from "./define-pack.ts";
import type { Pack, PackInfo } from "./pack-contract.ts";

export interface RegisteredPack {
  readonly pack: Pack;
  readonly info: PackInfo;
}

/** Sorted by name. Throws `invalid_input` if a pack is invalid, or two packs have the same name. */
export function registerPacks(
  packs: readonly Pack[],
  hasStore: boolean,
): ReadonlyMap<string, RegisteredPack> {
  const registered = new Map<string, RegisteredPack>();
  for (const pack of packs.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    checkPack(pack);
    if (registered.has(pack.name)) throw refuse(pack, "name", "is taken by another pack");
    registered.set(pack.name, { pack, info: infoOf(pack, hasStore) });
  }
  return registered;
}

function infoOf(pack: Pack, hasStore: boolean): PackInfo {
  return Object.freeze({
    name: pack.name,
    title: pack.title ?? pack.name,
    version: pack.version,
    description: pack.description,
    inputSchema: jsonSchemaOf(pack, "input"),
    outputSchema: jsonSchemaOf(pack, "output"),
    startsProcess: pack.startsProcess === true,
    ...defined({ effects: pack.effects }),
    cached: hasStore && pack.memory?.cache === true,
  });
}

/** Fields with defaults are optional in the input schema and required in the output schema. */
function jsonSchemaOf(pack: Pack, field: "input" | "output"): PackInfo["inputSchema"] {
  try {
    return { ...toJSONSchema(pack[field], { io: field }) };
  } catch (error) {
    const problem = error instanceof Error ? error.message : "it has no JSON form";
    throw refuse(pack, field, `cannot be described to clients as JSON Schema (${problem})`);
  }
}

function refuse(pack: Pack, field: string, rule: string): HelmdeckError {
  return invalidField(field, rule, { named: `${field} of pack ${pack.name}` });
}
