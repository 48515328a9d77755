/** The packs of an engine by name, with their descriptions for clients. */
import { type $ZodType, safeParseAsync, toJSONSchema } from "zod/v4/core";
import { defined } from "../../engine/defined.ts";
import { type ErrorCode, type ErrorDetails, HelmdeckError, invalidField } from "../../engine/errors.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import { fieldOf, ruleOf } from "../../engine/schema-issues.ts";
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
    ...defined({ effects: pack.effects, pages: pack.pages }),
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

const RULE_CHARACTERS = 300;

/**
 * Validates a handler's input and output against the pack's schemas.
 *
 * The parsed input, with defaults and without unknown fields. Throws `invalid_input`.
 */
export function requireInput(pack: Pack, input: unknown): Promise<unknown> {
  return requireValid(pack, "input", input, (message, details) => {
    return new HelmdeckError("invalid_input", message, { details });
  });
}

/** Like {@link requireInput}, for the handler's output. Throws `invalid_output`; keeps findings in the output. */
export function requireOutput(pack: Pack, output: unknown): Promise<unknown> {
  return requireValid(pack, "output", output, (message, details) => {
    return new PackFailure(message, output, { code: "invalid_output", details });
  });
}

async function requireValid(
  pack: Pack,
  side: "input" | "output",
  value: unknown,
  refusal: (message: string, details: ErrorDetails) => HelmdeckError,
): Promise<unknown> {
  const schema: $ZodType = pack[side];
  const parsed = await safeParseAsync(schema, value, { reportInput: true });
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const field = (issue && fieldOf(issue)) || side;
  const rule = harmlessLine(ruleOf(issue)).slice(0, RULE_CHARACTERS);
  // The parser's error is not passed on as the cause, because it contains the refused value.
  throw refusal(`The ${side} of ${pack.name} was refused: ${field}: ${rule}.`, { pack: pack.name, field });
}

interface FailureOptions {
  readonly code?: ErrorCode;
  readonly details?: ErrorDetails;
}

/** A failed run with output: its findings go into the audit row, as for any run. */
export class PackFailure extends HelmdeckError {
  /** Not enumerable, so that logging or showing the error does not include it. */
  readonly #output: unknown;

  /** `output`: the output so far, such as `{ lint: { findings } }`. */
  constructor(message: string, output: unknown, { code = "pack_failed", details = {} }: FailureOptions = {}) {
    super(code, message, { details });
    this.#output = output;
  }

  static outputOf(error: HelmdeckError): unknown {
    return error instanceof PackFailure ? error.#output : undefined;
  }
}
