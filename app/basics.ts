/**
 * What a program needs before it opens a memory: errors, limits, escaped text and JSON. A second entry point beside index.ts, so
 * that `--version` and wrong options are answered without loading a store and an index.
 */

export * from "../engine/basics.ts";
export { escapeJson, safeJson } from "./presenters/safe-json.ts";
export {
  EXPORT_FORMATS,
  type ExportFormat,
  IMPORT_FORMATS,
  type ImportFormat,
} from "./transfer/formats/names.ts";
export { errorReply } from "./wire/error-reply.ts";
export { snakeCased } from "./wire/snake-case.ts";
