/** The names of formats: all that is needed to declare a command. */

export const IMPORT_FORMATS = ["jsonl", "helmdeck", "openclaw", "markdown", "mem0", "server-memory"] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];

export const EXPORT_FORMATS = ["jsonl", "markdown"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];
