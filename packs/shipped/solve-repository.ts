/**
 * Fetches the repository for swe.solve, over https only, and collects the changes in it.
 *
 * Threat: a caller's address or branch that git would read as an option, a local file or a command of another transport; a
 * repository with hooks or submodules, or one that is too large; a server that asks for a password or redirects elsewhere.
 * Defence: the address must match a strict pattern before git sees it, and git may only use https; only our configuration, no
 * template, hooks, submodules, credential helper or prompt; time and size are limited; git inherits nothing from the server's
 * environment. Without a list of hosts, any host that the server can reach is allowed.
 */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { defined } from "../../engine/defined.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import type { ProcessResult, Session } from "../engine/pack-contract.ts";

export interface RepositoryOptions {
  /** Certificate authorities for https, as a PEM file; default git's own. */
  readonly caFile?: string;
  /** The allowed hosts, with their port if it is not 443; default: any. */
  readonly hosts?: readonly string[];
  /** Total size of history and working tree; default 512 MiB. */
  readonly mostBytes?: number;
}

export interface Repository {
  readonly folder: string;
  /** The fetched commit. */
  readonly commit: string;
}

export interface Changes {
  readonly files: number;
  /** The path of the patch. */
  readonly patchPath: string;
}

const MOST_BYTES = 512 * 1_024 * 1_024;
const CLONE_MS = 300_000;
const GIT_MS = 60_000;
const WATCH_EVERY_MS = 250;

const HOST = "(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|\\[[0-9A-Fa-f:.]{2,45}\\])";
/** No user, query, fragment, backslash or control character, encoded or not. */
const ADDRESS = new RegExp(
  `^https://(${HOST}(?::[0-9]{1,5})?)/(?:[A-Za-z0-9._~/+@-]|%[2-7][0-9A-Fa-f]){1,1024}$`,
);
/** Stricter than git check-ref-format. */
const REF = /^(?!.*(?:\.\.|\/\/|@\{|\/\.|\.lock(?:\/|$)|[./]$))[A-Za-z0-9][A-Za-z0-9._/+@-]{0,199}$/;

export function isRepositoryAddress(address: string): boolean {
  return ADDRESS.test(address);
}

export function isRefName(ref: string): boolean {
  return REF.test(ref);
}

/** Throws `forbidden` for a host that is not listed, `too_large`, `not_found` and `upstream_failed`. */
export async function cloneRepository(
  session: Session,
  address: string,
  ref: string | undefined,
  options: RepositoryOptions,
  into: string,
): Promise<Repository> {
  requireHost(address, options.hosts);
  const folder = join(into, "repository");
  const branch = ref === undefined ? [] : [`--branch=${ref}`];
  const flags = ["--depth=1", "--no-tags", "--single-branch", "--no-recurse-submodules", "--template="];
  const cloned = await withinSize(folder, options.mostBytes ?? MOST_BYTES, (signal) =>
    git(session, ["clone", ...flags, ...branch, "--", address, folder], options, {
      signal,
      deadlineMs: CLONE_MS,
    }),
  );
  if (cloned.exitCode !== 0) throw cloneFailure(cloned);
  const head = await requireGit(session, ["-C", folder, "rev-parse", "HEAD"], options);
  return { folder, commit: head.stdout.trim() };
}

/** Differences to the fetched commit, committed or not, including new files but not ignored ones. */
export async function collectChanges(
  session: Session,
  { folder, commit }: Repository,
  options: RepositoryOptions,
  into: string,
): Promise<Changes> {
  const patchPath = join(into, "changes.patch");
  const against = ["--cached", "--no-ext-diff", "--no-textconv", "--no-color", commit];
  await requireGit(session, ["-C", folder, "add", "--all"], options);
  const names = await requireGit(session, ["-C", folder, "diff", "--name-only", "-z", ...against], options);
  await requireGit(session, ["-C", folder, "diff", "--binary", `--output=${patchPath}`, ...against], options);
  return { files: names.stdout.split("\0").length - 1, patchPath };
}

function git(
  session: Session,
  args: readonly string[],
  { caFile, hosts }: RepositoryOptions,
  limits: { readonly signal?: AbortSignal; readonly deadlineMs?: number } = {},
): Promise<ProcessResult> {
  // A listed host must not redirect git to another one: with a list of hosts, no redirect is followed.
  const redirects = hosts === undefined ? [] : ["-c", "http.followRedirects=false"];
  return session.run("git", [...SAFE_CONFIG, ...redirects, ...args], {
    env: { ...SAFE_ENV, ...defined({ GIT_SSL_CAINFO: caFile }) },
    deadlineMs: GIT_MS,
    ...limits,
  });
}

/** Passed before the command, so that they override a repository's own configuration. */
const SAFE_CONFIG = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["credential.helper", ""],
  ["submodule.recurse", "false"],
  ["gc.auto", "0"],
].flatMap(([name, value]) => ["-c", `${name}=${value}`]);

const SAFE_ENV = {
  GIT_ALLOW_PROTOCOL: "https",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_TERMINAL_PROMPT: "0",
  GIT_ASKPASS: "",
  SSH_ASKPASS: "",
  GIT_LFS_SKIP_SMUDGE: "1",
};

async function requireGit(
  session: Session,
  args: readonly string[],
  options: RepositoryOptions,
): Promise<ProcessResult> {
  const result = await git(session, args, options);
  if (result.exitCode === 0) return result;
  throw new HelmdeckError("pack_failed", "git could not read the changes; the repository is damaged.");
}

function requireHost(address: string, hosts: readonly string[] | undefined): void {
  const host = ADDRESS.exec(address)?.[1]?.toLowerCase() ?? "";
  if (hosts === undefined || hosts.some((each) => each.toLowerCase() === host)) return;
  throw new HelmdeckError(
    "forbidden",
    "This server fetches only from listed hosts, and this host is not listed.",
    {
      details: { field: "repo_url" },
    },
  );
}

/** git's output contains text from the server, so it only selects one of our own messages and is not shown. */
function cloneFailure({ stderr }: ProcessResult): HelmdeckError {
  if (/Remote branch .* not found/s.test(stderr)) {
    return new HelmdeckError("not_found", "The repository has no branch or tag with this name.", {
      details: { field: "ref" },
    });
  }
  return new HelmdeckError(
    "upstream_failed",
    "git could not fetch the repository: it does not exist, requires a login, or its server cannot be reached.",
    { details: { field: "repo_url" } },
  );
}

/** Watches the folder's size, because git has no own limit for a fetch. */
async function withinSize<Result>(
  folder: string,
  mostBytes: number,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const tooLarge = new AbortController();
  const look = async () => {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
    const files = entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name));
    let sizeBytes = 0;
    for (const file of files) sizeBytes += (await stat(file).catch(() => ({ size: 0 }))).size;
    if (sizeBytes > mostBytes) tooLarge.abort(beyond(mostBytes));
  };
  const watch = setInterval(() => void look(), WATCH_EVERY_MS);
  try {
    const result = await work(tooLarge.signal);
    await look();
    tooLarge.signal.throwIfAborted();
    return result;
  } finally {
    clearInterval(watch);
  }
}

function beyond(mostBytes: number): HelmdeckError {
  return new HelmdeckError("too_large", `The repository is larger than the limit of ${mostBytes} bytes.`, {
    details: { field: "repo_url", mostBytes },
  });
}
