/** Which format files plainly are. */
import { extname } from "node:path";
import { HelmdeckError } from "../../../engine/index.ts";
import { IMPORT_FORMATS, type ImportFormat } from "./names.ts";

/** Which it is when nobody says: our own, unless the name of a file says that it is something else. */
export function guessFormat(names: readonly string[]): ImportFormat {
  const other = names.find((name) => [".md", ".markdown", ".json"].includes(extname(name).toLowerCase()));
  if (other === undefined) return "helmdeck";
  throw wantsFormat(other);
}

export function wantsFormat(name: string): HelmdeckError {
  return new HelmdeckError(
    "invalid_input",
    `What ${name} is cannot be told by its name: say it with --from, one of ${IMPORT_FORMATS.join(", ")}.`,
  );
}
