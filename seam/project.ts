/**
 * The project of a folder (named by its settings, else by its origin repository), and the keys of its facts:
 * `projects/<slug>/<category>/<name>`.
 *
 * Threat: an untrusted repository. Its slug comes from a file or a remote address in it, so the repository's author can choose
 * it to read or overwrite another project's facts. Defence: a slug is always one segment of the key, and different slugs
 * always give different segments; `..`, slashes and control characters are escaped, never interpreted.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { FACT_LIMITS } from "../engine/reader.ts";
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
  return isSlug(text) ? text.trim() : undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

const PATIENCE_MS = 2_000;
const MOST_BYTES = 8_192;

/**
 * The name of the repository from which a working copy was cloned; undefined without git, repository or origin.
 *
 * Threat: an untrusted repository, whose configuration is read here. Defence: only `git config --local --get` reads it, which
 * runs no hook, filter, pager, file-system monitor or alias, follows no include, and refuses a repository of another account
 * (`safe.directory`). Variables that point git at another repository are removed from the environment, no shell is started,
 * and only the last part of the address is used, so that a token in the address is never shown.
 */
function originName(root: string, env: Environment): Promise<string | undefined> {
  const args = ["config", "--local", "--get", "remote.origin.url"];
  // In a git hook, GIT_DIR names the hook's repository, which may not be the requested folder.
  const withoutGit = Object.entries(env).filter(([name]) => !name.toUpperCase().startsWith("GIT_"));
  const options = {
    cwd: root,
    env: Object.fromEntries(withoutGit),
    timeout: PATIENCE_MS,
    maxBuffer: MOST_BYTES,
  };
  return new Promise((resolve) => {
    try {
      execFile("git", args, options, (error, stdout) =>
        resolve(error === null ? repositoryNameIn(stdout) : undefined),
      );
    } catch {
      resolve(undefined); // the root is not a valid folder name
    }
  });
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

const ROOT = "projects/";

/** Unescaped characters; all others, including `%`, are written as %XX of their UTF-8 bytes. */
const ESCAPED = /[^\p{L}\p{M}\p{N}_.-]/gu;

/** Room for a category of 64 bytes, a name and the slashes. */
const MOST_SLUG_BYTES = 192;
const MOST_NAME_BYTES = FACT_LIMITS.keyBytes - ROOT.length - MOST_SLUG_BYTES - 64 - 2;

/** True for a valid slug: not blank, valid Unicode, and not too long. */
export function isSlug(text: unknown): text is string {
  if (typeof text !== "string" || text.trim() === "" || !text.isWellFormed()) return false;
  return Buffer.byteLength(segmentOf(text)) <= MOST_SLUG_BYTES;
}

/** The key prefix of this project's facts, unique to the project. */
export function projectPrefix(slug: string): string {
  return `${ROOT}${segmentOf(slug)}/`;
}

/** True for a key without a project: its fact is loaded for every project. */
export function isOfNoProject(key: string): boolean {
  return !key.startsWith(ROOT);
}

/** The key of a project's fact. A name that is too long is cut and gets a digest of the complete name. */
export function projectKey(slug: string, category: string, name: string): string {
  const segment = segmentOf(name);
  const bounded =
    Buffer.byteLength(segment) <= MOST_NAME_BYTES ? segment : `${cut(segment)}~${digestOf(name)}`;
  return `${projectPrefix(slug)}${category}/${bounded}`;
}

/** A digest of 16 hexadecimal digits. */
export function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

function segmentOf(text: string): string {
  const escaped = text.replace(ESCAPED, (character) =>
    Buffer.from(character).toString("hex").toUpperCase().replace(/../g, "%$&"),
  );
  return /^\.+$/.test(escaped) ? escaped.replaceAll(".", "%2E") : escaped;
}

/** Cuts a segment so that it fits together with the digest. */
function cut(segment: string): string {
  return Array.from(segment)
    .slice(0, Math.floor((MOST_NAME_BYTES - 17) / 4))
    .join("");
}
