/**
 * The work folder of packs, with sessions and artifacts, each opened at first use.
 *
 * A server that needs neither creates no folder, and one whose folder is not writable still serves everything else. If an
 * earlier server left files, they are opened at once, to end its processes and delete expired files.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Sweeper } from "../app/sweeper.ts";
import type { UnixMs } from "../engine/store/memory-store.ts";
import type { ArtifactStore, SessionProvider } from "./engine/pack-contract.ts";
import { type LocalArtifacts, openLocalArtifacts } from "./local/local-artifacts.ts";
import { openLocalSessions } from "./local/local-sessions.ts";

const SWEEP_EVERY_MS = 6 * 3_600 * 1_000;
/** Time for a caller to continue in a session by its id. Another run of that caller may replace it earlier. */
const KEEP_SESSIONS_MS = 5 * 60 * 1_000;

export interface WorkFolder {
  readonly sessions: SessionProvider;
  readonly artifacts: ArtifactStore;
}

export interface WorkFolderOptions {
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => UnixMs;
}

export async function openWorkFolder({ folder, env, now }: WorkFolderOptions): Promise<WorkFolder> {
  const roots = { sessions: join(folder, "sessions"), artifacts: join(folder, "artifacts") };
  const sessions = new Lazily(() =>
    openLocalSessions({ root: roots.sessions, env, keepMs: KEEP_SESSIONS_MS }),
  );
  const artifacts = new Lazily(() => openLocalArtifacts({ root: roots.artifacts, now }));
  const leftBehind = [existsSync(roots.sessions) && sessions, existsSync(roots.artifacts) && artifacts];
  for (const one of leftBehind) if (one) await one.get().catch(() => undefined); // reported at first use
  return { sessions: lazySessions(sessions), artifacts: lazyArtifacts(artifacts) };
}

/** Opens a resource once, at first use. After a failure, the next use tries again. */
class Lazily<T> {
  readonly #open: () => Promise<T>;
  #opened: Promise<T> | undefined;

  constructor(open: () => Promise<T>) {
    this.#open = open;
  }

  get(): Promise<T> {
    this.#opened ??= this.#open().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  /** The open resource, if any. */
  async current(): Promise<T | undefined> {
    return this.#opened?.catch(() => undefined);
  }
}

function lazySessions(sessions: Lazily<SessionProvider>): SessionProvider {
  return {
    acquire: async (request) => (await sessions.get()).acquire(request),
    release: async (session) => (await sessions.get()).release(session),
    close: async () => (await sessions.current())?.close(),
  };
}

function lazyArtifacts(artifacts: Lazily<LocalArtifacts>): ArtifactStore {
  const sweeper = new Sweeper({
    sweep: async () => (await artifacts.current())?.sweep(),
    everyMs: SWEEP_EVERY_MS,
  });
  return {
    put: async (caller, artifact) => (await artifacts.get()).put(caller, artifact),
    get: async (caller, id) => (await artifacts.get()).get(caller, id),
    has: async (caller, id) => (await artifacts.get()).has(caller, id),
    delete: async (caller, id) => (await artifacts.get()).delete(caller, id),
    close: async () => {
      await sweeper.stop();
      await (await artifacts.current())?.close();
    },
  };
}
