/** A plugin that does nothing, packed as a user would install it. It shows what any plugin costs. */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pluginPackage, type RootPackage } from "../../scripts/build/plugin-package.ts";

export const EMPTY_PLUGIN = "empty-plugin";

const CODE = `import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";
export default definePluginEntry({ id: "${EMPTY_PLUGIN}", name: "Empty", description: "Nothing", register() {} });
`;

const MANIFEST = {
  id: EMPTY_PLUGIN,
  name: "Empty",
  description: "Nothing",
  version: "1.0.0",
  activation: { onStartup: true },
  configSchema: { type: "object", additionalProperties: false, properties: {} },
};

/** Packs the plugin in this folder and returns the path of the tarball. */
export function packEmptyPlugin(folder: string, root: RootPackage): string {
  const source = join(folder, "source");
  mkdirSync(join(source, "dist"), { recursive: true });
  writeFileSync(join(source, "dist", "index.js"), CODE);
  writeFileSync(join(source, "openclaw.plugin.json"), JSON.stringify(MANIFEST));
  const named = { ...pluginPackage(root), name: `openclaw-${EMPTY_PLUGIN}`, version: MANIFEST.version };
  writeFileSync(join(source, "package.json"), JSON.stringify(named));
  const packed = spawnSync("npm", ["pack", "--silent", "--pack-destination", folder], {
    cwd: source,
    encoding: "utf8",
  });
  const name = packed.stdout.trim().split("\n").at(-1);
  if (packed.status !== 0 || !name) throw new Error(`npm pack failed: ${packed.stderr}`);
  return join(folder, name);
}
