/** What goes into a handler and what comes out of it, each held to the pack's own schema. */
import { type $ZodType, safeParseAsync } from "zod/v4/core";
import { type ErrorDetails, fieldOf, HelmdeckError, harmlessLine, ruleOf } from "../../engine/index.ts";
import type { Pack } from "./pack-contract.ts";
import { PackFailure } from "./pack-failure.ts";

const RULE_CHARACTERS = 300;

/** The input with defaults filled in and unknown fields gone, as the schema says. Throws `invalid_input`. */
export function requireInput(pack: Pack, input: unknown): Promise<unknown> {
  return requireValid(pack, "input", input, (message, details) => {
    return new HelmdeckError("invalid_input", message, { details });
  });
}

/** As {@link requireInput}, of what the handler answered. Throws `invalid_output`; findings in the answer are kept. */
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
  // The parser's own error is no cause: it holds what was refused.
  throw refusal(`The ${side} of ${pack.name} was refused: ${field}: ${rule}.`, { pack: pack.name, field });
}
