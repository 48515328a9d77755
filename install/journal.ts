/**
 * The journal: what was changed and how it was before, written before each change, so that a run that is killed at any
 * moment can be finished or taken back.
 *
 * Who looks on: other accounts of the machine. The copy of OpenClaw's configuration beside the journal may hold secrets, so
 * the folder is 0700 and each file is made 0600 before the first byte is in it.
 */
import { createHash } from "node:crypto";
import { chmod, mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { z } from "zod";
import { HelmdeckError } from "../app/index.ts";
import type { Json, JsonObject } from "./openclaw-json.ts";

const JSON_VALUE: z.ZodType<Json> = z.json();
const JSON_OBJECT: z.ZodType<JsonObject> = z.record(z.string(), JSON_VALUE);

const TARGET = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("host") }),
  z.object({ kind: z.literal("container"), name: z.string() }),
]);

/**
 * How a part of the configuration was, and every value that was set in it since: a run that was killed may have left the one
 * before the last.
 */
const CHANGE = z.strictObject({ before: JSON_VALUE.optional(), sets: z.array(JSON_OBJECT) });

const ENTRIES = z.strictObject({
  version: z.literal(1),
  target: TARGET.optional(),
  /** The copy of the configuration from before the first change, and the file it is a copy of. */
  config: z.strictObject({ path: z.string(), existed: z.boolean() }).optional(),
  /** Of `memory`, and what was added to `plugins.allow`. */
  search: CHANGE.extend({ allowed: z.array(z.string()) }).optional(),
  /** Of the plugin's own configuration. */
  facts: CHANGE.optional(),
  /** Of the plugin's own configuration, too: who keeps memory. */
  source: CHANGE.optional(),
  /** Which tools' calls are to be recorded, as a person answered; what was set before, and whether we set anything. */
  auditTools: z
    .strictObject({
      answer: z.enum(["all", "helmdeck"]),
      before: JSON_VALUE.optional(),
      hadSettings: z.boolean(),
      isSet: z.boolean(),
      /** From before the configuration changes until it has. */
      isDue: z.boolean(),
    })
    .optional(),
  /** From before `memory.search` changes until OpenClaw's index of its notes fits it. */
  indexDue: z.boolean().optional(),
  /** sha256 of the configuration after the last step that wrote to it; another word when others wrote in between. */
  leftAs: z.string().optional(),
  installedPlugin: z.boolean().optional(),
  madeNetwork: z.boolean().optional(),
  startedSidecar: z.boolean().optional(),
  attached: z.strictObject({ container: z.string(), overrideFile: z.string().optional() }).optional(),
});

export type Change = z.infer<typeof CHANGE>;

export type JournalEntries = Omit<z.infer<typeof ENTRIES>, "version">;

export type JournalChanges = { readonly [K in keyof JournalEntries]?: JournalEntries[K] | undefined };

const JOURNAL = "journal.json";
const COPY = "openclaw.json.before";

export class Journal {
  readonly folder: string;
  #entries: JournalEntries;

  private constructor(folder: string, entries: JournalEntries) {
    this.folder = folder;
    this.#entries = entries;
  }

  /** Reads what is there and writes nothing. */
  static async read(folder: string): Promise<Journal> {
    const text = await readFile(join(folder, JOURNAL), "utf8").catch(unlessMissing);
    return new Journal(folder, text === undefined ? {} : entriesOf(text, folder));
  }

  get entries(): JournalEntries {
    return this.#entries;
  }

  get copyPath(): string {
    return join(this.folder, COPY);
  }

  /** On the disk when this resolves. An `undefined` takes the entry out. */
  async record(changes: JournalChanges): Promise<void> {
    const entries = Object.fromEntries(
      Object.entries({ ...this.#entries, ...changes }).filter(([, value]) => value !== undefined),
    );
    await this.#write(JOURNAL, `${JSON.stringify({ version: 1, ...entries }, null, 2)}\n`);
    this.#entries = entries;
  }

  /** Writes nothing where none of them is there. */
  async remove(names: readonly (keyof JournalEntries)[]): Promise<void> {
    if (names.some((name) => this.#entries[name] !== undefined))
      await this.record(Object.fromEntries(names.map((name) => [name, undefined])));
  }

  async keepCopy(bytes: Uint8Array): Promise<void> {
    await this.#write(COPY, bytes);
  }

  readCopy(): Promise<Buffer | undefined> {
    return readFile(this.copyPath).catch(unlessMissing);
  }

  /** Takes the journal away; the copy of the configuration too when it is no longer needed. */
  async forget(options: { readonly keepCopy: boolean }): Promise<void> {
    await rm(join(this.folder, JOURNAL), { force: true });
    this.#entries = {};
    if (!options.keepCopy) await rm(this.folder, { recursive: true, force: true });
  }

  async #write(name: string, content: string | Uint8Array): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    await chmod(this.folder, 0o700);
    const making = join(this.folder, `.${name}.${process.pid}`);
    const file = await open(making, "w", 0o600);
    try {
      await file.chmod(0o600);
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(making, join(this.folder, name));
  }
}

/** Of this program for this account: not in OpenClaw's state folder, which its backup archives and `--purge` may empty. */
export function journalFolder(env: Readonly<Record<string, string | undefined>>, homeDir: string): string {
  return resolve(env.XDG_STATE_HOME || join(homeDir, ".local", "state"), "helmdeck-memory", "install");
}

export function fingerprint(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? "none" : createHash("sha256").update(bytes).digest("hex");
}

function entriesOf(text: string, folder: string): JournalEntries {
  try {
    const { version: _, ...entries } = ENTRIES.parse(JSON.parse(text));
    return entries;
  } catch (cause) {
    throw new HelmdeckError(
      "invalid_input",
      `${join(folder, JOURNAL)} cannot be read as this program's journal. Move it away to start over; the changes it recorded are then not undone.`,
      { cause },
    );
  }
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}
