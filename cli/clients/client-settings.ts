/**
 * Whose memory a coding agent's package uses, and what it may put into a session, as a person chose at `install`.
 *
 * The attacker is a repository that somebody opens in such a client. Its files can set the environment of hooks and servers, a home
 * folder included, and its text reaches the prompt. So the choices lie in a file inside the installed package, whose path the client
 * itself fills in, and nothing in the environment can name another memory, key, token or embedding service.
 */
import { readFile } from "node:fs/promises";
import { requireSubject } from "../../app/subject.ts";
import { defined } from "../../engine/defined.ts";
import { HelmdeckError, isHelmdeckError } from "../../engine/errors.ts";

export const PUSHED = ["session-start", "prompt"] as const;
export type Pushed = (typeof PUSHED)[number];

/** What a person can agree to. */
export const PUSHES = {
  nothing: [],
  start: ["session-start"],
  prompts: ["session-start", "prompt"],
} as const satisfies Record<string, readonly Pushed[]>;
export type PushChoice = keyof typeof PUSHES;

export interface ClientSettings {
  /** Whose memory. */
  readonly caller: string;
  /** OpenClaw's state folder: where database and key are, unless others are named. */
  readonly stateDir: string;
  readonly databasePath?: string;
  readonly keyFile?: string;
  /** A served engine, in place of a database here. */
  readonly engine?: { readonly url: string; readonly tokenFile: string };
  /** The events at which facts may be put into a session. */
  readonly pushes: readonly Pushed[];
}

/** Undefined if there is none: nobody agreed to anything. Throws `invalid_input`. */
export async function readClientSettings(file: string): Promise<ClientSettings | undefined> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw unusable(file);
  });
  if (text === undefined) return undefined;
  try {
    return settingsIn(JSON.parse(text));
  } catch (error) {
    throw isHelmdeckError(error) ? error : unusable(file);
  }
}

/** By hand: the hook is started at each event, and a schema library takes longer to load than everything else. */
function settingsIn(given: unknown): ClientSettings {
  const fields = requireFields(given);
  const { pushes } = fields;
  const engine = fields.engine === undefined ? undefined : requireFields(fields.engine);
  return {
    caller: requireSubject(requireText(fields.caller)),
    stateDir: requireText(fields.stateDir),
    ...defined({ databasePath: optionalText(fields.databasePath), keyFile: optionalText(fields.keyFile) }),
    ...(engine && { engine: { url: requireText(engine.url), tokenFile: requireText(engine.tokenFile) } }),
    pushes: PUSHED.filter((event) => Array.isArray(pushes) && pushes.includes(event)),
  };
}

type Fields = Readonly<Record<string, unknown>>;

function requireFields(value: unknown): Fields {
  if (typeof value !== "object" || value === null) throw new TypeError("not an object");
  return { ...value };
}

function requireText(value: unknown): string {
  if (typeof value !== "string" || value === "") throw new TypeError("not a text");
  return value;
}

function optionalText(value: unknown): string | undefined {
  return value === undefined ? undefined : requireText(value);
}

function unusable(file: string): HelmdeckError {
  return new HelmdeckError(
    "invalid_input",
    `The settings ${file} cannot be read. Run helmdeck-memory install claude again.`,
  );
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The environment without anything that could name another memory, and with what the settings name. */
export function environmentOf({ stateDir, keyFile }: ClientSettings, env: Environment): Environment {
  const others = Object.entries(env).filter(([name]) => !/^(HELMDECK|OPENCLAW)_/i.test(name));
  return {
    ...Object.fromEntries(others),
    OPENCLAW_STATE_DIR: stateDir,
    ...defined({ HELMDECK_MEMORY_KEY_FILE: keyFile }),
  };
}
