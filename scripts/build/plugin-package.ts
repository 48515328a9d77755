/** package.json and manifest of the plugin's own package, made from the root's. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** What is taken over from the root's package.json. */
export interface RootPackage {
  readonly version: string;
  readonly license: string;
  readonly devDependencies: { readonly openclaw: string };
}

export const PLUGIN_PACKAGE = "openclaw-helmdeck-memory";

/** The host version that the tests run is also the oldest one accepted: its plugin API is declared experimental. */
export function pluginPackage(root: RootPackage) {
  const hostVersion = root.devDependencies.openclaw;
  return {
    name: PLUGIN_PACKAGE,
    version: root.version,
    description: "Helmdeck's facts and audit rows in OpenClaw's own memory_search.",
    license: root.license,
    type: "module",
    files: ["dist", "openclaw.plugin.json", "README.md", "LICENSE", "THIRD_PARTY_NOTICES.md"],
    peerDependencies: { openclaw: `>=${hostVersion}` },
    peerDependenciesMeta: { openclaw: { optional: true } },
    openclaw: {
      extensions: ["./dist/index.js"],
      install: { minHostVersion: `>=${hostVersion}`, npmSpec: PLUGIN_PACKAGE, defaultChoice: "npm" },
      compat: { pluginApi: `>=${hostVersion}` },
      build: { openclawVersion: hostVersion },
    },
  };
}

/** openclaw.plugin.json with the root's version. */
export async function readManifest(root: string, version: string): Promise<Record<string, unknown>> {
  const manifest: Record<string, unknown> = JSON.parse(
    await readFile(join(root, "openclaw.plugin.json"), "utf8"),
  );
  return { ...manifest, version };
}
