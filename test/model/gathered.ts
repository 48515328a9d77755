/** The model's files in one folder, gathered from the clone. */
import { existsSync } from "node:fs";
import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { MODEL_FILES, MULTILINGUAL_FILES } from "../../model/artefact.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const ARTEFACT = join(ROOT, "model", "artefact");
/** Its files are not in the repository: `model/artefact/README.md` says how they are made. */
export const HAS_MULTILINGUAL = MULTILINGUAL_FILES.every(({ name }) => existsSync(join(ARTEFACT, name)));

export async function gatherMultilingual(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  for (const { name } of MULTILINGUAL_FILES) await copyFile(join(ARTEFACT, name), join(folder, name));
  return folder;
}

/** Where the clone has each file: the runtime comes with the package. */
export async function gatherModel(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  for (const { name } of MODEL_FILES) {
    const from = name.endsWith(".wasm") ? "node_modules/onnxruntime-web/dist" : "model/artefact";
    await copyFile(join(ROOT, from, name), join(folder, name));
  }
  return folder;
}
