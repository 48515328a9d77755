/** The bundled libraries and their licences. */
import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Metafile } from "esbuild";

const HEADING = "# Third-party notices\n\nThis build contains code from the following packages.\n";

/** Each bundled package as `name@version`. */
export async function bundledPackages(root: string, metafile: Metafile): Promise<readonly string[]> {
  return Promise.all(
    foldersIn(metafile).map(async (folder) => {
      const { name, version } = JSON.parse(await readFile(join(root, folder, "package.json"), "utf8"));
      return `${name}@${version}`;
    }),
  );
}

/** One section per bundled package, sorted by name, with its licence text. Throws if a package has none. */
export async function noticesFor(root: string, metafile: Metafile): Promise<string> {
  const sections = await Promise.all(foldersIn(metafile).map((folder) => noticeOf(join(root, folder))));
  return sections.length === 0 ? `${HEADING}\nNone.\n` : [HEADING, ...sections].join("\n");
}

function foldersIn(metafile: Metafile): readonly string[] {
  return [...new Set(filesIn(metafile).flatMap(packageFolder))].sort();
}

/** The files that are really in the output; the bundler reads many more. */
function filesIn({ outputs }: Metafile): string[] {
  const inputs = Object.values(outputs).flatMap((output) => Object.entries(output.inputs));
  return inputs.flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : []));
}

function packageFolder(input: string): string[] {
  const match = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input);
  return match?.[1] === undefined ? [] : [match[1]];
}

/** npm's packages of onnxruntime have no licence; this one is in its Python package. */
const ONNXRUNTIME_LICENCE = fileURLToPath(
  new URL("../../model/artefact/onnxruntime-LICENSE.txt", import.meta.url),
);

async function noticeOf(folder: string): Promise<string> {
  const { name, version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const [found] = globSync("{LICEN[CS]E,licen[cs]e,COPYING}*", { cwd: folder });
  if (found === undefined && typeof license !== "string")
    throw new Error(`${name} has no licence to pass on.`);
  const own = found === undefined ? undefined : join(folder, found);
  const file = own ?? (/^onnxruntime-/.test(name) ? ONNXRUNTIME_LICENCE : undefined);
  const text = file === undefined ? `Licensed under ${license}.` : (await readFile(file, "utf8")).trim();
  return `## ${name} ${version} (${license})\n\n${text}\n`;
}
