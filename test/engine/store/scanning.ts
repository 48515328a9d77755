/** Searches our files for content that must not be there. */
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { childPath, spawnChild } from "./processes.ts";
import { makeTempFolder } from "./sqlite-rig.ts";

export interface Needle {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface Scan {
  /** "<file>: <needle>" for each needle found in a file. */
  readonly hits: readonly string[];
  /** "<file> <size>" for each file read. */
  readonly files: readonly string[];
}

/** Searches every file in the folders, in another process. */
export async function scanFiles(folders: readonly string[], needles: readonly Needle[]): Promise<Scan> {
  const elsewhere = await makeTempFolder();
  try {
    const needlesFile = join(elsewhere, "needles.json");
    const asJson = needles.map(({ name, bytes }) => ({
      name,
      base64: Buffer.from(bytes).toString("base64"),
    }));
    await writeFile(needlesFile, JSON.stringify(asJson));
    const { hits, files } = await spawnChild(childPath("scan-files.ts"), [needlesFile, ...folders]).result();
    return { hits: listOfText(hits), files: listOfText(files) };
  } finally {
    await rm(elsewhere, { recursive: true, force: true });
  }
}

/** A secret in the encodings a file could contain: plain, wide, hexadecimal, base64 at each of three alignments, backwards. */
export function formsOf(secret: string): readonly Needle[] {
  const utf8 = Buffer.from(secret);
  const hex = utf8.toString("hex");
  return [
    { name: "utf8", bytes: utf8 },
    { name: "utf16le", bytes: Buffer.from(secret, "utf16le") },
    { name: "hex", bytes: Buffer.from(hex) },
    { name: "HEX", bytes: Buffer.from(hex.toUpperCase()) },
    ...[0, 1, 2].map((offset) => ({ name: `base64 at ${offset}`, bytes: base64At(utf8, offset) })),
    { name: "reversed", bytes: Buffer.from([...secret].reverse().join("")) },
  ];
}

/** The part of the base64 encoding that does not depend on the bytes around the secret. */
function base64At(secret: Uint8Array, offset: number): Buffer {
  const encoded = Buffer.concat([new Uint8Array(offset), secret]).toString("base64");
  return Buffer.from(encoded.slice(offset === 0 ? 0 : 4, -4));
}

function listOfText(value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw new Error("the scan printed no list");
  return value.map(String);
}
