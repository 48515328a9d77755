/**
 * Searches every byte of every file in some folders for byte strings, and prints the matches. Runs in its own process, because
 * reading a database next to an open store would release that store's locks.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { say } from "./say.ts";

const [needlesFile = "", ...folders] = process.argv.slice(2);
const needles: readonly { readonly name: string; readonly base64: string }[] = JSON.parse(
  readFileSync(needlesFile, "utf8"),
);
const searched = needles.map(({ name, base64 }) => ({ name, bytes: Buffer.from(base64, "base64") }));
const hits: string[] = [];
const files: string[] = [];
for (const folder of folders) {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const content = readFileSync(join(entry.parentPath, entry.name));
    files.push(`${entry.name} ${content.byteLength}`);
    for (const { name, bytes } of searched) if (content.includes(bytes)) hits.push(`${entry.name}: ${name}`);
  }
}
say({ hits, files });
