/** The files of the artifact store: a folder per owner; per artifact its bytes and a record, which is written last. */
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod/mini";
import { makePrivateFolder, placeOnce, unlessMissing } from "../../engine/private-file.ts";
import type { UnixMs } from "../../engine/store/memory-store.ts";
import type { ArtifactRef } from "../engine/pack-contract.ts";

export interface KeptArtifact {
  readonly ref: ArtifactRef;
  readonly createdAt: UnixMs;
}

const RECORD = ".json";
const CONTENT = ".bin";
const OWNER = /^[0-9a-f]{64}$/;

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

/** Owners and ids must be plain names; the store ensures this. */
export class ArtifactFolder {
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
    const record = recordSchema.safeParse(jsonOf(bytes));
    return record.success && record.data.ref.id === id ? record.data : undefined;
  }

  async readContent(owner: string, id: string): Promise<Uint8Array | undefined> {
    return unlessMissing(readFile(this.#path(owner, id) + CONTENT), undefined);
  }

  async list(owner: string): Promise<readonly KeptArtifact[]> {
    const names = await unlessMissing(readdir(join(this.#root, owner)), []);
    const ids = names.filter((name) => name.endsWith(RECORD)).map((name) => name.slice(0, -RECORD.length));
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
    return (await unlessMissing(readdir(this.#root), [])).filter((name) => OWNER.test(name));
  }

  /** Deletes half-written files after a power cut or a kill: bytes without a record, drafts. Newer files may still be in progress. */
  async removeStrays(owner: string, before: UnixMs): Promise<void> {
    const folder = join(this.#root, owner);
    const shown = new Set((await this.list(owner)).flatMap(({ ref: { id } }) => [id + RECORD, id + CONTENT]));
    for (const name of (await unlessMissing(readdir(folder), [])).filter((each) => !shown.has(each))) {
      const file = await stat(join(folder, name)).catch(() => undefined);
      if (file?.isFile() && file.mtimeMs < before) await rm(join(folder, name), { force: true });
    }
  }

  #path(owner: string, id: string): string {
    return join(this.#root, owner, id);
  }
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return undefined;
  }
}
