/** What goes into a handler and what comes out of it, each held to the pack's own schema. */
import { type $ZodType, safeParseAsync } from "zod/v4/core";
import { type ErrorCode, fieldOf, HelmdeckError, harmlessLine, ruleOf } from "../../engine/index.ts";
import type { Pack } from "./pack-contract.ts";

const RULE_CHARACTERS = 300;

/** The input with defaults filled in and unknown fields gone, as the schema says. Throws `invalid_input`. */
export function requireInput(pack: Pack, input: unknown): Promise<unknown> {
  return requireValid("invalid_input", pack, "input", input);
}

/** As {@link requireInput}, of what the handler answered. Throws `invalid_output`. */
export function requireOutput(pack: Pack, output: unknown): Promise<unknown> {
  return requireValid("invalid_output", pack, "output", output);
}

async function requireValid(
  code: ErrorCode,
  pack: Pack,
  side: "input" | "output",
  value: unknown,
): Promise<unknown> {
  const schema: $ZodType = pack[side];
  const parsed = await safeParseAsync(schema, value, { reportInput: true });
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const field = (issue && fieldOf(issue)) || side;
  const rule = harmlessLine(ruleOf(issue)).slice(0, RULE_CHARACTERS);
  // The parser's own error is no cause: it holds what was refused.
  throw new HelmdeckError(code, `The ${side} of ${pack.name} was refused: ${field}: ${rule}.`, {
    details: { pack: pack.name, field },
  });
}
