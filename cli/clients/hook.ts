/**
 * `hook`: what a coding agent runs at an event. Reads the event as JSON from standard input and prints one line of JSON, or nothing.
 *
 * A client waits for its hooks, and shows what they print as an error. So a hook never fails, has a deadline of its own, and is silent
 * if there is no memory. Identity and place come from the settings of the installed package (client-settings.ts); of the event only
 * the folder, which filters facts by project, and the prompt, which is searched for. The transcript that the event names is not read.
 */
import type { Shell } from "../../commands/shell.ts";
import { isHelmdeckError } from "../../engine/errors.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import { within } from "../../engine/timing.ts";
import { findProject } from "../../seam/index.ts";
import { type ClientSettings, PUSHED, type Pushed, readClientSettings } from "./client-settings.ts";
import { readSessionFacts, readSureHits, readToken } from "./hook-memory.ts";
import { promptText, sessionText } from "./session-text.ts";

export interface HookRequest {
  readonly client: string;
  readonly event: string;
  /** The settings of the installed package. */
  readonly settingsFile: string | undefined;
}

const DEADLINE_MS = 500;
/** A prompt can be a pasted file. */
const MOST_INPUT_BYTES = 4 * 1_024 * 1_024;

/** Never throws. `spentMs`: since the process started. */
export async function runHook(request: HookRequest, shell: Shell, spentMs = 0): Promise<void> {
  if (request.event === "headers") return printHeaders(request, shell);
  const asking = new Asking(request, shell);
  const answer = await within(DEADLINE_MS - spentMs, asking.answer(), () => asking.late()).catch(() => ({}));
  const client = clientNamed(request.client);
  const line = client === undefined ? undefined : client.line(request.event, answer);
  if (line !== undefined) await printLine(line, shell);
}

/** For the tools of a served engine: the client asks for the token when it connects, so no file of its own holds it. */
async function printHeaders({ settingsFile }: HookRequest, shell: Shell): Promise<void> {
  if (settingsFile === undefined) return;
  const token = await readClientSettings(settingsFile)
    .then((settings) => settings?.engine && readToken(settings.engine.tokenFile))
    .catch(() => undefined);
  if (token !== undefined) await printLine({ Authorization: `Bearer ${token}` }, shell);
}

function printLine(line: object, { stdout }: Shell): Promise<void> {
  return new Promise((resolve) => stdout.write(`${JSON.stringify(line)}\n`, () => resolve()));
}

/** One event, until it is answered or too late. */
class Asking {
  readonly #request: HookRequest;
  readonly #shell: Shell;
  /** Nobody who agreed to nothing hears of memory's troubles. */
  #isAgreed = false;

  constructor(request: HookRequest, shell: Shell) {
    this.#request = request;
    this.#shell = shell;
  }

  /** Input and settings are read first: without an agreement, or for an event that needs nothing, no memory is opened. */
  async answer(): Promise<Answer> {
    const { client, event, settingsFile } = this.#request;
    const input = await readInput(this.#shell.stdin);
    const pushed = PUSHED.find((one) => one === event);
    const asked = input && clientNamed(client)?.asked(input);
    if (pushed === undefined || asked === undefined || settingsFile === undefined) return {};
    try {
      const settings = await readClientSettings(settingsFile);
      if (settings === undefined || !settings.pushes.includes(pushed)) return {};
      this.#isAgreed = true;
      return { context: await CONTEXT_OF[pushed](settings, this.#shell, asked) };
    } catch (error) {
      return this.#warning(
        isHelmdeckError(error) ? harmlessLine(error.message) : "Memory failed. Run helmdeck-memory doctor.",
      );
    }
  }

  late(): Answer {
    return this.#isAgreed ? this.#warning(LATE) : {};
  }

  /** Told once, at the start: not at each prompt. */
  #warning(warning: string): Answer {
    return this.#request.event === "session-start" ? { warning } : {};
  }
}

interface Asked {
  readonly folder: string;
  readonly prompt: string;
}

const CONTEXT_OF: Readonly<
  Record<Pushed, (settings: ClientSettings, shell: Shell, asked: Asked) => Promise<string>>
> = {
  "session-start": async (settings, shell, { folder }) => {
    const project = folder === "" ? undefined : findProject(folder, shell.env, () => {});
    const facts = await readSessionFacts(
      settings,
      shell,
      project?.catch(() => undefined),
    );
    return facts === undefined ? "" : sessionText(facts);
  },
  prompt: async (settings, shell, { prompt }) =>
    prompt.trim() === "" ? "" : promptText(await readSureHits(settings, shell, prompt)),
};

/** What a hook has to say: for the model, and for the person. */
interface Answer {
  readonly context?: string;
  readonly warning?: string;
}

const LATE = "Memory did not answer in time; this session starts without it. Run helmdeck-memory doctor.";

type Input = Readonly<Record<string, unknown>>;

/** How a client asks, and what it reads. */
interface HookClient {
  /** Undefined for an event that needs nothing. */
  readonly asked: (input: Input) => Asked | undefined;
  readonly line: (event: string, answer: Answer) => object | undefined;
}

const CLIENTS: Readonly<Record<string, HookClient>> = {
  claude: {
    // A resumed session has what it was given.
    asked: ({ source, cwd, prompt }) =>
      source === "resume" || source === "fork" ? undefined : { folder: textOf(cwd), prompt: textOf(prompt) },
    line: (event, { context = "", warning }) => {
      if (warning !== undefined) return { systemMessage: `helmdeck memory: ${warning}` };
      if (context === "") return undefined;
      const hookEventName = event === "session-start" ? "SessionStart" : "UserPromptSubmit";
      return { hookSpecificOutput: { hookEventName, additionalContext: context } };
    },
  },
};

function clientNamed(name: string): HookClient | undefined {
  return Object.hasOwn(CLIENTS, name) ? CLIENTS[name] : undefined;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Undefined if it is no object, or too large. */
async function readInput(stdin: Shell["stdin"]): Promise<Input | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    chunks.push(Buffer.from(chunk));
    bytes += chunk.length;
    if (bytes > MOST_INPUT_BYTES) return undefined;
  }
  const value: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
  return typeof value === "object" && value !== null ? { ...value } : undefined;
}
