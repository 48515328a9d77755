/**
 * The settings of `serve`, each declared once: its option, variable, entry in the settings file, rule and default.
 *
 * An option overrides a variable, a variable overrides the file, and the file overrides the default. Secrets are no settings: a
 * setting names the file that has one, and no message repeats what somebody set.
 */
import { type Command, InvalidArgumentError, Option } from "commander";
import { type CallerLimits, LIFETIME_VARIABLE, lifetimeDaysOf, quotaOfEnv } from "../app/quota.ts";
import { isSubject } from "../app/subject.ts";
import { nonEmpty } from "../commands/option-parsers.ts";
import { isHelmdeckError } from "../engine/errors.ts";
import { isRecord, jsonOf } from "../engine/json.ts";

/** A caller with limits of its own. */
export interface LimitedCaller extends CallerLimits {
  readonly subject: string;
}

type Value = string | number | boolean | LimitedCaller;

interface Setting {
  /** Empty: true or false. */
  readonly argument: string;
  readonly help: string;
  readonly env: string;
  /** Throws InvalidArgumentError with the rule. */
  readonly parse: (text: string) => Value | readonly Value[];
  readonly isList?: true;
  /** In the file a group of names, elsewhere JSON: no option. */
  readonly isGroup?: true;
  /** For help and completion. */
  readonly choices?: readonly string[];
  readonly default?: Value;
  /** A running server takes a change of it on SIGHUP. */
  readonly isLive?: true;
  /** Its option is declared elsewhere, or has a negative name. */
  readonly option?: string;
  /** Other code reads the variable too: it gets there what option or file say. */
  readonly isOfAllCommands?: true;
  /** Variables with the secret itself, or a way to it, in place of its file. */
  readonly instead?: readonly string[];
}

export const portNumber = number("a number from 0 to 65535", /^\d{1,5}$/, 65_535);
const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"];

/** Each name is that of the option and of the entry in the file. */
export const SERVE_SETTINGS: Readonly<Record<string, Setting>> = {
  host: {
    argument: "<address>",
    help: "The address to listen on.",
    env: "HELMDECK_SERVE_HOST",
    parse: nonEmpty,
    default: "127.0.0.1",
  },
  port: {
    argument: "<number>",
    help: "The port; 0 means any free one.",
    env: "HELMDECK_SERVE_PORT",
    parse: portNumber,
    default: 3_848,
  },
  "allow-host": {
    argument: "<name>",
    help: "Another host name that clients use; repeatable.",
    env: "HELMDECK_SERVE_ALLOW_HOST",
    ...{ parse: nonEmpty, isList: true, isLive: true },
  },
  "allow-origin": {
    argument: "<origin>",
    help: "A browser origin that may send requests; repeatable.",
    env: "HELMDECK_SERVE_ALLOW_ORIGIN",
    ...{ parse: nonEmpty, isList: true, isLive: true },
  },
  "public-origin": {
    argument: "<origin>",
    help: "The address behind a proxy: https://deck.example, or with a path: https://example.org/deck.",
    env: "HELMDECK_SERVE_PUBLIC_ORIGIN",
    parse: publicAddress,
  },
  pages: {
    argument: "",
    option: "--no-pages",
    help: "Do not serve the pages at /.",
    env: "HELMDECK_SERVE_PAGES",
    parse: truth,
    default: true,
  },
  "rate-limit": {
    argument: "<count>",
    help: "Requests a minute for each caller; 0: no limit.",
    env: "HELMDECK_SERVE_RATE_LIMIT",
    ...{ parse: number("a whole number from 0", /^\d{1,7}$/), default: 6_000, isLive: true },
  },
  limits: {
    argument: "",
    option: "",
    help: "Of single callers, by name: `rate` (requests a minute), `entries` and `bytes` of values in place of what all may.",
    env: "HELMDECK_SERVE_LIMITS",
    ...{ parse: limits, isGroup: true, isLive: true },
  },
  "index-memory": {
    argument: "<MiB>",
    help: "Memory for search indexes, all callers together.",
    env: "HELMDECK_SERVE_INDEX_MEMORY",
    ...{ parse: number("a whole number of MiB from 1", /^[1-9]\d{0,6}$/), default: 256 },
  },
  "require-memory": {
    argument: "",
    help: "Refuse to start if memory is not on disk or does not work.",
    env: "HELMDECK_SERVE_REQUIRE_MEMORY",
    ...{ parse: truth, default: false },
  },
  "drain-seconds": {
    argument: "<seconds>",
    help: "How long /readyz says no after SIGTERM before the server stops.",
    env: "HELMDECK_SERVE_DRAIN_SECONDS",
    parse: number("a whole number of seconds from 0 to 600", /^\d{1,3}$/, 600),
    ...{ default: 0, isLive: true },
  },
  "packs-from": {
    argument: "<folder>",
    help: "A folder with your own packs (ES modules).",
    env: "HELMDECK_SERVE_PACKS_FROM",
    parse: nonEmpty,
  },
  packs: {
    argument: "",
    option: "--no-packs",
    help: "Over MCP, list memory's tools alone: no packs and pipelines.",
    env: "HELMDECK_SERVE_PACKS",
    parse: truth,
    default: true,
  },
  pipelines: {
    argument: "<folder>",
    help: "A folder with your own pipelines.",
    env: "HELMDECK_SERVE_PIPELINES",
    parse: nonEmpty,
  },
  "log-level": {
    argument: "<level>",
    help: "How much to log on stderr.",
    choices: LOG_LEVELS,
    env: "HELMDECK_SERVE_LOG_LEVEL",
    ...{ parse: level, default: "info", isLive: true },
  },
  "log-callers": {
    argument: "",
    help: "Tell callers apart in the log, by hashes.",
    env: "HELMDECK_SERVE_LOG_CALLERS",
    ...{ parse: truth, default: false, isLive: true },
  },
  "audit-file": {
    argument: "<file>",
    help: "A file to which the audit log is appended: what operators do.",
    env: "HELMDECK_AUDIT_FILE",
    ...{ parse: nonEmpty, isOfAllCommands: true },
  },
  store: {
    argument: "<url>",
    option: "",
    help: "A database on a PostgreSQL server: postgres://USER@HOST/DATABASE.",
    env: "HELMDECK_MEMORY_STORE",
    parse: nonEmpty,
  },
  "store-password-file": {
    argument: "<file>",
    help: "A file of mode 0600 with that database's password.",
    env: "HELMDECK_MEMORY_STORE_PASSWORD_FILE",
    ...{ parse: nonEmpty, isOfAllCommands: true },
  },
  "key-file": {
    argument: "<file>",
    help: "A file of mode 0600 with the encryption key.",
    env: "HELMDECK_MEMORY_KEY_FILE",
    instead: ["HELMDECK_MEMORY_KEY", "HELMDECK_MEMORY_KEY_COMMAND"],
    ...{ parse: nonEmpty, isOfAllCommands: true },
  },
  "jwt-secret-file": {
    argument: "<file>",
    help: "A file of mode 0600 with the secret that signs tokens, and others that are accepted, one a line.",
    env: "HELMDECK_JWT_SECRET_FILE",
    instead: ["HELMDECK_JWT_SECRET"],
    ...{ parse: nonEmpty, isOfAllCommands: true },
  },
  "jwt-revoked-file": {
    argument: "<file>",
    help: "The list of revoked tokens; default: beside the secret's file, if it is there.",
    env: "HELMDECK_JWT_REVOKED_FILE",
    ...{ parse: nonEmpty, isOfAllCommands: true },
  },
  "max-entries": {
    argument: "<count>",
    help: "The most entries that a caller may have; default: 100000.",
    env: "HELMDECK_MEMORY_MAX_ENTRIES",
    ...{ parse: quota("HELMDECK_MEMORY_MAX_ENTRIES"), isOfAllCommands: true },
  },
  "max-mib": {
    argument: "<MiB>",
    help: "The most MiB of values that a caller may have; default: 256.",
    env: "HELMDECK_MEMORY_MAX_MIB",
    ...{ parse: quota("HELMDECK_MEMORY_MAX_MIB"), isOfAllCommands: true },
  },
  "lifetime-days": {
    argument: "<days>",
    help: "How long a fact is kept whose writer names no end, 1 to 365; default: 90.",
    env: LIFETIME_VARIABLE,
    ...{ parse: lifetime, isOfAllCommands: true },
  },
};

/** The file with settings. */
export const CONFIG_VARIABLE = "HELMDECK_SERVE_CONFIG";

type Source = "option" | "environment" | "file" | "default";

export interface ReadSetting {
  readonly value: Value | readonly Value[] | undefined;
  readonly from: Source;
  readonly variable?: string;
  /** Where a setting stands that cannot be used; `value` is then the default. */
  readonly unusableAt?: string;
}

export interface SettingProblem {
  /** Where it stands: an option, a variable, or an entry of the file. */
  readonly where: string;
  /** The rule and what to do. */
  readonly problem: string;
}

export interface ReadSettings {
  readonly settings: ReadonlyMap<string, ReadSetting>;
  readonly problems: readonly SettingProblem[];
}

/** Commander parses and refuses what is typed; its defaults are for help only. */
export function declareSettings(command: Command): void {
  for (const [name, setting] of Object.entries(SERVE_SETTINGS)) {
    const { argument, option, help, parse, isList, default: usual } = setting;
    if (option === "") continue;
    const declared = new Option(option ?? `--${name} ${argument}`.trim(), help);
    const parsed = (text: string, before: unknown): unknown =>
      isList ? [...(Array.isArray(before) ? before : []), parse(text)] : parse(text);
    if (argument !== "") declared.argParser(parsed);
    if (setting.choices !== undefined) declared.choices(setting.choices);
    if (argument !== "" && usual !== undefined) declared.default(usual);
    command.addOption(declared);
  }
}

export interface SettingSources {
  /** What was typed, by name; absent: not typed. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The entries of the settings file. */
  readonly file: Readonly<Record<string, unknown>>;
}

/** The options that were typed, by the names of settings. */
export function typedOptions(command: Command): Readonly<Record<string, unknown>> {
  const typed = Object.keys(SERVE_SETTINGS).flatMap((name) => {
    const attribute = name.replace(/-([a-z])/g, (_dash, letter: string) => letter.toUpperCase());
    const isTyped = command.getOptionValueSourceWithGlobals(attribute) === "cli";
    return isTyped ? [[name, command.optsWithGlobals()[attribute]]] : [];
  });
  return Object.fromEntries(typed);
}

/** Finds every problem. A setting with a problem keeps its default. */
export function resolveSettings(sources: SettingSources): ReadSettings {
  const problems: SettingProblem[] = [];
  const settings = new Map<string, ReadSetting>();
  for (const [name, setting] of Object.entries(SERVE_SETTINGS)) {
    const { where, read } = placeOf(name, setting, sources);
    try {
      settings.set(name, read());
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      problems.push({ where, problem: error.message });
      settings.set(name, { value: setting.default, from: "default", unusableAt: where });
    }
  }
  const unknown = Object.keys(sources.file).filter((name) => !Object.hasOwn(SERVE_SETTINGS, name));
  return { settings, problems: [...problems, ...unknown.map(unknownEntry)] };
}

/** The first place that says something. */
function placeOf(
  name: string,
  setting: Setting,
  { options, env, file }: SettingSources,
): { readonly where: string; readonly read: () => ReadSetting } {
  const typed = options[name];
  // Commander has parsed it.
  if (typed !== undefined)
    return { where: `--${name}`, read: () => ({ value: typed as ReadSetting["value"], from: "option" }) };
  const variable = [setting.env, ...(setting.instead ?? [])].find((each) => (env[each] ?? "") !== "");
  if (variable !== undefined)
    return { where: variable, read: () => ofVariable(setting, variable, env[variable] ?? "") };
  const entry = file[name] ?? undefined;
  const read = (): ReadSetting =>
    entry === undefined
      ? { value: setting.default, from: "default" }
      : { value: ofEntry(setting, entry), from: "file" };
  return { where: `${name} in the settings file`, read };
}

/** Of a variable with a secret, only its name is kept. */
function ofVariable(setting: Setting, variable: string, text: string): ReadSetting {
  if (variable !== setting.env) return { value: undefined, from: "environment", variable };
  const { parse, isList } = setting;
  const value = isList ? text.split(",").flatMap((part) => parse(part.trim())) : parse(text);
  return { value, from: "environment", variable };
}

function unknownEntry(name: string): SettingProblem {
  const shown = /^[a-z][a-z-]{1,30}$/.test(name) ? name : "an entry";
  return {
    where: `${shown} in the settings file`,
    problem:
      "There is no such setting. Name files with secrets, not the secrets. See helmdeck-memory serve --help.",
  };
}

function ofEntry({ parse, isList, isGroup }: Setting, entry: unknown): ReadSetting["value"] {
  if (isGroup) return parse(JSON.stringify(entry));
  const parts = isList && Array.isArray(entry) ? entry : [entry];
  const parsed = parts.flatMap((part) => parse(scalar(part)));
  return isList ? parsed : parsed[0];
}

function scalar(entry: unknown): string {
  if (["string", "number", "boolean"].includes(typeof entry)) return String(entry);
  throw new InvalidArgumentError("It must be one value, not a list or a group.");
}

function number(rule: string, form: RegExp, most = Number.MAX_SAFE_INTEGER) {
  return (text: string): number => {
    if (form.test(text) && Number(text) <= most) return Number(text);
    throw new InvalidArgumentError(`It must be ${rule}.`);
  };
}

/** An origin in a browser's form, and a path of plain names. */
function publicAddress(text: string): string {
  const url = URL.parse(text);
  const address = url && `${url.origin}${url.pathname.replace(/\/$/, "")}`;
  if (address && url.href.replace(/\/$/, "") === address && /^https?:\/\/[^/]+(?:\/[\w.~-]+)*$/.test(address))
    return address;
  throw new InvalidArgumentError("It must be of the form https://deck.example or https://example.org/deck.");
}

const LIMITS = { rate: [0, 9_999_999], entries: [1, 999_999_999], bytes: [1, 999_999_999_999_999] } as const;
const LIMITS_RULE = Object.entries(LIMITS).map(([field, [least, most]]) => `${field} (${least} to ${most})`);

/** Callers are told by their places: their names stay out of logs. */
function limits(text: string): readonly LimitedCaller[] {
  const group = jsonOf(text);
  const given = isRecord(group) ? Object.entries(group) : [["", undefined] as const];
  const wrong = given.findIndex(([subject, one]) => !isSubject(subject) || !isLimits(one));
  if (wrong === -1) return given.map(([subject, one]) => ({ ...(one as CallerLimits), subject }));
  throw new InvalidArgumentError(
    `It must have a line for each caller, with a token's subject and a group of some of ${LIMITS_RULE.join(", ")}, all whole numbers; number ${wrong + 1} is not so.`,
  );
}

function isLimits(given: unknown): given is CallerLimits {
  const isOne = ([field, value]: readonly [string, unknown]) => {
    const [least, most] = Object.hasOwn(LIMITS, field) ? LIMITS[field as keyof CallerLimits] : [1, 0];
    return Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
  };
  return isRecord(given) && Object.entries(given).every(isOne);
}

function level(text: string): string {
  if (LOG_LEVELS.includes(text)) return text;
  throw new InvalidArgumentError(`It must be one of ${LOG_LEVELS.join(", ")}.`);
}

function truth(text: string): boolean {
  if (text === "true" || text === "false") return text === "true";
  throw new InvalidArgumentError("It must be true or false.");
}

function lifetime(text: string): string {
  if (/^\d{1,3}$/.test(text) && lifetimeDaysOf(Number(text)) !== undefined) return text;
  throw new InvalidArgumentError("It must be a whole number of days from 1 to 365.");
}

function quota(variable: string): (text: string) => string {
  return (text) => {
    try {
      quotaOfEnv({ [variable]: text });
      return text;
    } catch (error) {
      throw isHelmdeckError(error)
        ? new InvalidArgumentError("It must be a whole number from 1 to 999999999.")
        : error;
    }
  };
}
