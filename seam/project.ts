/** Finds the project of a folder: from its settings, else from the name of its origin repository. */
import { join } from "node:path";
import { originName } from "./git-origin.ts";
import { isSlug } from "./project-keys.ts";
import type { OnNote } from "./seam-contract.ts";
import { readSmallFile } from "./small-file.ts";

const SETTINGS_FILE = join(".harness", "project.json");
const MOST_SETTINGS_BYTES = 64 * 1_024;

/**
 * The project's slug: `vault_project` of `.harness/project.json`, else the last segment of its `github.repo`, else the name of
 * the git origin; undefined if there is none. The repository controls this text.
 */
export async function findProject(
  root: string,
  env: Readonly<Record<string, string | undefined>>,
  onNote: OnNote,
): Promise<string | undefined> {
  const settings = await readSettings(join(root, SETTINGS_FILE), onNote);
  const named = slugOf(settings.vault_project) ?? slugOf(lastSegment(fieldsOf(settings.github).repo));
  return named ?? slugOf(await originName(root, env));
}

type Fields = Readonly<Record<string, unknown>>;

async function readSettings(path: string, onNote: OnNote): Promise<Fields> {
  const file = await readSmallFile(path, MOST_SETTINGS_BYTES);
  if (file.kind === "absent") return {};
  if (file.kind === "unusable") {
    onNote(`${path} ${file.why}, so it was ignored.`);
    return {};
  }
  try {
    return fieldsOf(JSON.parse(file.text));
  } catch {
    onNote(`${path} is not JSON, so it was ignored.`);
    return {};
  }
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function lastSegment(repository: unknown): unknown {
  return typeof repository === "string" ? repository.trim().replace(/\/+$/, "").split("/").at(-1) : undefined;
}

function slugOf(text: unknown): string | undefined {
  if (!isSlug(text)) return undefined;
  return text.trim();
}
