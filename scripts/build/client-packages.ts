/** Writes the packages for coding agents, each in a folder of its client's name. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CLIENT_PACKAGES, type PackageFiles } from "../../cli/clients/client-packages.ts";

export async function buildClientPackages(folder: string): Promise<void> {
  for (const [client, files] of Object.entries(CLIENT_PACKAGES))
    await writeFiles(join(folder, client), files());
}

async function writeFiles(folder: string, files: PackageFiles): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}
