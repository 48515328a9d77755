/**
 * The states of files that a power cut may leave on disk.
 *
 * Synced data is present. Each later write may be present, absent or partial, in sectors of 512 bytes. The same holds for a
 * file's length and modification time. A name is present once its folder was synced. Of the later changes to a folder, any
 * number of the earliest may be present. POSIX guarantees no more than this; common file systems guarantee more.
 */
import { mkdir, utimes, writeFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import type { Random } from "./random.ts";
import type { Call } from "./traced-calls.ts";

const SECTOR_BYTES = 512;

/** Files on the disk after the power cut, by path relative to the root. */
export type Image = ReadonlyMap<string, { readonly bytes: Buffer; readonly modifiedAt: number | undefined }>;

type Change = { readonly at: number; readonly bytes: Buffer } | { readonly size: number };

class ModelledFile {
  #synced: Buffer = Buffer.alloc(0);
  #later: Change[] = [];
  #size = 0;
  readonly #times: number[] = [];

  write(at: number, bytes: Buffer): void {
    this.#later.push({ at, bytes });
    this.#size = Math.max(this.#size, at + bytes.length);
  }

  truncate(size: number): void {
    this.#later.push({ size });
    this.#size = size;
  }

  setFileTime(time: number): void {
    this.#times.push(time);
  }

  sync(): void {
    for (const change of this.#later) this.#synced = applied(this.#synced, change);
    this.#later = [];
  }

  get size(): number {
    return this.#size;
  }

  afterCut(random: Random): { readonly bytes: Buffer; readonly modifiedAt: number | undefined } {
    const survives = drawSurvival(random, this.#later.length);
    let bytes = this.#synced;
    for (const [n, change] of this.#later.entries()) bytes = afterCut(bytes, change, survives(n), random);
    return { bytes, modifiedAt: this.#times[random.below(this.#times.length + 1)] };
  }
}

class ModelledFolder {
  readonly #synced = new Map<string, Node>();
  #later: (readonly [name: string, node: Node | undefined])[][] = [];
  readonly #now = new Map<string, Node>();

  get(name: string): Node | undefined {
    return this.#now.get(name);
  }

  /** Changes several names at once, like a rename. */
  change(...changes: readonly (readonly [name: string, node: Node | undefined])[]): void {
    this.#later.push([...changes]);
    setNames(this.#now, changes);
  }

  sync(): void {
    for (const changes of this.#later) setNames(this.#synced, changes);
    this.#later = [];
  }

  afterCut(random: Random): ReadonlyMap<string, Node> {
    const names = new Map(this.#synced);
    for (const changes of this.#later.slice(0, random.below(this.#later.length + 1)))
      setNames(names, changes);
    return names;
  }
}

type Node = ModelledFile | ModelledFolder;

function setNames(
  names: Map<string, Node>,
  changes: readonly (readonly [name: string, node: Node | undefined])[],
): void {
  for (const [name, node] of changes) {
    if (node === undefined) names.delete(name);
    else names.set(name, node);
  }
}

export class ModelledDisk {
  readonly #rootPath: string;
  /** Leaves out the log's index: the next process that opens the database rebuilds it. */
  readonly #isLeftOut: (path: string) => boolean;
  readonly #root = new ModelledFolder();
  readonly #open = new Map<number, { readonly node: Node; position: number }>();

  constructor(rootPath: string, isLeftOut: (path: string) => boolean) {
    this.#rootPath = rootPath;
    this.#isLeftOut = isLeftOut;
  }

  apply(call: Call): void {
    if ("fd" in call) this.#applyToOpen(call);
    else this.#applyToNames(call);
  }

  afterCut(random: Random): Image {
    const image = new Map<string, { bytes: Buffer; modifiedAt: number | undefined }>();
    const walk = (folder: ModelledFolder, path: string): void => {
      for (const [name, node] of folder.afterCut(random)) {
        if (node instanceof ModelledFolder) walk(node, join(path, name));
        else image.set(join(path, name), node.afterCut(random));
      }
    };
    walk(this.#root, "");
    return image;
  }

  #applyToOpen(call: Extract<Call, { fd: number }>): void {
    if (call.call === "open") {
      this.#opened(call);
      return;
    }
    const open = this.#open.get(call.fd);
    if (open === undefined) return;
    if (call.call === "close") this.#open.delete(call.fd);
    if (call.call === "sync") open.node.sync();
    if (!(open.node instanceof ModelledFile)) return;
    if (call.call === "truncate") open.node.truncate(call.size);
    if (call.call !== "write") return;
    open.node.write(call.at ?? open.position, call.bytes);
    if (call.at === undefined) open.position += call.bytes.length;
  }

  #opened({ fd, path, makes }: Extract<Call, { call: "open" }>): void {
    this.#open.delete(fd);
    const place = this.#find(path);
    if (place === undefined) return;
    const { folder, name } = place;
    const node = name === "" ? folder : (folder.get(name) ?? (makes ? new ModelledFile() : undefined));
    if (node === undefined) return;
    if (name !== "" && folder.get(name) === undefined) folder.change([name, node]);
    this.#open.set(fd, { node, position: 0 });
  }

  #applyToNames(call: Exclude<Call, { fd: number }>): void {
    const place = this.#find(call.path);
    if (place === undefined) return;
    const { folder, name } = place;
    const node = folder.get(name);
    if (call.call === "mkdir") folder.change([name, new ModelledFolder()]);
    if (call.call === "unlink") folder.change([name, undefined]);
    if (call.call === "times" && node instanceof ModelledFile) node.setFileTime(call.modifiedAt);
    if (call.call !== "link" && call.call !== "rename") return;
    const to = this.#find(call.to);
    if (to?.folder !== folder) throw new Error(`not modelled: ${call.call} ${call.path} to ${call.to}`);
    folder.change([to.name, node], ...(call.call === "rename" ? [[name, undefined] as const] : []));
  }

  /** Undefined for the root, which has no name, and for paths outside of it. */
  #find(path: string): { readonly folder: ModelledFolder; readonly name: string } | undefined {
    const inside = relative(this.#rootPath, path);
    if (inside.startsWith("..") || this.#isLeftOut(path)) return undefined;
    const names = inside.split(sep);
    const name = names.pop() ?? "";
    let folder = this.#root;
    for (const parent of names) {
      const node = folder.get(parent);
      if (!(node instanceof ModelledFolder))
        throw new Error(`not modelled: ${path}, in no folder known here`);
      folder = node;
    }
    return { folder, name };
  }
}

export async function writeImage(image: Image, root: string): Promise<void> {
  for (const [path, { bytes, modifiedAt }] of image) {
    const file = join(root, path);
    await mkdir(join(file, ".."), { recursive: true, mode: 0o700 });
    await writeFile(file, bytes, { mode: 0o600 });
    if (modifiedAt !== undefined) await utimes(file, modifiedAt / 1_000, modifiedAt / 1_000);
  }
}

/** Draws which later changes are present: all, none, the earliest, or any. */
function drawSurvival(random: Random, changes: number): (n: number) => boolean {
  const kind = random.next();
  if (kind < 0.1) return () => true;
  if (kind < 0.25) return () => false;
  if (kind < 0.5) {
    const first = random.below(changes + 1);
    return (n) => n < first;
  }
  const share = random.next();
  return () => random.chance(share);
}

function afterCut(bytes: Buffer, change: Change, survives: boolean, random: Random): Buffer {
  if ("size" in change) return survives ? applied(bytes, change) : bytes;
  if (survives) return random.chance(0.7) ? applied(bytes, change) : torn(bytes, change, random);
  // The file's length may have changed even if the bytes were not written.
  const end = change.at + change.bytes.length;
  return end > bytes.length && random.chance(0.2) ? applied(bytes, { size: end }) : bytes;
}

/** Keeps or drops each sector of a write. */
function torn(
  bytes: Buffer,
  { at, bytes: written }: Extract<Change, { at: number }>,
  random: Random,
): Buffer {
  let result = bytes;
  for (let start = at; start < at + written.length; ) {
    const end = Math.min(at + written.length, (Math.floor(start / SECTOR_BYTES) + 1) * SECTOR_BYTES);
    if (random.chance(0.5))
      result = applied(result, { at: start, bytes: written.subarray(start - at, end - at) });
    start = end;
  }
  return result;
}

function applied(bytes: Buffer, change: Change): Buffer {
  const size = "size" in change ? change.size : Math.max(bytes.length, change.at + change.bytes.length);
  const result = Buffer.alloc(size);
  bytes.copy(result);
  if ("at" in change) change.bytes.copy(result, change.at);
  return result;
}
