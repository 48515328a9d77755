/** The published package of the built-in model: weights, tokenizer, WebAssembly, licences and checksums. It has no code. */
import { createHash } from "node:crypto";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { MODEL_FILES, MODEL_PACKAGE } from "../../model/artefact.ts";
import { repositoryFields } from "./repository.ts";

/** Each file of the package, and where it comes from. The runtime's npm package has no licence; its Python package has these. */
const COPIED: Readonly<Record<string, string>> = {
  "model.ort": "model/artefact/model.ort",
  "tokenizer.json": "model/artefact/tokenizer.json",
  "ort-wasm-simd-threaded.wasm": "node_modules/onnxruntime-web/dist/ort-wasm-simd-threaded.wasm",
  LICENSE: "LICENSE",
  "onnxruntime-LICENSE.txt": "model/artefact/onnxruntime-LICENSE.txt",
  "onnxruntime-ThirdPartyNotices.txt": "model/artefact/onnxruntime-ThirdPartyNotices.txt",
  "README.md": "model/artefact/PACKAGE.md",
};
const CHECKSUMS = "SHA256SUMS";

/** Copies the files. Throws if one is not the file whose checksum the programs know. */
export async function buildModelPackage(
  root: string,
  folder: string,
  { version }: { readonly version: string },
): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, source] of Object.entries(COPIED)) await cp(join(root, source), join(folder, name));
  const sums = await Promise.all(MODEL_FILES.map((file) => checksumLine(folder, file)));
  await writeFile(join(folder, CHECKSUMS), sums.join(""));
  await writeFile(join(folder, "package.json"), `${JSON.stringify(manifest(version), null, 2)}\n`);
}

async function checksumLine(folder: string, { name, sha256 }: (typeof MODEL_FILES)[number]): Promise<string> {
  const found = createHash("sha256")
    .update(await readFile(join(folder, name)))
    .digest("hex");
  if (found !== sha256)
    throw new Error(`${name} has the checksum ${found}, not ${sha256} (model/artefact.ts).`);
  return `${sha256}  ${name}\n`;
}

function manifest(version: string) {
  return {
    name: MODEL_PACKAGE,
    version,
    description:
      "The built-in embedding model of helmdeck memory: all-MiniLM-L6-v2 in 8 bits. It has no code.",
    license: "Apache-2.0 AND MIT",
    ...repositoryFields(),
    type: "module",
    exports: { "./package.json": "./package.json" },
    files: [...Object.keys(COPIED), CHECKSUMS],
    publishConfig: { access: "public" },
  };
}
