/** The names of formats and choices: all that is needed to declare a command. */

export const IMPORT_FORMATS = ["jsonl", "helmdeck", "openclaw", "markdown", "mem0", "server-memory"] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];

/** What an import does with a fact that memory knows under another key, or that contradicts one that is there. */
export const KNOWN_RULES = ["both", "skip", "supersede"] as const;
export type KnownRule = (typeof KNOWN_RULES)[number];

export const EXPORT_FORMATS = ["jsonl", "markdown"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];
