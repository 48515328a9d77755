/** Reads JSON5, in which people write `openclaw.json`, with the package that OpenClaw itself reads it with. */
import JSON5 from "json5";
import { HelmdeckError } from "../app/index.ts";
import type { Json } from "./openclaw-json.ts";

/** Throws `invalid_input` with the line, never with the text nor json5's own message: a configuration holds secrets. */
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
