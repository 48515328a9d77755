/** The final message: after an installation what to try, what to back up and how to undo it; after an uninstallation what is left. */
import { accessSync, constants, existsSync, readdirSync } from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import { findStorage } from "../app/storage-location.ts";
import { MODEL_FOLDERS } from "../model/artefact.ts";
import type { Environment } from "./environment.ts";
import { INSTALLER, MODELS_VOLUME, PLUGIN_ID } from "./install-names.ts";
import {
  type Facts,
  type OpenClawReady,
  readyDocker,
  type Target,
  targetName,
} from "./installation-facts.ts";
import { at } from "./openclaw-json.ts";
import type { Options } from "./options.ts";
import { yearAnswer } from "./plan/plan-facts.ts";

/** `facts`: from before the run. */
export function finalMessage(facts: Facts, options: Options, environment: Environment): readonly string[] {
  const { mode, purge, speakUp } = options;
  const openclaw = facts.openclaw.state === "ready" ? facts.openclaw : undefined;
  if (mode === "install" && openclaw !== undefined) {
    const isNews = yearAnswer(openclaw, facts, options) === "on";
    return afterInstalling({ ...openclaw, speakUp: speakUp ?? openclaw.speakUp }, environment, isNews);
  }
  return mode === "uninstall" ? afterUninstalling(facts, openclaw, purge, environment) : [];
}

function afterInstalling(
  openclaw: OpenClawReady,
  environment: Environment,
  keepsAYear: boolean,
): readonly string[] {
  const command = ownCommand(environment);
  return [
    "",
    "Try it:",
    '  tell your agent         "Remember that I always deploy through Konflux."',
    '  in a new conversation   "How do I deploy?"',
    `  in a shell              ${inShell(openclaw, environment, command.call)} search "how do I deploy"`,
    ...consentLines(openclaw),
    ...(keepsAYear ? renewLines(openclaw, inShell(openclaw, environment, command.call)) : []),
    ...keyLines(openclaw, command.call),
    `To undo everything: ${INSTALLER} --uninstall (your memory stays)`,
    ...command.hint,
  ];
}

/** Our own command answers in a third of a second, where it finds the same memory; OpenClaw's starts OpenClaw first. */
function inShell(openclaw: OpenClawReady, { env, homeDir }: Environment, call: string): string {
  const { target, memory, engine } = openclaw;
  const isSame =
    target.kind === "host" &&
    engine === undefined &&
    memory !== undefined &&
    memory.key !== "given" &&
    memory.databasePath === findStorage({ env, homeDir }).databasePath;
  return isSame ? call : `${inPlace(target)}openclaw helmdeck`;
}

/** OpenClaw lets a plugin see messages only with the operator's consent, which nobody else gives. */
function consentLines({ speakUp, seesConversations, target }: OpenClawReady): readonly string[] {
  if (speakUp !== "on" || seesConversations) return [];
  const path = `plugins.entries.${PLUGIN_ID}.hooks.allowConversationAccess`;
  return [
    "Memory speaks up once you allow the plugin to see your messages:",
    `  ${inPlace(target)}openclaw config set ${path} true`,
  ];
}

/** Nothing changes the ends of facts that are there but a person. */
function renewLines({ installed, memory }: OpenClawReady, call: string): readonly string[] {
  if (installed === "absent" && memory?.isThere !== true) return [];
  return [
    "New facts are kept for a year. Those that are there keep their ends; to renew them, too:",
    `  ${call} renew --all`,
  ];
}

function keyLines({ memory, target }: OpenClawReady, call: string): readonly string[] {
  if (memory?.key === "given") return ["Keep a copy of your key: without it nobody can read your memory."];
  const where = memory?.keyPath ?? `helmdeck-memory.key, in OpenClaw's state folder in ${targetName(target)}`;
  return [
    `The key is ${where}. Keep a copy in a safe place: without it nobody can read your memory.`,
    ...(memory?.key === "none" ? [`  Then run: ${call} key saved COPY. Until then doctor reminds you.`] : []),
  ];
}

function inPlace(target: Target): string {
  return target.kind === "host" ? "" : `docker exec ${target.name} `;
}

/** The folder of the plugin's version 0.1.0, which OpenClaw keeps when the package's name changes. */
const FORMER_PACKAGE = "npm/projects/openclaw-helmdeck-memory";

const FORMER_KEY = "a former key, which opens older backups";

/** Something left on the machine, with the command that deletes it. */
interface Left {
  readonly what: string;
  readonly where: string;
  readonly goesWith: string;
}

function afterUninstalling(
  facts: Facts,
  openclaw: OpenClawReady | undefined,
  purge: boolean,
  { journal }: Environment,
): readonly string[] {
  const left = [
    ...(openclaw === undefined ? [] : memoryLeft(openclaw, purge)),
    ...modelLeft(facts, purge),
    ...folderLeft(dirname(journal.folder), journal.copyPath),
  ];
  if (left.length === 0) return [];
  const lines = left.flatMap(({ what, where, goesWith }) => [`  ${what}: ${where}`, `      ${goesWith}`]);
  return ["", "What is left, and how to delete it:", ...lines];
}

function memoryLeft({ target, memory }: OpenClawReady, purge: boolean): readonly Left[] {
  const goesWith = `${INSTALLER} --uninstall --purge`;
  if (memory === undefined) {
    const where = `OpenClaw's state folder in ${targetName(target)}`;
    const what = "your memory and its key";
    return purge ? [] : [{ what, where, goesWith: `${goesWith} --openclaw ${targetName(target)}` }];
  }
  const former = join(dirname(memory.keyPath), FORMER_PACKAGE);
  const model = join(dirname(memory.keyPath), MODEL_FOLDERS);
  const files = [
    { what: "your memory", where: memory.databasePath, goesWith },
    { what: "its key, without which it cannot be read", where: memory.keyPath, goesWith },
    ...formerKeys(memory.keyPath).map((where) => ({ what: FORMER_KEY, where, goesWith })),
    { what: "the built-in model", where: model, goesWith: `rm -r "${model}"` },
    { what: "the plugin's files under its former name", where: former, goesWith: `rm -r "${former}"` },
  ];
  return files.filter(({ where }) => existsSync(where));
}

function formerKeys(keyPath: string): readonly string[] {
  const folder = dirname(keyPath);
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name.startsWith(`${basename(keyPath)}.former-`));
  return names.sort().map((name) => join(folder, name));
}

/** The sidecar's model, or the one downloaded into the operator's own Ollama. */
function modelLeft({ journal, ...facts }: Facts, purge: boolean): readonly Left[] {
  const [model, url] = ["model", "url"].map((key) => at(journal.facts, "embeddings", key));
  const docker = readyDocker(facts);
  if (journal.startedSidecar && docker !== undefined) {
    const volume = { what: "the model", where: `Docker's volume ${MODELS_VOLUME}` };
    return [
      ...(purge ? [] : [{ ...volume, goesWith: `docker volume rm ${MODELS_VOLUME}` }]),
      { what: "Ollama's image", where: docker.image, goesWith: `docker image rm ${docker.image}` },
    ];
  }
  if (typeof model !== "string" || typeof url !== "string" || journal.startedSidecar) return [];
  const goesWith = `ollama rm ${model}   (if nothing else of yours uses it)`;
  return [{ what: `the model ${model}`, where: `the Ollama at ${url}`, goesWith }];
}

function folderLeft(folder: string, copyPath: string): readonly Left[] {
  if (!existsSync(folder)) return [];
  const copy = existsSync(copyPath) ? ", and openclaw.json as it was before" : "";
  return [{ what: `the installer's lock${copy}`, where: folder, goesWith: `rm -r "${folder}"` }];
}

const NAME = "helmdeck-memory";
/** npm and npx add these folders only to the path of the programs they run. */
const ONLY_WITH_NPM = /[/\\]node_modules[/\\]\.bin$|[/\\]node-gyp-bin$/;

interface OwnCommand {
  /** The command as it can be typed. */
  readonly call: string;
  /** Empty if it is on the path. */
  readonly hint: readonly string[];
}

/** Finds how to call `helmdeck-memory` in this shell, and how to put it on the path. Changes nothing. */
function ownCommand({ env, root, homeDir }: Pick<Environment, "env" | "root" | "homeDir">): OwnCommand {
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
