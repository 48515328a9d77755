/** Finds how to call `helmdeck-memory` in this shell, and how to put it on the path. Changes nothing. */
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Environment } from "./environment.ts";

const NAME = "helmdeck-memory";
/** npm and npx add these folders only to the path of the programs they run. */
const ONLY_WITH_NPM = /[/\\]node_modules[/\\]\.bin$|[/\\]node-gyp-bin$/;

export interface OwnCommand {
  /** The command as it can be typed. */
  readonly call: string;
  /** Empty if it is on the path. */
  readonly hint: readonly string[];
}

export function ownCommand({
  env,
  root,
  homeDir,
}: Pick<Environment, "env" | "root" | "homeDir">): OwnCommand {
  const folders = (env.PATH ?? "").split(delimiter).filter((folder) => !ONLY_WITH_NPM.test(folder));
  if (folders.some((folder) => canRun(join(folder, NAME)))) return { call: NAME, hint: [] };
  const program = join(root, "dist", `${NAME}.mjs`);
  if (!existsSync(join(root, "scripts", "with-deps.mjs")))
    return {
      call: `npx ${NAME}`,
      hint: [`To put the command ${NAME} on your path: npm install -g ${NAME}`],
    };
  const usual = join(homeDir, ".local", "bin");
  const needs = folders.includes(usual) ? "" : `   (and ${usual} in your PATH)`;
  return {
    call: program,
    hint: [
      `To put the command ${NAME} on your path: mkdir -p ${usual} && ln -s ${program} ${usual}/${NAME}${needs}`,
    ],
  };
}

function canRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
