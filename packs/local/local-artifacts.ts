/**
 * Artifacts in a local folder: stored per owner, and verified when read.
 *
 * Threat: a caller guesses or forges another caller's id; a name is used as a path; a pack fills the disk; somebody changes a
 * file afterwards. Defence: a caller's files are in a folder named by a hash of the caller, an id is 128 random bits of a fixed
 * shape, and no part of a path comes from a client; names are labels inside a record; sizes and counts are limited; content is
 * compared with its hash on every read. Files are 0600 in folders 0700. They are not encrypted.
 */

import { createHash, randomBytes } from "node:crypto";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod/mini";
import { HelmdeckError } from "../../engine/errors.ts";
import { problemOfName } from "../../engine/facts/hostile-text.ts";
import { jsonOf } from "../../engine/json.ts";
import { makePrivateFolder, placeOnce, removeOld, unlessMissing } from "../../engine/private-file.ts";
import type { UnixMs } from "../../engine/store/memory-store.ts";
import type { Subject } from "../../engine/store/namespace.ts";
import type { ArtifactRef, ArtifactStore, NewArtifact } from "../engine/pack-contract.ts";

export interface LocalArtifactsOptions {
  /** Created if it does not exist. */
  readonly root: string;
  readonly now: () => UnixMs;
  /** Per artifact; default 16 MiB. */
  readonly mostBytes?: number;
  /** Total per caller; default 256 MiB. */
  readonly mostCallerBytes?: number;
  /** Per caller; default 1,000. */
  readonly mostCount?: number;
  /** Time that an artifact is kept; default 30 days. */
  readonly keepMs?: number;
}

export interface LocalArtifacts extends ArtifactStore {
  /** Deletes expired artifacts of every caller and returns their number. */
  sweep(): Promise<number>;
}

const ID = /^art_[0-9a-f]{32}$/;
const MEDIA_TYPE =
  /^[a-z0-9][a-z0-9!#$&^_.+-]{0,63}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}(; ?charset=[a-z0-9-]{1,20})?$/i;
const NAME_BYTES = 255;
/** No write takes this long. */
const STRAY_MS = 24 * 3_600 * 1_000;

/** Throws `artifact_refused` if the root cannot be used. */
export async function openLocalArtifacts(options: LocalArtifactsOptions): Promise<LocalArtifacts> {
  const artifacts = new FolderArtifacts(options);
  try {
    await artifacts.sweep();
  } catch (error) {
    throw new HelmdeckError(
      "artifact_refused",
      `The folder for artifacts cannot be used: ${options.root}. Make it writable.`,
      { details: { path: options.root }, cause: error },
    );
  }
  return artifacts;
}

class FolderArtifacts implements LocalArtifacts {
  readonly #folder: ArtifactFolder;
  readonly #now: () => UnixMs;
  readonly #most: { readonly bytes: number; readonly callerBytes: number; readonly count: number };
  readonly #keepMs: number;
  /** A caller's puts run one after the other, so that two cannot both take the last free slot. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(options: LocalArtifactsOptions) {
    this.#folder = new ArtifactFolder(options.root);
    this.#now = options.now;
    this.#most = {
      bytes: options.mostBytes ?? 16 * 1_024 * 1_024,
      callerBytes: options.mostCallerBytes ?? 256 * 1_024 * 1_024,
      count: options.mostCount ?? 1_000,
    };
    this.#keepMs = options.keepMs ?? 30 * 24 * 3_600 * 1_000;
  }

  async put(caller: Subject, { name, mediaType, content }: NewArtifact): Promise<ArtifactRef> {
    // Only displayed, but it must not look like a path or forge a line.
    const problem = problemOfName(name);
    if (problem !== undefined) throw refuse(`has a name that ${problem}`);
    if (name === "" || name === "." || name === ".." || /[/\\]/.test(name)) {
      throw refuse("needs a plain file name, without a folder");
    }
    if (Buffer.byteLength(name) > NAME_BYTES) throw refuse(`may have a name of ${NAME_BYTES} bytes`);
    const ref: ArtifactRef = {
      id: `art_${randomBytes(16).toString("hex")}`,
      name: name,
      mediaType: checkMediaType(mediaType),
      sizeBytes: content.byteLength,
      sha256: sha256(content),
    };
    if (ref.sizeBytes > this.#most.bytes) {
      throw refuse(`may have ${this.#most.bytes} bytes, and has ${ref.sizeBytes}`);
    }
    await this.#inTurn(ownerOf(caller), async (owner) => {
      await this.#requireRoom(owner, ref.sizeBytes);
      await this.#folder.write(owner, { ref, createdAt: this.#now() }, content);
    });
    return ref;
  }

  async get(caller: Subject, id: string): ReturnType<ArtifactStore["get"]> {
    const kept = await this.#find(caller, id);
    if (kept === undefined) return undefined;
    const content = await this.#folder.readContent(ownerOf(caller), id);
    if (content === undefined) return undefined;
    if (content.byteLength === kept.ref.sizeBytes && sha256(content) === kept.ref.sha256) {
      return { ref: kept.ref, content };
    }
    throw refuse("does not match its hash: its file was changed or damaged", id);
  }

  async has(caller: Subject, id: string): Promise<boolean> {
    return (await this.#find(caller, id)) !== undefined;
  }

  async delete(caller: Subject, id: string): Promise<void> {
    if (ID.test(id)) await this.#folder.remove(ownerOf(caller), id);
  }

  async sweep(): Promise<number> {
    let count = 0;
    for (const owner of await this.#folder.owners()) {
      for (const { ref } of (await this.#folder.list(owner)).filter((kept) => this.#isOld(kept))) {
        await this.#folder.remove(owner, ref.id);
        count += 1;
      }
      await this.#folder.removeStrays(owner, this.#now() - STRAY_MS);
    }
    return count;
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#turns.values());
  }

  async #find(caller: Subject, id: string): Promise<KeptArtifact | undefined> {
    if (!ID.test(id)) return undefined;
    const kept = await this.#folder.readRecord(ownerOf(caller), id);
    return kept === undefined || this.#isOld(kept) ? undefined : kept;
  }

  #isOld({ createdAt }: KeptArtifact): boolean {
    return this.#now() >= createdAt + this.#keepMs;
  }

  /** Deletes expired artifacts first. */
  async #requireRoom(owner: string, sizeBytes: number): Promise<void> {
    const all = await this.#folder.list(owner);
    for (const { ref } of all.filter((kept) => this.#isOld(kept))) await this.#folder.remove(owner, ref.id);
    const live = all.filter((kept) => !this.#isOld(kept));
    const used = live.reduce((sum, { ref }) => sum + ref.sizeBytes, 0);
    const { count, callerBytes } = this.#most;
    if (live.length >= count) throw refuse(`exceeds the limit of ${count} per caller`);
    if (used + sizeBytes > callerBytes) {
      throw refuse(`exceeds the limit of ${callerBytes} bytes per caller; ${used} are in use`);
    }
  }

  async #inTurn(owner: string, work: (owner: string) => Promise<void>): Promise<void> {
    const before = this.#turns.get(owner) ?? Promise.resolve();
    const turn = before.then(
      () => work(owner),
      () => work(owner),
    );
    this.#turns.set(owner, turn);
    try {
      await turn;
    } finally {
      if (this.#turns.get(owner) === turn) this.#turns.delete(owner);
    }
  }
}

/** A caller's name can be any text; its hash is a plain, unique folder name. */
function ownerOf(caller: Subject): string {
  return sha256(Buffer.from(caller));
}

function checkMediaType(mediaType: string): string {
  if (MEDIA_TYPE.test(mediaType)) return mediaType;
  throw refuse("needs a media type such as text/plain or application/json");
}

function refuse(rule: string, id?: string): HelmdeckError {
  return new HelmdeckError("artifact_refused", `The artifact ${rule}.`, id ? { details: { id } } : {});
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

interface KeptArtifact {
  readonly ref: ArtifactRef;
  readonly createdAt: UnixMs;
}

const RECORD = ".json";
const CONTENT = ".bin";
const OWNER = /^[0-9a-f]{64}$/;
/** A record, an artifact's bytes, or a draft of either. */
const FILE = /^(art_[0-9a-f]{32}\.(json|bin)|\.art_[0-9a-f]{32}\.(json|bin)\.[0-9a-f]{12}\.tmp)$/;

const recordSchema = z.object({
  ref: z.object({
    id: z.string(),
    name: z.string(),
    mediaType: z.string(),
    sizeBytes: z.number(),
    sha256: z.string(),
  }),
  createdAt: z.number(),
});

/**
 * The files of the artifact store: a folder per owner; per artifact its bytes and a record, which is written last.
 *
 * Owners and ids must be plain names; the store ensures this.
 */
class ArtifactFolder {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  /** Bytes first: a power cut can leave invisible bytes, but never a record without its bytes. */
  async write(owner: string, kept: KeptArtifact, content: Uint8Array): Promise<void> {
    await makePrivateFolder(join(this.#root, owner));
    const path = this.#path(owner, kept.ref.id);
    try {
      await placeOnce(path + CONTENT, content);
      await placeOnce(path + RECORD, Buffer.from(JSON.stringify(kept)));
    } catch (error) {
      await this.remove(owner, kept.ref.id).catch(() => undefined);
      throw error;
    }
  }

  /** Undefined if there is none, or its record cannot be read. */
  async readRecord(owner: string, id: string): Promise<KeptArtifact | undefined> {
    const bytes = await unlessMissing(readFile(this.#path(owner, id) + RECORD), undefined);
    if (bytes === undefined) return undefined;
    const record = recordSchema.safeParse(jsonOf(bytes.toString()));
    return record.success && record.data.ref.id === id ? record.data : undefined;
  }

  async readContent(owner: string, id: string): Promise<Uint8Array | undefined> {
    return unlessMissing(readFile(this.#path(owner, id) + CONTENT), undefined);
  }

  async list(owner: string): Promise<readonly KeptArtifact[]> {
    const names = await unlessMissing(readdir(join(this.#root, owner)), []);
    const ids = names
      .filter((name) => name.endsWith(RECORD))
      .map((name) => name.slice(0, -RECORD.length))
      .filter((id) => ID.test(id));
    const records = await Promise.all(ids.map((id) => this.readRecord(owner, id)));
    return records.filter((record) => record !== undefined);
  }

  /** The record first, so that a half-deleted artifact is invisible. */
  async remove(owner: string, id: string): Promise<void> {
    await rm(this.#path(owner, id) + RECORD, { force: true });
    await rm(this.#path(owner, id) + CONTENT, { force: true });
  }

  /** Creates the root if it does not exist. */
  async owners(): Promise<readonly string[]> {
    await makePrivateFolder(this.#root);
    const entries = await unlessMissing(readdir(this.#root, { withFileTypes: true }), []);
    return entries.filter((entry) => entry.isDirectory() && OWNER.test(entry.name)).map(({ name }) => name);
  }

  /** Deletes half-written files after a power cut or a kill: bytes without a record, drafts. Newer files may still be in progress. */
  async removeStrays(owner: string, before: UnixMs): Promise<void> {
    const folder = join(this.#root, owner);
    const shown = new Set((await this.list(owner)).flatMap(({ ref: { id } }) => [id + RECORD, id + CONTENT]));
    const names = (await unlessMissing(readdir(folder), [])).filter((name) => FILE.test(name));
    for (const name of names) if (!shown.has(name)) await removeOld(join(folder, name), before);
  }

  #path(owner: string, id: string): string {
    return join(this.#root, owner, id);
  }
}
