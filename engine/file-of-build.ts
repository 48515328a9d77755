/** Finds a file of this build that another thread or process runs. */
import { existsSync } from "node:fs";

/** By its name in the build. It lies beside the module that asks (its `import.meta.url`), or beside the folder of chunks that this is in. */
export function fileOfBuild(name: string, asker: string): URL {
  const file = `${name}${/\.\w+$/.exec(asker)?.[0] ?? ".js"}`;
  const beside = new URL(`./${file}`, asker);
  return existsSync(beside) ? beside : new URL(`../${file}`, asker);
}
