/**
 * Local sessions: each has a folder in which programs run. When a session ends, both are removed.
 *
 * Threat: a caller guesses another caller's session; a program outlives its run or works outside its folder; too many
 * sessions. Defence: ids are 128 random bits and valid for their caller only; folders are 0700 and programs start in them
 * without the server's environment; the number of sessions is limited, with an equal share for each caller. It is not a
 * sandbox: a program runs as this user and can read everything this user can.
 *
 * Threat to a session's folder: a program plants symbolic links so that the next program or the removal works outside the folder, or
 * removes permissions so that the folder cannot be deleted. Defence: a working folder is checked by its real path, and removal
 * restores permissions of folders, never of link targets.
 */

import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, lstat, mkdir, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join, resolve, sep } from "node:path";
import { defined } from "../../engine/defined.ts";
import { HelmdeckError, invalidField } from "../../engine/errors.ts";
import { countByCaller, hasRoom } from "../../engine/fair-share.ts";
import { isFileError, makePrivateFolder, unlessMissing } from "../../engine/private-file.ts";
import type { Subject } from "../../engine/store/namespace.ts";
import { processTimer, type Timer } from "../../engine/timing.ts";
import type {
  ProcessOptions,
  ProcessResult,
  Session,
  SessionProvider,
  SessionRequest,
} from "../engine/pack-contract.ts";
import { endProcessesAtHome, runProgram } from "./process-runner.ts";

const DEFAULT_DEADLINE_MS = 120_000;

export interface LocalSessionsOptions {
  /** Created if it does not exist. Sessions of killed servers are removed from it. */
  readonly root: string;
  /** Open sessions, including kept ones; default 8. Each caller always gets its equal share. */
  readonly most?: number;
  /** Time that a session is kept after a run for its caller to continue; default 0: it ends with the run. */
  readonly keepMs?: number;
  /** PATH and LANG for programs; default: this process's. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly timer?: Timer;
}

/** Resolves after removing leftovers of killed servers. Throws `session_unavailable` if the root cannot be used. */
export async function openLocalSessions(options: LocalSessionsOptions): Promise<SessionProvider> {
  try {
    // Ends the processes and removes the folders of owners that no longer run. A folder that cannot be removed
    // is left.
    const names = await unlessMissing(readdir(options.root), []);
    for (const name of names.filter((each) => OWNED.test(each))) {
      const folder = join(options.root, name);
      if (await isOwnerGone(folder)) await removeOwned(folder).catch(() => undefined);
    }
    return new LocalSessions(await makeOwnFolder(options.root), options);
  } catch (error) {
    throw new HelmdeckError(
      "session_unavailable",
      `The folder for sessions cannot be used: ${options.root}. Make it writable.`,
      { details: { path: options.root }, cause: error },
    );
  }
}

class LocalSessions implements SessionProvider {
  readonly #folder: string;
  readonly #most: number;
  readonly #keepMs: number;
  readonly #env: Readonly<Record<string, string>>;
  readonly #timer: Timer;
  readonly #open = new Map<string, LocalSession>();
  readonly #opening: Subject[] = [];
  #closing: Promise<void> | undefined;

  constructor(folder: string, options: LocalSessionsOptions) {
    this.#folder = folder;
    this.#most = options.most ?? 8;
    this.#keepMs = options.keepMs ?? 0;
    const { PATH = "/usr/local/bin:/usr/bin:/bin", LANG = "C.UTF-8" } = options.env ?? process.env;
    this.#env = { PATH, LANG };
    this.#timer = options.timer ?? processTimer;
  }

  async acquire(request: SessionRequest): Promise<Session> {
    if (this.#closing) throw isClosing();
    if (request.signal.aborted) throw new HelmdeckError("cancelled", "The run was cancelled.");
    if (request.sessionId !== undefined) return this.#goOn(request.caller, request.sessionId, request.signal);
    const { caller } = request;
    const makingRoom = this.#makeRoomFor(caller);
    this.#opening.push(caller); // counted before another caller can open one
    try {
      await makingRoom;
      const session = await this.#make(request);
      this.#open.set(session.id, session);
      if (this.#closing === undefined) return session;
      await this.#end(session);
    } finally {
      this.#opening.splice(this.#opening.indexOf(caller), 1);
    }
    throw isClosing();
  }

  async release(session: Session): Promise<void> {
    const own = this.#open.get(session.id);
    if (own === undefined || own !== session) return;
    await own.endPrograms();
    if (this.#keepMs > 0 && this.#closing === undefined) {
      own.rest(this.#timer(() => void this.#end(own), this.#keepMs));
    } else {
      await this.#end(own);
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  /** Refuses another caller's session, and one in use, because two runs would mix. */
  #goOn(caller: Subject, id: string, signal: AbortSignal): LocalSession {
    const session = this.#open.get(id);
    if (session === undefined || session.caller !== caller) {
      throw new HelmdeckError(
        "not_found",
        "There is no such open session. Leave out session_id for a new one.",
      );
    }
    if (!session.isResting) {
      throw new HelmdeckError(
        "session_unavailable",
        "Another run is using this session; wait until it ends.",
      );
    }
    session.wake(signal);
    return session;
  }

  async #make({ caller, signal }: SessionRequest): Promise<LocalSession> {
    const id = `ses_${randomBytes(16).toString("hex")}`;
    const folder = join(this.#folder, id);
    try {
      // Creates it with its HOME and TMPDIR, all 0700.
      await mkdir(folder, { mode: 0o700 });
      await mkdir(homeOf(folder), { mode: 0o700 });
      await mkdir(tmpOf(folder), { mode: 0o700 });
    } catch (error) {
      throw new HelmdeckError(
        "session_unavailable",
        "The working folder could not be created; check the free disk space.",
        {
          cause: error,
        },
      );
    }
    const session = new LocalSession({ id, caller, folder, env: this.#env });
    session.wake(signal);
    return session;
  }

  /** Ends one of the caller's own kept sessions, the longest unused first. */
  async #makeRoomFor(caller: Subject): Promise<void> {
    const open = [...this.#open.values()];
    const held = countByCaller([...open.map((session) => session.caller), ...this.#opening]);
    if (hasRoom(caller, held, { perCaller: this.#most, total: this.#most })) return;
    const rested = open.find((session) => session.caller === caller && session.isResting);
    if (rested !== undefined) return this.#end(rested);
    throw new HelmdeckError(
      "session_unavailable",
      `All your sessions are in use: at most ${this.#most}, and fewer while others have some. Wait for a run to end.`,
      { details: { most: this.#most } },
    );
  }

  /** A folder that cannot be removed now is removed at the next start. */
  async #end(session: LocalSession): Promise<void> {
    this.#open.delete(session.id);
    await session.end();
    await removeFolder(session.folder).catch(() => undefined);
  }

  async #closeAll(): Promise<void> {
    await Promise.all([...this.#open.values()].map((session) => this.#end(session)));
    await removeFolder(this.#folder).catch(() => undefined);
  }
}

interface LocalSessionParts {
  readonly id: string;
  readonly caller: Subject;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

class LocalSession implements Session {
  readonly id: string;
  readonly caller: Subject;
  readonly folder: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #running = new Set<Promise<unknown>>();
  #over = new AbortController();
  #runSignal: AbortSignal = this.#over.signal;
  #cancelRest: (() => void) | undefined;

  constructor({ id, caller, folder, env }: LocalSessionParts) {
    this.id = id;
    this.caller = caller;
    this.folder = folder;
    this.#env = { ...env, HOME: homeOf(folder), TMPDIR: tmpOf(folder) };
  }

  get isResting(): boolean {
    return this.#cancelRest !== undefined;
  }

  async run(program: string, args: readonly string[], options: ProcessOptions = {}): Promise<ProcessResult> {
    if (this.#over.signal.aborted) {
      throw new HelmdeckError("session_unavailable", "The session has ended; nothing runs in it any more.");
    }
    const running = this.#run(program, args, options);
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  wake(signal: AbortSignal): void {
    this.#cancelRest?.();
    this.#cancelRest = undefined;
    this.#over = new AbortController();
    this.#runSignal = AbortSignal.any([signal, this.#over.signal]);
  }

  rest(cancel: () => void): void {
    this.#cancelRest = cancel;
  }

  async endPrograms(): Promise<void> {
    this.#over.abort();
    await Promise.allSettled(this.#running);
    await endProcessesAtHome(homeOf(this.folder));
  }

  async end(): Promise<void> {
    this.#cancelRest?.();
    await this.endPrograms();
  }

  async #run(program: string, args: readonly string[], options: ProcessOptions): Promise<ProcessResult> {
    const { cwd, env, input, deadlineMs = DEFAULT_DEADLINE_MS, signal } = options;
    return runProgram({
      program,
      args,
      cwd: await folderWithin(this.folder, cwd),
      // HOME stays in the session, because it identifies the session's processes.
      env: { ...this.#env, ...env, HOME: homeOf(this.folder), TMPDIR: tmpOf(this.folder) },
      ...defined({ input }),
      deadlineMs,
      signal: signal === undefined ? this.#runSignal : AbortSignal.any([signal, this.#runSignal]),
    });
  }
}

function isClosing(): HelmdeckError {
  return new HelmdeckError("session_unavailable", "The server is closing; try again when it is back.");
}

/** HOME of a session's programs. */
export function homeOf(folder: string): string {
  return join(folder, ".home");
}

/** TMPDIR of a session's programs. */
function tmpOf(folder: string): string {
  return join(folder, ".tmp");
}

/** The real path of a folder at or below the session's. Throws `invalid_input` for any other. */
async function folderWithin(folder: string, below = "."): Promise<string> {
  const real = await realPathOf(resolve(folder, below));
  const root = await realpath(folder);
  if (real === root || real?.startsWith(root + sep)) return real;
  throw invalidField(
    "cwd",
    "must be a folder that exists within the session's; leave it out for the session's own",
  );
}

async function realPathOf(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    if (isFileError(error, "ENOENT", "ENOTDIR", "ELOOP", "EACCES", "ENAMETOOLONG")) return undefined;
    if (error instanceof TypeError) return undefined; // a NUL in the path
    throw error;
  }
}

/** Works even if folders in it are read-only, like Go's module cache. */
async function removeFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true });
  } catch (error) {
    if (!isFileError(error, "EACCES", "EPERM", "ENOTEMPTY")) throw error;
    await openFolders(folder);
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function openFolders(folder: string): Promise<void> {
  if (!(await lstat(folder)).isDirectory()) return;
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await openFolders(join(folder, entry.name));
  }
}

const RECORD = "owner.json";
const OWNED = /^server-[0-9a-f]{16}$/;

/**
 * A private folder under the root for the sessions of this process; folders of killed processes are removed.
 *
 * Two servers may use the same root, so nothing is removed while its process lives. A process id is not enough (in a container
 * the next server has the same one), so the owner's record also has the process's start time. Records of another machine,
 * and unreadable ones, are left alone.
 */
async function makeOwnFolder(root: string): Promise<string> {
  await makePrivateFolder(root);
  const folder = join(root, `server-${randomBytes(8).toString("hex")}`);
  await mkdir(folder, { mode: 0o700 });
  const owner = { pid: process.pid, began: await beginningOf(process.pid), host: hostname() };
  await writeFile(join(folder, RECORD), JSON.stringify(owner), { flag: "wx", mode: 0o600 });
  return folder;
}

async function removeOwned(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  for (const session of entries.filter((entry) => entry.isDirectory())) {
    await endProcessesAtHome(homeOf(join(folder, session.name)));
  }
  await removeFolder(folder);
}

async function isOwnerGone(folder: string): Promise<boolean> {
  const owner = await readOwner(folder);
  if (owner === undefined || owner.host !== hostname()) return false;
  return (await beginningOf(owner.pid)) !== owner.began;
}

async function readOwner(
  folder: string,
): Promise<{ readonly pid: number; readonly began: string; readonly host: string } | undefined> {
  try {
    const { pid, began, host } = JSON.parse(await readFile(join(folder, RECORD), "utf8"));
    const isOwner = Number.isInteger(pid) && typeof began === "string" && typeof host === "string";
    return isOwner ? { pid, began, host } : undefined;
  } catch {
    return undefined;
  }
}

/** A process's start time as an opaque text for comparison; empty if there is no such process. */
async function beginningOf(pid: number): Promise<string> {
  return process.platform === "linux" ? beginningByProc(pid) : beginningByPs(pid);
}

/** Boot id and start time in clock ticks: field 22, counted after the name, which may contain spaces and brackets. */
async function beginningByProc(pid: number): Promise<string> {
  try {
    const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8");
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    const ticks = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
    return `${boot.trim()} ${ticks}`;
  } catch {
    return "";
  }
}

function beginningByPs(pid: number): Promise<string> {
  return new Promise((resolve) => {
    execFile("ps", ["-o", "lstart=", "-p", String(pid)], (error, stdout) => {
      resolve(error === null ? stdout.trim() : "");
    });
  });
}
