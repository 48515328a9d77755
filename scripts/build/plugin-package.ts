/** package.json and manifest of the plugin's own package, made from the root's. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { repositoryFields } from "./repository.ts";

/** The fields taken from the root's package.json. */
export interface RootPackage {
  readonly version: string;
  readonly license: string;
  readonly devDependencies: { readonly openclaw: string };
}

/** Without its scope this is the plugin's id; otherwise OpenClaw warns at each installation that the two differ. */
const PLUGIN_PACKAGE = "@helmdeck/helmdeck-memory";

/** The plugin for OpenClaw's own notes. */
const NOTES_PACKAGE = "@helmdeck/helmdeck-memory-notes";

/** The oldest host that the tests run; package.json pins the newest. */
export const OLDEST_HOST = { openclaw: "2026.8.1", node: "22.22.3" } as const;

export function pluginPackage(
  root: RootPackage,
  name: string = PLUGIN_PACKAGE,
  description = "Helmdeck's facts and audit rows in OpenClaw's own memory_search.",
) {
  const oldest = `>=${OLDEST_HOST.openclaw}`;
  return {
    name,
    version: root.version,
    description,
    license: root.license,
    ...repositoryFields(),
    type: "module",
    files: ["dist", "openclaw.plugin.json", "README.md", "LICENSE", "THIRD_PARTY_NOTICES.md"],
    publishConfig: { access: "public" },
    peerDependencies: { openclaw: oldest },
    peerDependenciesMeta: { openclaw: { optional: true } },
    openclaw: {
      extensions: ["./dist/index.js"],
      install: { minHostVersion: oldest, npmSpec: name, defaultChoice: "npm" },
      compat: { pluginApi: oldest },
      build: { openclawVersion: root.devDependencies.openclaw },
    },
  };
}

export function notesPackage(root: RootPackage) {
  return pluginPackage(
    root,
    NOTES_PACKAGE,
    "OpenClaw searches its own notes with helmdeck's built-in model.",
  );
}

/** openclaw.plugin.json with the root's version. */
export async function readManifest(folder: string, version: string): Promise<Record<string, unknown>> {
  const manifest: Record<string, unknown> = JSON.parse(
    await readFile(join(folder, "openclaw.plugin.json"), "utf8"),
  );
  return { ...manifest, version };
}
