/**
 * What a program says before it opens a memory: errors, limits, harmless text and JSON. A second door beside index.ts, so that
 * `--version` and a wrong option are answered without loading a store and an index.
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
