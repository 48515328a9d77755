/** The pipelines that ship: the YAML files of this folder, which the build puts into the bundle. */
import { readdirSync, readFileSync } from "node:fs";

export interface PipelineFile {
  readonly name: string;
  readonly text: string;
}

/** Given by the build; absent when the program runs from its sources. */
declare const __HELMDECK_PIPELINES__: readonly PipelineFile[] | undefined;

export function shippedPipelineFiles(): readonly PipelineFile[] {
  if (typeof __HELMDECK_PIPELINES__ !== "undefined") return __HELMDECK_PIPELINES__;
  const folder = new URL(".", import.meta.url);
  return readdirSync(folder)
    .filter((name) => name.endsWith(".yaml"))
    .sort()
    .map((name) => ({ name, text: readFileSync(new URL(name, folder), "utf8") }));
}
