/** The names by which OpenClaw knows the plugin for its own notes. */

/** In the plugin's manifest. */
export const NOTES_PLUGIN_ID = "helmdeck-memory-notes";
/** In the manifest's contracts, and in OpenClaw's `memory.search.provider`. */
export const NOTES_PROVIDER = "helmdeck-builtin";
