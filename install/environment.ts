/** The installer's environment: programs, variables and clock, passed in so that tests can replace them. */
import { homedir } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import type { OllamaSidecar } from "../sidecar/embedding-service.ts";
import { createOllamaSidecar } from "../sidecar/ollama.ts";
import { withEarlierVariables } from "./earlier-choices.ts";
import { Journal, journalFolder } from "./journal.ts";
import { makeRun, type Run } from "./run-command.ts";
import { Docker } from "./run-docker.ts";

export interface Environment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDir: string;
  /** The package's folder, with the compose files and the built plugin in dist/plugin. */
  readonly root: string;
  readonly run: Run;
  readonly docker: Docker;
  readonly journal: Journal;
  readonly sidecarAt: (address: string) => OllamaSidecar;
  readonly pause: (ms: number) => Promise<void>;
  readonly now: () => number;
}

/** `root`: the package's folder. */
export async function thisEnvironment(root: string): Promise<Environment> {
  const homeDir = homeOf(process.env);
  const journal = await Journal.read(journalFolder(process.env, homeDir));
  const env = withEarlierVariables(process.env, journal.entries);
  const run = makeRun(env);
  return {
    env,
    homeDir,
    root,
    run,
    docker: new Docker(run, root),
    journal,
    sidecarAt: (address) => createOllamaSidecar({ address }),
    pause: async (ms) => {
      await pause(ms);
    },
    now: Date.now,
  };
}

export function homeOf(env: Environment["env"]): string {
  return env.HOME || homedir();
}
