/** The installer's command line. */
import { homedir } from "node:os";
import { Command, InvalidArgumentError, Option } from "commander";
import { checkEngineAddress } from "../app/remote/engine/engine-address.ts";
import { defined } from "../engine/defined.ts";
import { isHelmdeckError } from "../engine/errors.ts";
import { DEFAULT_MODEL, INSTALLER } from "./install-names.ts";
import type { AuditTools, EngineChoice, Target, YesNo } from "./installation-facts.ts";
import type { Choices } from "./journal.ts";

/** The options of a run, completed. */
export interface Options extends CommonOptions, Choices {
  /** The options taken over from the last installation, as they are typed. */
  readonly kept: readonly string[];
  /** Nobody has chosen yet how facts are embedded: a person is asked, or the machine decides. */
  readonly isEmbeddingOpen: boolean;
}

/** The options on the command line. An undefined choice was not given. */
export interface GivenOptions extends CommonOptions {
  readonly embeddings: Choices["embeddings"] | undefined;
  readonly model: string | undefined;
  readonly gpu: boolean | undefined;
  readonly notes: Choices["notes"];
}

interface CommonOptions {
  readonly mode: "install" | "verify" | "repair" | "uninstall";
  /** Undefined: detected automatically. */
  readonly openclaw: Target | undefined;
  readonly yes: boolean;
  readonly dryRun: boolean;
  readonly purge: boolean;
  readonly json: boolean;
  /** Which tools are recorded; undefined: a person is asked, once. */
  readonly auditTools: AuditTools | undefined;
  /** Recall unasked and kept requests; undefined: a person is asked, once. */
  readonly speakUp?: YesNo;
  /** A year as the default life of facts; undefined: a person is asked, once, and nobody else. */
  readonly keepAYear?: YesNo;
  /** The engine that keeps memory; undefined: unchanged. */
  readonly engine: EngineChoice | undefined;
  /** The operator's own settings that may be replaced, by the operator's answer. */
  readonly replaces: readonly ("search" | "facts")[];
}

/** The ways to embed that `--embeddings` names. */
const WAYS = ["builtin", "sidecar", "none"] as const;
const NOTES = ["builtin", "none"] as const;

interface Parsed {
  readonly embeddings?: (typeof WAYS)[number] | false;
  readonly embeddingsUrl?: string;
  readonly embeddingModel?: string;
  readonly openclaw?: Target;
  readonly gpu?: boolean;
  readonly notes?: (typeof NOTES)[number];
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly uninstall?: boolean;
  readonly purge?: boolean;
  readonly verify?: boolean;
  readonly repair?: boolean;
  readonly json?: boolean;
  readonly auditTools?: AuditTools;
  readonly engine?: string;
  readonly tokenFile?: EngineChoice["tokens"];
  readonly engineFingerprint?: string;
}

const AFTER_HELP = `
Exit codes: 0 done · 1 invalid command line, or you declined · 2 something is missing on this machine
            3 the embedding service · 4 OpenClaw · 5 the smoke test failed

Examples:
  $ ${INSTALLER} --dry-run                  show what would be done
  $ ${INSTALLER} --yes                      do it, without questions
  $ ${INSTALLER} --embeddings builtin       search by meaning with the built-in model, no Docker needed
  $ ${INSTALLER} --notes builtin            … OpenClaw's own notes, too
  $ ${INSTALLER} --embeddings sidecar       … or with the sidecar, which knows more languages
  $ ${INSTALLER} --no-embeddings            search by keywords only
  $ ${INSTALLER} --embeddings-url http://127.0.0.1:11434
  $ ${INSTALLER} --engine https://memory.example --token-file ~/main.token
                                            an engine elsewhere keeps memory: no sidecar, nothing stored here
  $ ${INSTALLER} --uninstall                undo everything; your memory stays
  $ ${INSTALLER} --repair                   if OpenClaw finds no new notes after version 0.1 was uninstalled

A later run keeps the options of the last installation, and its HELMDECK_EMBEDDINGS_IMAGE and _MEMORY, and names them.
An option that you give replaces the kept one.
See docs/howto/openclaw-memory.md`;

/** Throws commander's CommanderError, also for --help, which commander prints itself. */
export function parseOptions(
  args: readonly string[],
  output: { readonly write: (text: string) => void },
): GivenOptions {
  const command = declare(output);
  command.parse([...args], { from: "user" });
  const parsed = command.opts<Parsed>();
  refuseContradictions(parsed, command);
  return {
    mode: modeOf(parsed),
    embeddings: embeddingsOf(parsed),
    model: parsed.embeddingModel,
    openclaw: parsed.openclaw,
    gpu: parsed.gpu,
    notes: parsed.notes,
    yes: parsed.yes === true,
    dryRun: parsed.dryRun === true,
    purge: parsed.purge === true,
    json: parsed.json === true,
    auditTools: parsed.auditTools,
    engine: engineOf(parsed, command),
    replaces: [],
  };
}

function modeOf({ uninstall, verify, repair }: Parsed): Options["mode"] {
  if (uninstall) return "uninstall";
  if (verify) return "verify";
  return repair ? "repair" : "install";
}

function declare({ write }: { readonly write: (text: string) => void }): Command {
  return new Command(INSTALLER)
    .description(
      "Installs helmdeck memory in OpenClaw, with semantic search. Shows its plan first, and tests the result.",
    )
    .addOption(
      new Option(
        "--embeddings [which]",
        "What embeds facts: the model that comes with it, Ollama in Docker, or nothing. Asked once on a terminal; by default the sidecar where Docker can be used, else the built-in model. Without a value: sidecar.",
      )
        .choices(WAYS)
        .preset("sidecar"),
    )
    .option(
      "--no-embeddings",
      "The same as --embeddings none: nothing is embedded, and search uses keywords.",
    )
    .option("--embeddings-url <url>", "Use an Ollama that is already running.", httpUrl)
    .option("--embedding-model <model>", `The embedding model; ${DEFAULT_MODEL} by default.`, modelName)
    .addOption(
      new Option(
        "--notes <which>",
        "What embeds OpenClaw's own notes beside the built-in model: the same model, or nothing. Asked once on a terminal; by default nothing. builtin means --embeddings builtin, too.",
      ).choices(NOTES),
    )
    .option("--openclaw <where>", "host, or container:NAME; detected by default.", target)
    .addOption(
      new Option(
        "--audit-tools <whose>",
        "Record calls of all tools, or of helmdeck's only; asked once on a terminal.",
      ).choices(["all", "helmdeck"]),
    )
    .option("--engine <url>", "Keep memory on an engine on another server; needs --token-file.", httpUrl)
    .option(
      "--token-file <file>",
      "File with the engine's token for the agent main, or AGENT=FILE for another agent; repeatable. Only you may read it (0600); the path is as seen by OpenClaw.",
      tokenFile,
    )
    .option(
      "--engine-fingerprint <sha256>",
      "Fingerprint of the engine's certificate, if no authority signed it.",
      fingerprint,
    )
    .option("--gpu", "Let the sidecar use this machine's NVIDIA cards.")
    .option("--no-gpu", "Let it use the processor only; the default.")
    .option("--yes", "Do not ask; your own settings are then kept.")
    .option("--dry-run", "Print the plan and change nothing.")
    .option("--verify", "Only run the smoke test.")
    .option(
      "--repair",
      "Only repair the built-in model, and OpenClaw's index of its own notes if it belongs to a removed service.",
    )
    .option("--uninstall", "Undo the installation; your memory stays.")
    .addOption(
      new Option("--purge", "With --uninstall: also delete your memory, its key and the downloaded model."),
    )
    .option("--json", "Print one JSON object on standard output.")
    .helpOption("-h, --help", "Show this help.")
    .addHelpText("after", AFTER_HELP)
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({ writeOut: write, writeErr: write, outputError: () => {} });
}

function refuseContradictions(parsed: Parsed, command: Command): void {
  const { uninstall, purge, verify, repair, auditTools } = parsed;
  const both = (left: string, right: string) => command.error(`${left} and ${right} exclude each other.`);
  refuseTwoServices(parsed, both);
  if (parsed.notes !== undefined && modeOf(parsed) !== "install")
    command.error("--notes is only for an installation.");
  if (uninstall && verify) both("--uninstall", "--verify");
  if (uninstall && repair) both("--uninstall", "--repair");
  if (verify && repair) both("--verify", "--repair");
  if (auditTools !== undefined && modeOf(parsed) !== "install")
    command.error("--audit-tools is only for an installation.");
  if (purge && !uninstall) command.error("--purge needs --uninstall.");
}

function refuseTwoServices(
  { embeddings, embeddingsUrl, gpu, notes }: Parsed,
  both: (left: string, right: string) => never,
): void {
  if (embeddings !== undefined && embeddingsUrl !== undefined)
    both(embeddings ? "--embeddings" : "--no-embeddings", "--embeddings-url");
  if (gpu && ((embeddings !== undefined && embeddings !== "sidecar") || embeddingsUrl !== undefined))
    both("--gpu", "a run without the sidecar");
  const isElsewhere = gpu || embeddingsUrl !== undefined || (embeddings ?? "builtin") !== "builtin";
  if (notes === "builtin" && isElsewhere) both("--notes builtin", "a run without the built-in model");
}

function refuseBesideEngine(parsed: Parsed, command: Command): void {
  const { embeddings, embeddingsUrl, gpu, notes } = parsed;
  const beside =
    embeddingsUrl !== undefined
      ? "--embeddings-url"
      : embeddings && embeddings !== "none"
        ? "--embeddings"
        : gpu
          ? "--gpu"
          : notes === "builtin"
            ? "--notes builtin"
            : undefined;
  if (beside !== undefined) command.error(`--engine and ${beside} exclude each other.`);
  if (modeOf(parsed) !== "install") command.error("--engine is only for an installation.");
}

/** The plugin would refuse an unusable engine; here it is refused before anything changes. */
function engineOf(parsed: Parsed, command: Command) {
  const { engine, tokenFile: tokens, engineFingerprint } = parsed;
  if (engine === undefined) {
    if ((tokens ?? engineFingerprint) !== undefined)
      command.error("--token-file and --engine-fingerprint need --engine.");
    return undefined;
  }
  refuseBesideEngine(parsed, command);
  if (tokens === undefined) return command.error("--engine needs a token: --token-file FILE.");
  const choice = { url: engine, tokens, ...defined({ fingerprint256: engineFingerprint }) };
  try {
    checkEngineAddress(choice, (field) => (field === "url" ? "--engine" : "--engine-fingerprint"));
  } catch (error) {
    if (isHelmdeckError(error)) return command.error(error.message);
    throw error;
  }
  return choice;
}

function tokenFile(text: string, before: EngineChoice["tokens"] = {}): EngineChoice["tokens"] {
  const [, agent = "main", file = ""] = /^(?:([a-z0-9][a-z0-9_-]{0,63})=)?(.+)$/.exec(text) ?? [];
  const path = file.replace(/^~(?=\/)/, homedir());
  if (!path.startsWith("/"))
    throw new InvalidArgumentError(
      "Write FILE or AGENT=FILE, with the file's absolute path, such as /home/me/main.token.",
    );
  if (Object.hasOwn(before, agent))
    throw new InvalidArgumentError(`There is a token for ${agent} already; give one per agent.`);
  return { ...before, [agent]: path };
}

function fingerprint(text: string): string {
  if (/^[0-9a-f:]{64,95}$/i.test(text)) return text;
  throw new InvalidArgumentError("Write the 64 hexadecimal digits of the certificate's SHA-256.");
}

/** With an engine, there is nothing to embed here. Graphics cards are for the sidecar, notes for the built-in model. */
function embeddingsOf({ embeddings, embeddingsUrl, engine, gpu, notes }: Parsed): GivenOptions["embeddings"] {
  if (engine !== undefined) return { kind: "none" };
  if (embeddingsUrl !== undefined) return { kind: "url", url: embeddingsUrl };
  if (embeddings === false) return { kind: "none" };
  if (embeddings !== undefined) return { kind: embeddings };
  if (gpu) return { kind: "sidecar" };
  return notes === "builtin" ? { kind: "builtin" } : undefined;
}

function httpUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain =
    url !== undefined && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
  if (!isPlain || url.search !== "" || url.hash !== "")
    throw new InvalidArgumentError("Write http://HOST:PORT, without a name or password.");
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

function modelName(text: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,199}$/.test(text))
    throw new InvalidArgumentError("Write the model's name in Ollama, such as nomic-embed-text.");
  return text;
}

function target(text: string): Target {
  if (text === "host") return { kind: "host" };
  const name = /^container:([A-Za-z0-9][A-Za-z0-9_.-]*)$/.exec(text)?.[1];
  if (name === undefined) throw new InvalidArgumentError("Write host, or container:NAME.");
  return { kind: "container", name };
}
