/**
 * Packs the four packages and checks the tarballs for npm, Node and TypeScript.
 *
 *   npm run check:packages
 *
 * Exit 1 with a line for each finding of publint or "are the types wrong".
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { packEngine, packModel, packNotesPlugin, packPlugin } from "./pack.ts";

/** The package is ESM, which every supported Node can require; older resolution modes do not support `exports`. */
const NOT_FOR_US = new Set(["CJSResolvesToESM", "NoResolution:node10"]);

export async function packageProblems(tarball: string): Promise<readonly string[]> {
  const bytes = new Uint8Array(await readFile(tarball));
  const name = basename(tarball);
  return [...(await byPublint(bytes)), ...(await byTypes(bytes))].map((problem) => `${name}: ${problem}`);
}

async function byPublint({ buffer }: Uint8Array<ArrayBuffer>): Promise<readonly string[]> {
  const { messages, pkg = {} } = await publint({ pack: { tarball: buffer }, strict: true });
  return messages.map((message) => formatMessage(message, pkg, { color: false }) ?? message.code);
}

async function byTypes(bytes: Uint8Array): Promise<readonly string[]> {
  const result = await checkPackage(createPackageFromTarballData(bytes));
  if (result.types === false) return []; // the plugins, which only OpenClaw loads, and the model, which has no code
  return result.problems.flatMap((problem) => {
    const where = "resolutionKind" in problem ? problem.resolutionKind : "";
    const isFine = NOT_FOR_US.has(problem.kind) || NOT_FOR_US.has(`${problem.kind}:${where}`);
    return isFine ? [] : [`${problem.kind} ${where} ${"entrypoint" in problem ? problem.entrypoint : ""}`];
  });
}

async function main(): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "helmdeck-packages-"));
  try {
    const tarballs: string[] = [];
    for (const pack of [packModel, packEngine, packPlugin, packNotesPlugin])
      tarballs.push(await pack(folder));
    const problems = (await Promise.all(tarballs.map(packageProblems))).flat();
    for (const problem of problems) console.error(problem);
    return problems.length === 0 ? 0 : 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) process.exitCode = await main();
