/**
 * `install claude`: puts memory's package into a coding agent by the agent's own commands, with whose memory it is and what may be put
 * into a session; and takes it out again.
 *
 * What is shown in a session goes to the model's provider, in every repository. So a person agrees to it here, once per client, and
 * without that the package has only the tools.
 */

import { execFile } from "node:child_process";
import { mkdir, readFile, rename, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { checkEngineAddress } from "../../app/remote/engine/engine-address.ts";
import { readSecretFile } from "../../app/secret-file.ts";
import { findStorage } from "../../app/storage-location.ts";
import type { CommandContext } from "../../commands/command-line.ts";
import { EXIT_DONE } from "../../commands/exit-codes.ts";
import { agreesAt, isPersonAt } from "../../commands/input.ts";
import type { Shell } from "../../commands/shell.ts";
import { defined } from "../../engine/defined.ts";
import { HelmdeckError, invalidField } from "../../engine/errors.ts";
import { makePrivateFolder, unlessMissing } from "../../engine/private-file.ts";
import { CLIENT_PACKAGES, type ClientName, PACKAGE_NAME, SETTINGS_FILE } from "../clients/client-packages.ts";
import {
  type ClientSettings,
  PUSHES,
  type PushChoice,
  type Pushed,
  readClientSettings,
} from "../clients/client-settings.ts";

export interface InstallClientRequest {
  readonly client: ClientName;
  /** An option says whose memory, or where. */
  readonly namesMemory: boolean;
  readonly push?: PushChoice;
  readonly engine?: string;
  readonly tokenFile?: string;
}

export async function installClient(context: CommandContext, request: InstallClientRequest): Promise<number> {
  const client = new Client(context.shell, request.client);
  const earlier = await client.earlierSettings();
  const memory = earlier === undefined || request.namesMemory ? await whoseMemory(context, request) : earlier;
  await client.requireProgram();
  const settings = { ...memory, pushes: await agreedPushes(context, request, earlier) };
  await client.install(settings);
  await context.output.line(
    `Installed in Claude Code, with the memory of ${settings.caller}. ${PUSH_TEXTS[settings.pushes.length] ?? ""}`,
  );
  await context.output.line(
    "It is there in the next session. To take it out: helmdeck-memory install claude --uninstall",
  );
  return EXIT_DONE;
}

export async function uninstallClient(context: CommandContext, name: ClientName): Promise<number> {
  const wasThere = await new Client(context.shell, name).uninstall();
  await context.output.line(
    wasThere
      ? "Taken out of Claude Code. Your memory stays."
      : "It is not installed in Claude Code; nothing was changed.",
  );
  return EXIT_DONE;
}

/** By the number of events. */
const PUSH_TEXTS = [
  "It has the tools only; nothing is put into a session unasked.",
  "Each session starts with the pinned facts and those of its project.",
  "Each session starts with the pinned facts and those of its project, and a prompt gets up to three facts that surely answer it.",
];
const QUESTION =
  "May each session, in every repository, start with your pinned facts and those of the repository's project? They go to the model's provider.";

/** Asked once: a later run, such as an upgrade, keeps the answer unless its options say otherwise. */
async function agreedPushes(
  { shell }: CommandContext,
  { push }: InstallClientRequest,
  earlier: ClientSettings | undefined,
): Promise<readonly Pushed[]> {
  if (push !== undefined) return PUSHES[push];
  if (earlier !== undefined) return earlier.pushes;
  return isPersonAt(shell) && (await agreesAt(shell, QUESTION)) ? PUSHES.start : PUSHES.nothing;
}

/** Recorded once, so that no environment of a session changes it. Throws `invalid_input` for what cannot be recorded. */
async function whoseMemory(
  { shell, options }: CommandContext,
  { engine, tokenFile }: InstallClientRequest,
): Promise<Omit<ClientSettings, "pushes">> {
  const { env, homeDir } = shell;
  const { caller, db } = options;
  const stateDir = dirname(findStorage({ env, homeDir }).keyPath);
  if (engine !== undefined) return { caller, stateDir, engine: await engineIn(engine, tokenFile) };
  if (tokenFile !== undefined) throw invalidField("token-file", "needs --engine", { named: "--token-file" });
  refuseUnrecordable(options.store, env);
  const keyFile = env.HELMDECK_MEMORY_KEY_FILE || undefined;
  return {
    ...{ caller, stateDir },
    ...defined({
      databasePath: db === undefined ? undefined : resolve(db),
      keyFile: keyFile === undefined ? undefined : resolve(keyFile),
    }),
  };
}

async function engineIn(
  url: string,
  tokenFile: string | undefined,
): Promise<NonNullable<ClientSettings["engine"]>> {
  if (tokenFile === undefined)
    throw invalidField("engine", "needs a token: --token-file FILE", { named: "--engine" });
  const address = checkEngineAddress({ url }, () => "--engine");
  await readSecretFile(tokenFile);
  return { url: address.url, tokenFile: resolve(tokenFile) };
}

function refuseUnrecordable(store: string | undefined, env: Shell["env"]): void {
  if ((store ?? env.HELMDECK_MEMORY_STORE) !== undefined)
    throw invalidField(
      "store",
      "is on a database server: run helmdeck-memory serve over it, and name that with --engine",
      { named: "This memory" },
    );
  const named = ["HELMDECK_MEMORY_KEY", "HELMDECK_MEMORY_KEY_COMMAND"].find((name) => env[name]);
  if (named !== undefined)
    throw invalidField(
      "key",
      "is in the environment, which a repository can change: put the key into a file, and name it with HELMDECK_MEMORY_KEY_FILE",
      { named },
    );
}

/** Its own files that the client's commands change, in its configuration folder. */
const CLIENT_FILES = ["settings.json", "plugins/installed_plugins.json", "plugins/known_marketplaces.json"];
/** In the order in which they become empty. */
const CLIENT_FOLDERS = ["plugins/cache", "plugins/data", "plugins/marketplaces", "plugins"];
const PLUGIN = `${PACKAGE_NAME}@${PACKAGE_NAME}`;

/** What was there before the first installation: each file's bytes in base64, and folders. */
interface Before {
  readonly files: Readonly<Record<string, string>>;
  readonly folders: readonly string[];
}

/** The client, and the folder of its package. */
class Client {
  readonly #shell: Shell;
  readonly #program: ClientName;
  readonly #folder: string;
  readonly #configDir: string;

  constructor(shell: Shell, program: ClientName) {
    const { env, homeDir } = shell;
    this.#shell = shell;
    this.#program = program;
    const stateDir = dirname(findStorage({ env, homeDir }).keyPath);
    this.#folder = join(stateDir, "helmdeck-memory-clients", program);
    this.#configDir = env.CLAUDE_CONFIG_DIR || join(env.HOME || homeDir, ".claude");
  }

  async requireProgram(): Promise<void> {
    if (await this.#run(["--version"])) return;
    throw new HelmdeckError(
      "not_found",
      `The command ${this.#program} does not run here. Install Claude Code first.`,
    );
  }

  /** Undefined before the first installation, and if they cannot be read. */
  earlierSettings(): Promise<ClientSettings | undefined> {
    return readClientSettings(this.#path("package", SETTINGS_FILE)).catch(() => undefined);
  }

  /** Again: with other choices. */
  async install(settings: ClientSettings): Promise<void> {
    await makePrivateFolder(this.#folder);
    await this.#recordBefore();
    await rm(this.#path("package"), { recursive: true, force: true });
    for (const [path, text] of Object.entries(CLIENT_PACKAGES[this.#program](settings))) {
      const file = this.#path("package", path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text, { mode: 0o600 });
    }
    await this.#must("add the package", ["plugin", "marketplace", "add", this.#path("package")]);
    await this.#must("install the package", ["plugin", "install", PLUGIN]);
  }

  /** False if it was not installed. */
  async uninstall(): Promise<boolean> {
    const before = await this.#readBefore();
    if (before === undefined) return false;
    // Either may have been done by hand, or the client may be gone.
    await this.#run(["plugin", "uninstall", PLUGIN]);
    await this.#run(["plugin", "marketplace", "remove", PACKAGE_NAME]);
    await rm(join(this.#configDir, "plugins", "cache", PACKAGE_NAME), { recursive: true, force: true });
    for (const name of CLIENT_FILES) await this.#restore(name, before.files[name]);
    for (const name of CLIENT_FOLDERS.filter((one) => !before.folders.includes(one)))
      await rmdir(join(this.#configDir, name)).catch(() => {}); // not empty, or not there
    await rm(this.#folder, { recursive: true, force: true });
    await rmdir(dirname(this.#folder)).catch(() => {});
    return true;
  }

  async #recordBefore(): Promise<void> {
    if ((await this.#readBefore()) !== undefined) return;
    const files: Record<string, string> = {};
    for (const name of CLIENT_FILES) {
      const bytes = await unlessMissing(readFile(join(this.#configDir, name)), undefined);
      if (bytes !== undefined) files[name] = bytes.toString("base64");
    }
    const there = await Promise.all(
      CLIENT_FOLDERS.map((name) => unlessMissing(stat(join(this.#configDir, name)), undefined)),
    );
    const folders = CLIENT_FOLDERS.filter((_, place) => there[place] !== undefined);
    const text = JSON.stringify({ files, folders } satisfies Before);
    await writeFile(this.#path("before.json"), text, { mode: 0o600, flag: "wx" });
  }

  async #readBefore(): Promise<Before | undefined> {
    const text = await unlessMissing(readFile(this.#path("before.json"), "utf8"), undefined);
    return text === undefined ? undefined : JSON.parse(text);
  }

  /** Byte for byte, if it says the same as before; what somebody changed since stays. */
  async #restore(name: string, former: string | undefined): Promise<void> {
    const file = join(this.#configDir, name);
    const now = await unlessMissing(readFile(file, "utf8"), undefined);
    const before = former === undefined ? undefined : Buffer.from(former, "base64");
    if (now === undefined || contentOf(now) !== contentOf(before?.toString("utf8") ?? "{}")) return;
    if (before === undefined) return rm(file);
    const draft = `${file}.helmdeck-${process.pid}`;
    await writeFile(draft, before, { mode: (await stat(file)).mode & 0o777, flag: "wx" });
    await rename(draft, file);
  }

  #path(...parts: readonly string[]): string {
    return join(this.#folder, ...parts);
  }

  async #must(what: string, args: readonly string[]): Promise<void> {
    if (await this.#run(args)) return;
    throw new HelmdeckError(
      "internal",
      `Claude Code could not ${what}. To see why, run: ${this.#program} ${args.join(" ")}`,
    );
  }

  /** Whether it succeeded. */
  async #run(args: readonly string[]): Promise<boolean> {
    const running = promisify(execFile)(this.#program, [...args], {
      env: { ...this.#shell.env },
      timeout: TIMEOUT_MS,
    });
    running.child.stdin?.end();
    return running.then(
      () => true,
      () => false,
    );
  }
}

const TIMEOUT_MS = 120_000;

/** Without the empty lists that the client leaves, and their version. */
function contentOf(text: string): string {
  const parsed: unknown = JSON.parse(text);
  const isEmpty = (value: unknown) =>
    typeof value === "object" && value !== null && Object.keys(value).length === 0;
  const fields = Object.entries(Object(parsed)).filter(
    ([name, value]) => name !== "version" && !isEmpty(value),
  );
  return JSON.stringify(fields.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
