/** Validates a handler's input and output against the pack's schemas. */
import { type $ZodType, safeParseAsync } from "zod/v4/core";
import { type ErrorDetails, HelmdeckError } from "../../engine/errors.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import { fieldOf, ruleOf } from "../../engine/schema-issues.ts";
import type { Pack } from "./pack-contract.ts";
import { PackFailure } from "./pack-failure.ts";

const RULE_CHARACTERS = 300;

/** The parsed input, with defaults and without unknown fields. Throws `invalid_input`. */
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
