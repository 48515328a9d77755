/** The model's files in one folder, gathered from the clone. */
import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { MODEL_FILES } from "../../model/artefact.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Where the clone has each file: the runtime comes with the package. */
export async function gatherModel(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  for (const { name } of MODEL_FILES) {
    const from = name.endsWith(".wasm") ? "node_modules/onnxruntime-web/dist" : "model/artefact";
    await copyFile(join(ROOT, from, name), join(folder, name));
  }
  return folder;
}
