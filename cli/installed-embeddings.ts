/**
 * The embedding settings of the OpenClaw plugin whose memory a command opens: the installer writes them into OpenClaw's
 * configuration, so a command searches as the plugin does.
 */
import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import {
  type EmbeddingSettings,
  embeddingSettingsOf,
  unusable,
  withApiKey,
} from "../app/embedding/embedding-settings.ts";

/** The memory that a command opens, and its environment. */
interface Opening {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly databasePath: string;
  readonly keyPath: string;
  /** Where the plugin keeps its memory unless its configuration says otherwise. */
  readonly usualPath: string;
}

type Section = Readonly<Record<string, unknown>>;

/** Undefined if no plugin keeps this memory. Never throws: status and doctor report unusable settings. */
export async function installedEmbeddings(opening: Opening): Promise<EmbeddingSettings | undefined> {
  const { env, keyPath } = opening;
  const path = env.OPENCLAW_CONFIG_PATH?.trim() || join(dirname(keyPath), "openclaw.json");
  try {
    const text = await readFile(path, "utf8").catch(unlessMissing);
    if (text === undefined) return undefined;
    const { default: json5 } = await import("json5"); // few commands need it
    return settingsIn(json5.parse(text), opening, path);
  } catch {
    return unusable(`OpenClaw's configuration ${path} cannot be read, so its embedding settings are unknown`);
  }
}

function settingsIn(
  config: unknown,
  { databasePath, usualPath }: Opening,
  path: string,
): EmbeddingSettings | undefined {
  const plugin = ["plugins", "entries", "helmdeck-memory", "config"].reduce(sectionIn, section(config));
  const kept = typeof plugin.databasePath === "string" ? resolve(plugin.databasePath) : usualPath;
  if (kept !== databasePath) return undefined;
  const nameOf = (field: string) => `embeddings.${field} of the plugin in ${path}`;
  const { apiKey: key, ...given } = sectionIn(plugin, "embeddings");
  const apiKey = key ?? undefined;
  const settings = embeddingSettingsOf(given, nameOf);
  if (typeof apiKey === "object" && "url" in settings)
    return unusable(
      `${nameOf("apiKey")} is a reference that only OpenClaw resolves; set HELMDECK_EMBEDDINGS_KEY_FILE and the other variables`,
    );
  return apiKey === undefined ? settings : withApiKey(settings, apiKey, nameOf);
}

function sectionIn(outer: Section, name: string): Section {
  return section(outer[name]);
}

function section(value: unknown): Section {
  // A record's values are checked where they are used.
  return typeof value === "object" && value !== null ? (value as Section) : {};
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}
