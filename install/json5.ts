/** Parses JSON5, the format of `openclaw.json`, with the same package as OpenClaw. */
import JSON5 from "json5";
import { HelmdeckError } from "../engine/errors.ts";
import type { Json } from "./openclaw-json.ts";

/** Throws `invalid_input` with the line, but without the text or json5's message, because a configuration contains secrets. */
export function parseJson5(text: string): Json {
  try {
    return JSON5.parse<Json>(text);
  } catch (error) {
    const line = error instanceof SyntaxError && "lineNumber" in error ? Number(error.lineNumber) : 1;
    throw new HelmdeckError("invalid_input", `The configuration is not JSON5 at line ${line}.`, {
      details: { line },
    });
  }
}
