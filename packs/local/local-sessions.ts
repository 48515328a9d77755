/**
 * Sessions on this machine: a folder each, programs run in it, and nothing left of either when the session ends.
 *
 * Who attacks: a caller that guesses another's session; a program that outlives its run, or works outside its folder; a run of
 * many sessions. What stops them: ids are 128 random bits and answer to their caller only, a foreign one looks like none;
 * folders are 0700 and programs start within them, with none of the server's environment; there is a cap, beyond which each
 * caller has an equal share, and room is made at nobody else's cost. It is no sandbox: a program runs as this user and can read
 * what this user can.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import {
  countByCaller,
  defined,
  HelmdeckError,
  hasRoom,
  processTimer,
  type Subject,
  type Timer,
} from "../../engine/index.ts";
import type {
  ProcessOptions,
  ProcessResult,
  Session,
  SessionProvider,
  SessionRequest,
} from "../engine/pack-contract.ts";
import { endProcessesAtHome } from "./orphan-processes.ts";
import { runProgram } from "./process-runner.ts";
import { folderWithin, homeOf, makeSessionFolder, removeFolder, tmpOf } from "./session-folder.ts";
import { makeOwnFolder, removeStaleSessions } from "./stale-sessions.ts";

const DEFAULT_DEADLINE_MS = 120_000;

export interface LocalSessionsOptions {
  /** Made when it is not there. Sessions of servers that were killed are removed from it. */
  readonly root: string;
  /** Open at a time, kept ones included; default 8. When others have them, a caller still gets its equal share. */
  readonly most?: number;
  /** How long a session stays after a run, so that its caller can go on in it; default 0: it ends with the run. */
  readonly keepMs?: number;
  /** PATH and LANG for programs; default those of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly timer?: Timer;
}

/** Ready once what killed servers left under the root is gone. Throws `session_unavailable` when the root cannot be used. */
export async function openLocalSessions(options: LocalSessionsOptions): Promise<SessionProvider> {
  try {
    await removeStaleSessions(options.root);
    return new LocalSessions(await makeOwnFolder(options.root), options);
  } catch (error) {
    throw new HelmdeckError(
      "session_unavailable",
      `The folder for sessions cannot be used: ${options.root}. See that it can be written.`,
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
    this.#env = inherited(options.env ?? process.env);
    this.#timer = options.timer ?? processTimer;
  }

  async acquire(request: SessionRequest): Promise<Session> {
    if (this.#closing) throw isClosing();
    if (request.signal.aborted) throw new HelmdeckError("cancelled", "The run was cancelled.");
    if (request.sessionId !== undefined) return this.#goOn(request.caller, request.sessionId, request.signal);
    return this.#begin(request);
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

  /** Another caller's session is not there; nor is one in use, which would mix two runs. */
  #goOn(caller: Subject, id: string, signal: AbortSignal): LocalSession {
    const session = this.#open.get(id);
    if (session === undefined || session.caller !== caller) {
      throw new HelmdeckError(
        "not_found",
        "There is no such open session; leave session_id out for a new one.",
      );
    }
    if (!session.isResting) {
      throw new HelmdeckError(
        "session_unavailable",
        "That session is in use by another run; wait for its end.",
      );
    }
    session.wake(signal);
    return session;
  }

  async #begin(request: SessionRequest): Promise<LocalSession> {
    const { caller } = request;
    const makingRoom = this.#makeRoomFor(caller);
    this.#opening.push(caller); // before anybody else is let in
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

  async #make({ caller, signal }: SessionRequest): Promise<LocalSession> {
    const id = `ses_${randomBytes(16).toString("hex")}`;
    const folder = join(this.#folder, id);
    try {
      await makeSessionFolder(folder);
    } catch (error) {
      throw new HelmdeckError("session_unavailable", "No working folder could be made; see disk space.", {
        cause: error,
      });
    }
    const session = new LocalSession({ id, caller, folder, env: this.#env });
    session.wake(signal);
    return session;
  }

  /** A kept session of the caller's own gives way, the longest rested first. */
  async #makeRoomFor(caller: Subject): Promise<void> {
    const open = [...this.#open.values()];
    const held = countByCaller([...open.map((session) => session.caller), ...this.#opening]);
    if (hasRoom(caller, held, { perCaller: this.#most, total: this.#most })) return;
    const rested = open.find((session) => session.caller === caller && session.isResting);
    if (rested !== undefined) return this.#end(rested);
    throw new HelmdeckError(
      "session_unavailable",
      `All sessions that you may have are in use, ${this.#most} at most and fewer while others have some; wait for a run to end.`,
      { details: { most: this.#most } },
    );
  }

  /** A folder that cannot be removed now goes at the next start. */
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
      // HOME stays the session's: it is what its processes are known by.
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

function inherited({ PATH, LANG }: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return { PATH: PATH ?? "/usr/local/bin:/usr/bin:/bin", LANG: LANG ?? "C.UTF-8" };
}
