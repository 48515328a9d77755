/** The file that OpenClaw loads. It is evaluated at every load and reload, so it only registers the plugin. */
import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";
import { PLUGIN_ID } from "./examine-plugin.ts";
import { register } from "./register.ts";
import { startMemory } from "./start-memory.ts";

export default definePluginEntry({
  id: PLUGIN_ID,
  name: "Helmdeck Memory",
  description: "Finds helmdeck's stored facts and audit rows in OpenClaw's own memory_search and memory_get.",
  register: (api) => register(api, startMemory),
});
