/**
 * The file that OpenClaw loads to search its own notes with the built-in model. It only registers the provider.
 *
 * A plugin of its own, for those who ask for it: one more declared capability in the memory plugin would stop everybody's unattended
 * upgrades, and note search would depend on memory (docs/decisions/0062-a-plugin-of-its-own-for-openclaws-notes.md).
 */
import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";
import { NOTES_PLUGIN_ID } from "./notes-names.ts";
import { registerNotes } from "./register-notes.ts";

export default definePluginEntry({
  id: NOTES_PLUGIN_ID,
  name: "Helmdeck Memory for notes",
  description: "OpenClaw searches its own notes by meaning, with helmdeck's built-in model.",
  register: registerNotes,
});
