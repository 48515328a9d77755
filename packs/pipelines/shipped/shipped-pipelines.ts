/** The shipped pipelines: this folder's YAML files, which the build includes in the bundle. */
import { readdirSync, readFileSync } from "node:fs";

export interface PipelineFile {
  readonly name: string;
  readonly text: string;
}

/** Set by the build; absent when running from source. */
declare const __HELMDECK_PIPELINES__: readonly PipelineFile[] | undefined;

export function shippedPipelineFiles(): readonly PipelineFile[] {
  if (typeof __HELMDECK_PIPELINES__ !== "undefined") return __HELMDECK_PIPELINES__;
  const folder = new URL(".", import.meta.url);
  return readdirSync(folder)
    .filter((name) => name.endsWith(".yaml"))
    .sort()
    .map((name) => ({ name, text: readFileSync(new URL(name, folder), "utf8") }));
}
