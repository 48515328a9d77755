/** Finds the project of a folder: from its settings, else from the name of its origin repository. */

import { execFile } from "node:child_process";
import { join } from "node:path";
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
  if (typeof repository !== "string") return undefined;
  return repository
    .trim()
    .split("/")
    .findLast((segment) => segment !== "");
}

function slugOf(text: unknown): string | undefined {
  if (!isSlug(text)) return undefined;
  return text.trim();
}

type Environment = Readonly<Record<string, string | undefined>>;

const PATIENCE_MS = 2_000;
const MOST_BYTES = 8_192;

/**
 * Finds the name of the repository from which a working copy was cloned.
 *
 * Threat: an untrusted repository, whose configuration is read here. Defence: only `git config --local --get` reads it, which
 * runs no hook, filter, pager, file-system monitor or alias, follows no include, and refuses a repository of another account
 * (`safe.directory`). Variables that point git at another repository are removed from the environment, no shell is started,
 * and only the last part of the address is used, so that a token in the address is never shown.
 *
 * Undefined without git, repository or origin.
 */
async function originName(root: string, env: Environment): Promise<string | undefined> {
  const address = await originAddress(root, env);
  return address === undefined ? undefined : repositoryNameIn(address);
}

/** The last name in a remote's address (a URL, `host:path` or a folder), without `.git`. */
export function repositoryNameIn(address: string): string | undefined {
  const [path = ""] = address.trim().split(/[?#]/, 1);
  const last =
    path
      .replace(/(?<![/\\])[/\\]+$/, "")
      .split(/[/\\:]/)
      .at(-1) ?? "";
  const name = last.replace(/\.git$/, "");
  // An address without a path ends in a host, perhaps with a password before it.
  const isHost = /^[a-z][a-z0-9+.-]*:\/\/[^/]*\/*$/i.test(path);
  return name === "" || name.includes("@") || isHost ? undefined : name;
}

function originAddress(root: string, env: Environment): Promise<string | undefined> {
  const args = ["config", "--local", "--get", "remote.origin.url"];
  const options = { cwd: root, env: withoutGitVariables(env), timeout: PATIENCE_MS, maxBuffer: MOST_BYTES };
  return new Promise((resolve) => {
    try {
      execFile("git", args, options, (error, stdout) => resolve(error === null ? stdout : undefined));
    } catch {
      resolve(undefined); // the root is not a valid folder name
    }
  });
}

/** In a git hook, GIT_DIR names the hook's repository, which may not be the requested folder. */
function withoutGitVariables(env: Environment): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.toUpperCase().startsWith("GIT_")));
}
