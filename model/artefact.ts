/**
 * The files of the built-in models, the English one and that of many languages: which they are, where they lie, and whether they are the ones that were reviewed.
 *
 * Dangers: a file that was changed, cut or exchanged would decide what is found, or run code of others. So each file's size and
 * sha256 stand here, in the build. Bytes are compared in the same read that uses them, and nothing else is ever loaded. Licences
 * travel in the package that brings the files.
 */
import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { HelmdeckError } from "../engine/errors.ts";
import {
  deadEndOf,
  isFileError,
  makePrivateFolder,
  syncFolder,
  unlessMissing,
  writeSynced,
} from "../engine/private-file.ts";

export interface ModelFile {
  readonly name: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** Weights and graph, word pieces, and the runtime of both models: `model/artefact/README.md` says where each comes from. */
export const MODEL_FILES = [
  {
    name: "model.ort",
    sizeBytes: 23_163_888,
    sha256: "4216ebdeeb7798bd6ae25749468b57c3d274f9414157b55823c0666149b4cdd1",
  },
  {
    name: "tokenizer.json",
    sizeBytes: 466_081,
    sha256: "5fd1c882abbd30517dced455a2c9768945ec726b96727927e4959348d9de550b",
  },
  {
    name: "ort-wasm-simd-threaded.wasm",
    sizeBytes: 14_239_897,
    sha256: "3398c10d07d229bd91b364548e130e0e51a8e5704b88c7c083ebbeb78842dee2",
  },
] as const satisfies readonly ModelFile[];

/** Of the model of many languages: graph, table of word pieces, and which pieces these are. No installation has it yet. */
export const MULTILINGUAL_FILES = [
  {
    name: "multilingual.onnx",
    sizeBytes: 3_444_495,
    sha256: "5e11827a4dfbd548da2529adb1ca85eb8ee95361062e8e40825a9d34327d0581",
  },
  {
    name: "multilingual-table.bin",
    sizeBytes: 36_864_000,
    sha256: "9d70b5f65e4dbd7f8b8525eae91901d53a5d48e0afe8b88cdcc0995ada0698a2",
  },
  {
    name: "multilingual-pieces.txt",
    sizeBytes: 2_663_730,
    sha256: "a6f5e14d1effc05da53a051d5e59bfd6890d8026a0cb25c7baa55f79886c5612",
  },
] as const satisfies readonly ModelFile[];

export type ModelKind = "english" | "multilingual";
export type ModelFileName = (typeof MODEL_FILES | typeof MULTILINGUAL_FILES)[number]["name"];

/** The three files together. Another version of any of them is another id. */
export const MODEL_ID = sha256(
  Buffer.from(MODEL_FILES.map(({ name, sizeBytes, sha256 }) => `${sha256} ${sizeBytes} ${name}\n`).join("")),
);

/** The npm package with these files at its root. */
export const MODEL_PACKAGE = "@helmdeck/helmdeck-memory-model";

/** How a person gets the files; for messages. */
const INSTALL_MODEL = "helmdeck-memory model install";

/** In OpenClaw's state folder, the parent of all versions. */
export const MODEL_FOLDERS = "helmdeck-memory-model";

/** Where the model lies once it is installed: `<state folder>/helmdeck-memory-model/<id>`. */
export function modelFolderIn(stateFolder: string): string {
  return join(stateFolder, MODEL_FOLDERS, MODEL_ID);
}

export type ModelCheck =
  | { readonly ok: true }
  | {
      readonly ok: false;
      /** `other-version`: only files of another version are there. */
      readonly why: "missing" | "changed" | "other-version";
      /** A sentence with the path and the remedy. */
      readonly problem: string;
    };

/** The folder to load from, and what is wrong with it. Nothing is read yet, so a changed byte shows when it is loaded. */
export type FoundModel = ModelCheck & { readonly folder: string };

/**
 * Looks into the state folder, then beside this program, by names and sizes. A damaged one is not passed over:
 * somebody has to know.
 */
export async function findModel(
  stateFolder: string,
  beside: string | undefined = packageBeside(),
): Promise<FoundModel> {
  const folder = modelFolderIn(stateFolder);
  const installed = { folder, ...(await lookAt(folder)) };
  if (installed.ok || installed.why === "changed") return installed;
  if (beside !== undefined) {
    const found = await lookAt(beside);
    if (found.ok || found.why === "changed") return { folder: beside, ...found };
  }
  const others = await readdir(dirname(folder)).catch(() => []);
  if (others.every((name) => name.startsWith("."))) return installed;
  const problem = `${dirname(folder)} has the built-in model of another version. Run: ${INSTALL_MODEL}`;
  return { folder, ok: false, why: "other-version", problem };
}

/** Reads and compares every byte. Rejects only when a file cannot be read. */
export async function checkModel(folder: string): Promise<ModelCheck> {
  const looked = await lookAt(folder);
  if (!looked.ok) return looked;
  for (const file of MODEL_FILES) {
    const bytes = await unlessMissing(readFile(join(folder, file.name)), undefined);
    if (bytes === undefined) return missing(folder, file);
    if (!isReviewed(file, bytes)) return changed(folder, file);
  }
  return { ok: true };
}

/** The bytes of one file, compared in the same read. Throws `model_missing` or `model_changed`. */
export async function readModelFile(folder: string, name: ModelFileName): Promise<Buffer<ArrayBuffer>> {
  const bytes = await unlessMissing(readFile(join(folder, name)), undefined);
  if (bytes === undefined) throw missingFile(folder, name);
  if (!isReviewed(modelFile(name), bytes)) throw changedFile(folder, name);
  return bytes;
}

export function modelFile(name: ModelFileName): ModelFile {
  const file = [...MODEL_FILES, ...MULTILINGUAL_FILES].find((one) => one.name === name);
  if (file === undefined) throw new HelmdeckError("internal", "There is no such file of the model.");
  return file;
}

export function missingFile(folder: string, name: ModelFileName): HelmdeckError {
  return new HelmdeckError("model_missing", missing(folder, modelFile(name)).problem);
}

export function changedFile(folder: string, name: ModelFileName): HelmdeckError {
  return new HelmdeckError("model_changed", changed(folder, modelFile(name)).problem);
}

export interface InstalledModel {
  readonly folder: string;
  /** False: it was there already, complete and unchanged. */
  readonly isNew: boolean;
}

/**
 * Copies the files from a folder into the state folder, readable by their owner only. Written beside and renamed, so that a killed
 * run leaves no half of a model, and a damaged one is replaced. Throws `model_missing` or `model_changed` for the source.
 */
export async function installModel(from: string, stateFolder: string): Promise<InstalledModel> {
  const folder = modelFolderIn(stateFolder);
  if ((await checkModel(folder)).ok) return { folder, isNew: false };
  const above = dirname(folder);
  const draft = join(above, `.${MODEL_ID}.${randomBytes(6).toString("hex")}.tmp`);
  try {
    await makePrivateFolder(draft);
    for (const { name } of MODEL_FILES) await writeSynced(join(draft, name), await readModelFile(from, name));
    await syncFolder(draft);
    await replaceFolder(draft, folder);
    await syncFolder(above);
  } finally {
    await rm(draft, { recursive: true, force: true }).catch(() => undefined);
  }
  const written = await checkModel(folder);
  if (!written.ok) throw new HelmdeckError("model_changed", written.problem);
  return { folder, isNew: true };
}

/** Two processes may install at once: the second finds a complete folder, which is as good as its own. */
async function replaceFolder(draft: string, folder: string): Promise<void> {
  if (await renamed(draft, folder)) return;
  if ((await checkModel(folder)).ok) return;
  await rm(folder, { recursive: true, force: true });
  if (!(await renamed(draft, folder)) && !(await checkModel(folder)).ok)
    throw new HelmdeckError(
      "store_unavailable",
      `The folder ${folder} cannot be replaced. Remove it, then try again.`,
    );
}

async function renamed(draft: string, folder: string): Promise<boolean> {
  try {
    await rename(draft, folder);
    return true;
  } catch (error) {
    if (isFileError(error, "ENOTEMPTY", "EEXIST", "ENOTDIR")) return false;
    throw error;
  }
}

/** Names and sizes only. */
async function lookAt(folder: string): Promise<ModelCheck> {
  for (const file of MODEL_FILES) {
    const found = await stat(join(folder, file.name)).catch((error: unknown) => {
      const why = isFileError(error, "ENOENT", "ENOTDIR") ? "is not there" : deadEndOf(error);
      if (why === undefined) throw error;
      return why;
    });
    if (typeof found === "string") return missing(folder, file, found);
    if (found.size !== file.sizeBytes) return changed(folder, file);
  }
  return { ok: true };
}

function isReviewed({ sizeBytes, sha256: wanted }: ModelFile, bytes: Uint8Array): boolean {
  return bytes.length === sizeBytes && sha256(bytes) === wanted;
}

function missing(folder: string, { name }: ModelFile, why = "is not there") {
  const problem = `The built-in model is not installed: ${join(folder, name)} ${why}. Run: ${INSTALL_MODEL}`;
  return { ok: false, why: "missing", problem } as const;
}

function changed(folder: string, { name }: ModelFile) {
  const problem = `${join(folder, name)} is not the file that this version was built with, so it is not loaded. Run: ${INSTALL_MODEL}`;
  return { ok: false, why: "changed", problem } as const;
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The folder that the build made beside this program, as in a clone, or the package where it would find a dependency. */
function packageBeside(): string | undefined {
  const here = dirname(fileURLToPath(import.meta.url));
  const built = join(basename(here) === "chunks" ? dirname(here) : here, "model");
  if (existsSync(join(built, MODEL_FILES[0].name))) return built;
  try {
    return dirname(createRequire(import.meta.url).resolve(`${MODEL_PACKAGE}/package.json`));
  } catch {
    return undefined;
  }
}
