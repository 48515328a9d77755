/**
 * The journal: records each change and the former state before the change, so that a killed run can be continued or undone.
 *
 * Threat: other accounts on the machine. The copy of OpenClaw's configuration next to the journal may contain secrets, so the
 * folder is 0700 and each file is created with 0600 before anything is written.
 */

import { createHash } from "node:crypto";
import { chmod, mkdir, open, readFile, rename, rm, rmdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { z } from "zod";
import { HelmdeckError } from "../engine/errors.ts";
import { unlessMissing } from "../engine/private-file.ts";
import type { Json, JsonObject } from "./openclaw-json.ts";

const JSON_VALUE: z.ZodType<Json> = z.json();
const JSON_OBJECT: z.ZodType<JsonObject> = z.record(z.string(), JSON_VALUE);

const TARGET = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("host") }),
  z.object({ kind: z.literal("container"), name: z.string() }),
]);

/**
 * The original of a part of the configuration, and every value set since: a killed run may have left any of the last two.
 */
const CHANGE = z.strictObject({ before: JSON_VALUE.optional(), sets: z.array(JSON_OBJECT) });

const EMBEDDINGS = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("builtin") }),
  z.strictObject({ kind: z.literal("sidecar") }),
  z.strictObject({ kind: z.literal("url"), url: z.url() }),
  z.strictObject({ kind: z.literal("none") }),
]);

/** Environment variables with which a person changes the sidecar's compose file. */
const SIDECAR_VARIABLES = z.strictObject({
  HELMDECK_EMBEDDINGS_IMAGE: z.string().optional(),
  HELMDECK_EMBEDDINGS_MEMORY: z.string().optional(),
});

const CHOICES = z.strictObject({
  embeddings: EMBEDDINGS,
  model: z.string(),
  gpu: z.boolean(),
  variables: SIDECAR_VARIABLES.default({}),
  /** What embeds OpenClaw's own notes beside the built-in model. Absent: nobody was asked. */
  notes: z.enum(["builtin", "none"]).optional(),
});

/** Of a question: the former settings, and whether we changed them. */
const ANSWERED = z.strictObject({
  answer: z.enum(["on", "off"]),
  before: z.record(z.string(), JSON_VALUE),
  hadSettings: z.boolean(),
  isSet: z.boolean(),
  /** Set while the configuration is being changed. */
  isDue: z.boolean(),
});

const ENTRIES = z.strictObject({
  version: z.literal(1),
  /** The choices that a later run keeps. Version 0.1.0 did not record them. */
  choices: CHOICES.optional(),
  target: TARGET.optional(),
  /** The copy of the configuration from before the first change, and its original file. */
  config: z.strictObject({ path: z.string(), existed: z.boolean() }).optional(),
  /** The change of `memory`, and the additions to `plugins.allow`. */
  search: CHANGE.extend({ allowed: z.array(z.string()) }).optional(),
  /** The change of the plugin's configuration. */
  facts: CHANGE.optional(),
  /** The change of the memory's source in the plugin's configuration. */
  source: CHANGE.optional(),
  /** The person's answer on recorded tools, the former setting, and whether we changed it. */
  auditTools: z
    .strictObject({
      answer: z.enum(["all", "helmdeck"]),
      before: JSON_VALUE.optional(),
      hadSettings: z.boolean(),
      isSet: z.boolean(),
      /** Set while the configuration is being changed. */
      isDue: z.boolean(),
    })
    .optional(),
  /** The person's answer on recall unasked and kept requests, the former settings, and whether we changed them. */
  speakUp: ANSWERED.optional(),
  /** The same for a year as the default life of facts. */
  keepAYear: ANSWERED.optional(),
  /** Set from before a change of `memory.search` until OpenClaw's note index matches it. */
  indexDue: z.boolean().optional(),
  /** sha256 of the configuration after our last write; a fixed word if others wrote in between. */
  leftAs: z.string().optional(),
  installedPlugin: z.boolean().optional(),
  installedNotes: z.boolean().optional(),
  /** The built-in model was not in OpenClaw's state folder before. */
  installedModel: z.boolean().optional(),
  madeNetwork: z.boolean().optional(),
  startedSidecar: z.boolean().optional(),
  attached: z.strictObject({ container: z.string(), overrideFile: z.string().optional() }).optional(),
});

export type Change = z.infer<typeof CHANGE>;

export type JournalEntries = Omit<z.infer<typeof ENTRIES>, "version">;

export type Choices = Readonly<z.infer<typeof CHOICES>>;

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

  /** Only reads. */
  static async read(folder: string): Promise<Journal> {
    const text = await unlessMissing(readFile(join(folder, JOURNAL), "utf8"), undefined);
    return new Journal(folder, text === undefined ? {} : entriesOf(text, folder));
  }

  get entries(): JournalEntries {
    return this.#entries;
  }

  get copyPath(): string {
    return join(this.folder, COPY);
  }

  /** Durable when this resolves. `undefined` removes the entry. */
  async record(changes: JournalChanges): Promise<void> {
    const entries = Object.fromEntries(
      Object.entries({ ...this.#entries, ...changes }).filter(([, value]) => value !== undefined),
    );
    await this.#write(JOURNAL, `${JSON.stringify({ version: 1, ...entries }, null, 2)}\n`);
    this.#entries = entries;
  }

  /** Writes nothing if none of them is present. */
  async remove(names: readonly (keyof JournalEntries)[]): Promise<void> {
    if (names.some((name) => this.#entries[name] !== undefined))
      await this.record(Object.fromEntries(names.map((name) => [name, undefined])));
  }

  async keepCopy(bytes: Uint8Array): Promise<void> {
    await this.#write(COPY, bytes);
  }

  readCopy(): Promise<Buffer | undefined> {
    return unlessMissing(readFile(this.copyPath), undefined);
  }

  /** Deletes the journal, and the copy of the configuration if it is no longer needed. */
  async forget(options: { readonly keepCopy: boolean }): Promise<void> {
    await rm(join(this.folder, JOURNAL), { force: true });
    this.#entries = {};
    if (options.keepCopy) return;
    await rm(this.copyPath, { force: true });
    await rmdir(this.folder).catch(() => undefined); // somebody put a file of theirs there
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

/** Per account, and not in OpenClaw's state folder, which OpenClaw's backup archives and `--purge` may delete. */
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
      `${join(folder, JOURNAL)} cannot be read as the installer's journal. Move it away to start over; the recorded changes are then not undone.`,
      { cause },
    );
  }
}
