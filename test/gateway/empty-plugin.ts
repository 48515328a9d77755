/** A plugin that registers nothing, as a tarball. It shows the cost that OpenClaw itself has for each reload of any plugin. */
import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { OLDEST_HOST } from "../../scripts/build/plugin-package.ts";

export const EMPTY_PLUGIN_ID = "empty-plugin";

/** Packs the plugin into the folder. Returns the path of the tarball. */
export async function packEmptyPlugin(folder: string): Promise<string> {
  const source = join(folder, EMPTY_PLUGIN_ID);
  await mkdir(source, { recursive: true });
  const files = {
    "index.js": `import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";
export default definePluginEntry({ id: "${EMPTY_PLUGIN_ID}", name: "Empty", description: "Nothing", register() {} });\n`,
    "openclaw.plugin.json": JSON.stringify({
      id: EMPTY_PLUGIN_ID,
      name: "Empty",
      description: "Nothing",
      version: "1.0.0",
      activation: { onStartup: true },
      configSchema: { type: "object", additionalProperties: false, properties: {} },
    }),
    "package.json": JSON.stringify({
      name: EMPTY_PLUGIN_ID,
      version: "1.0.0",
      type: "module",
      files: ["index.js", "openclaw.plugin.json"],
      openclaw: { extensions: ["./index.js"], compat: { pluginApi: `>=${OLDEST_HOST.openclaw}` } },
    }),
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(source, name), text);
  const name = execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], {
    cwd: source,
    encoding: "utf8",
  });
  return join(folder, name.trim());
}
