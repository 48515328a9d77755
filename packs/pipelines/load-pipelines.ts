/** All pipelines of a server: those that ship and those in the operator's folder, each checked when it is loaded. */
import { constants } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { HelmdeckError } from "../../engine/index.ts";
import { PIPELINE_FILE_BYTES, parsePipeline } from "./parse-pipeline.ts";
import type { Pipeline } from "./pipeline-contract.ts";
import { type PipelineFile, shippedPipelineFiles } from "./shipped/shipped-pipelines.ts";

const MOST_FILES = 200;

/**
 * Throws `invalid_input` naming file and line when one is unsound, an id is taken twice, or the folder cannot be read:
 * a server that quietly leaves a pipeline out would look whole.
 */
export async function loadPipelines(options: {
  readonly packs: ReadonlySet<string>;
  /** Its `.yaml` and `.yml` files, those in folders below it not. */
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
    throw refuse(folder, `holds ${names.length} pipelines, and may hold ${MOST_FILES}`);
  return Promise.all(names.sort().map((name) => readBounded(join(folder, name))));
}

/** One byte more than is allowed is enough to know; a pipe or a device is never waited for. */
async function readBounded(path: string): Promise<PipelineFile> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      if (!(await file.stat()).isFile()) throw refuse(path, "is not a plain file");
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
