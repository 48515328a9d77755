/** Loads all pipelines of a server: the shipped ones and those in the operator's folder. Each is checked when loaded. */
import { constants } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { HelmdeckError } from "../../engine/errors.ts";
import { PIPELINE_FILE_BYTES, parsePipeline } from "./parse-pipeline.ts";
import type { Pipeline } from "./pipeline-contract.ts";
import { type PipelineFile, shippedPipelineFiles } from "./shipped/shipped-pipelines.ts";

const MOST_FILES = 200;

/**
 * Throws `invalid_input` with file and line if a pipeline is invalid, an id is used twice, or the folder cannot be read,
 * because a server that silently skipped a pipeline would look complete.
 */
export async function loadPipelines(options: {
  readonly packs: ReadonlySet<string>;
  /** Reads its `.yaml` and `.yml` files, not those in subfolders. */
  readonly folder?: string;
}): Promise<readonly Pipeline[]> {
  const own = options.folder === undefined ? [] : await filesIn(options.folder);
  const pipelines = new Map<string, Pipeline>();
  for (const { name, text } of [...shippedPipelineFiles(), ...own]) {
    const pipeline = parsePipeline(text, name, options.packs);
    if (pipelines.has(pipeline.id))
      throw refuse(name, `has the id ${pipeline.id}, which another pipeline has`);
    pipelines.set(pipeline.id, pipeline);
  }
  return [...pipelines.values()];
}

async function filesIn(folder: string): Promise<readonly PipelineFile[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    throw refuse(folder, "is not a folder of pipelines that can be read", error);
  });
  const names = entries
    .filter((entry) => !entry.isDirectory() && /\.ya?ml$/.test(entry.name))
    .map(({ name }) => name);
  if (names.length > MOST_FILES)
    throw refuse(folder, `has ${names.length} pipelines; the limit is ${MOST_FILES}`);
  return Promise.all(names.sort().map((name) => readBounded(join(folder, name))));
}

/** Reads at most one byte over the limit. Never waits for a pipe or a device. */
async function readBounded(path: string): Promise<PipelineFile> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      if (!(await file.stat()).isFile()) throw refuse(path, "is not a regular file");
      const { buffer, bytesRead } = await file.read(Buffer.alloc(PIPELINE_FILE_BYTES + 1));
      const text = new TextDecoder("utf-8", { fatal: true }).decode(buffer.subarray(0, bytesRead));
      return { name: path, text };
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof HelmdeckError) throw error;
    throw refuse(path, "cannot be read as UTF-8 text", error);
  }
}

function refuse(path: string, rule: string, cause?: unknown): HelmdeckError {
  return new HelmdeckError("invalid_input", `${path} ${rule}.`, { details: { file: path }, cause });
}
