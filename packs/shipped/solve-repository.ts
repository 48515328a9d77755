/**
 * The repository that swe.solve works on: fetched over https only, and what was changed in it.
 *
 * Who attacks: a caller whose address or branch is meant as an option, a local file or a command of git's other transports; a
 * repository that brings hooks or submodules, or is too large; a server that asks for a password or redirects elsewhere. What
 * stops them: the address is matched against a strict form before git sees it, and git itself is told to speak https alone; no
 * configuration but ours, no template, no hooks, no submodules, no credential helper and no prompt; time and size are bounded;
 * git inherits nothing of the server's environment. With no list of hosts, any that the server can reach may be asked.
 */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { defined, HelmdeckError } from "../../engine/index.ts";
import type { ProcessResult, Session } from "../engine/pack-contract.ts";

export interface RepositoryOptions {
  /** Certificate authorities for https, as a PEM file; default git's own. */
  readonly caFile?: string;
  /** The only hosts that may be asked, with their port when it is not 443; default: any. */
  readonly hosts?: readonly string[];
  /** Of the clone, history and working tree together; default 512 MiB. */
  readonly mostBytes?: number;
}

export interface Repository {
  readonly folder: string;
  /** What was fetched. */
  readonly commit: string;
}

export interface Changes {
  readonly files: number;
  /** Where the patch lies. */
  readonly patchPath: string;
}

const MOST_BYTES = 512 * 1_024 * 1_024;
const CLONE_MS = 300_000;
const GIT_MS = 60_000;
const WATCH_EVERY_MS = 250;

const HOST = "(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|\\[[0-9A-Fa-f:.]{2,45}\\])";
/** No user, no query, no fragment, no backslash, no control character, encoded or not. */
const ADDRESS = new RegExp(
  `^https://(${HOST}(?::[0-9]{1,5})?)/(?:[A-Za-z0-9._~/+@-]|%[2-7][0-9A-Fa-f]){1,1024}$`,
);
/** git check-ref-format, and stricter. */
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

/** Against what was fetched, whether it was committed since or not; new files too, ignored ones not. */
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
  // A listed host must not send git on to one that is not: where hosts are listed, no redirect is followed.
  const redirects = hosts === undefined ? [] : ["-c", "http.followRedirects=false"];
  return session.run("git", [...SAFE_CONFIG, ...redirects, ...args], {
    env: { ...SAFE_ENV, ...defined({ GIT_SSL_CAINFO: caFile }) },
    deadlineMs: GIT_MS,
    ...limits,
  });
}

/** Before the command, so that a repository's own configuration does not get the last word. */
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
  throw new HelmdeckError(
    "pack_failed",
    "git could not say what was changed; the repository was left broken.",
  );
}

function requireHost(address: string, hosts: readonly string[] | undefined): void {
  const host = ADDRESS.exec(address)?.[1]?.toLowerCase() ?? "";
  if (hosts === undefined || hosts.some((each) => each.toLowerCase() === host)) return;
  throw new HelmdeckError(
    "forbidden",
    "This server fetches from listed hosts only, and this is none of them.",
    {
      details: { field: "repo_url" },
    },
  );
}

/** What git wrote is the server's text in part, so it decides which of our own sentences is said, and is not shown. */
function cloneFailure({ stderr }: ProcessResult): HelmdeckError {
  if (/Remote branch .* not found/s.test(stderr)) {
    return new HelmdeckError("not_found", "The repository has no branch or tag of that name.", {
      details: { field: "ref" },
    });
  }
  return new HelmdeckError(
    "upstream_failed",
    "git could not fetch the repository: it is not there, asks for a login, or its server cannot be reached.",
    { details: { field: "repo_url" } },
  );
}

/** Looks at the folder while it grows, since git has no limit of its own for what it fetches. */
async function withinSize<Result>(
  folder: string,
  mostBytes: number,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const tooLarge = new AbortController();
  const look = async () => {
    if ((await sizeOf(folder)) > mostBytes) tooLarge.abort(beyond(mostBytes));
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
  return new HelmdeckError("too_large", `The repository is larger than the ${mostBytes} bytes it may have.`, {
    details: { field: "repo_url", mostBytes },
  });
}

async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  let sizeBytes = 0;
  for (const file of files) sizeBytes += (await stat(file).catch(() => ({ size: 0 }))).size;
  return sizeBytes;
}
