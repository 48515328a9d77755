/**
 * What a pack must be (name, version, two schemas, a safe memory policy), the packs of an engine by name, with their
 * descriptions for clients, and the check of each input and output.
 *
 * If a pack's answer depends on a secret, a folder or this machine, caching would give one run's answer to another run that
 * must not have it. So such a pack cannot use the cache, and registration refuses it.
 */
import { type $ZodType, safeParseAsync, toJSONSchema } from "zod/v4/core";
import { defined } from "../../engine/defined.ts";
import { type ErrorCode, type ErrorDetails, HelmdeckError, invalidField } from "../../engine/errors.ts";
import { checkCategory } from "../../engine/facts/facts-policy.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import { fieldOf, ruleOf } from "../../engine/schema-issues.ts";
import type { Pack, PackInfo, PackMemoryPolicy } from "./pack-contract.ts";

export const PACK_LIMITS = {
  nameCharacters: 64,
  versionCharacters: 64,
  titleCharacters: 64,
  descriptionCharacters: 1_024,
  leastTtlSeconds: 1,
  mostTtlSeconds: 31_536_000,
  mostDeadlineMs: 86_400_000,
  defaultDeadlineMs: 120_000,
} as const;

/** Single underscores only, because clients that write dots as "__" could not tell `a.b` from `a__b`. */
const WORD = "[a-z][a-z0-9]*(?:_[a-z0-9]+)*";
const NAME = new RegExp(`^${WORD}(?:\\.${WORD})*$`);

const NUMBER = "(?:0|[1-9]\\d*)";
/** A number without leading zeros, or anything with a letter or hyphen in it. */
const PRERELEASE = `(?:${NUMBER}|\\d*[A-Za-z-][0-9A-Za-z-]*)`;
const BUILD = "[0-9A-Za-z-]+";
const SEMVER = new RegExp(
  `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-${PRERELEASE}(?:\\.${PRERELEASE})*)?(?:\\+${BUILD}(?:\\.${BUILD})*)?$`,
);

/** Validates and returns the pack; its types are inferred from its schemas. Throws `invalid_input`. */
export function definePack<Input, Output>(pack: Pack<Input, Output>): Pack<Input, Output> {
  checkPack(pack);
  return Object.freeze(pack);
}

/** Throws `invalid_input`, naming the pack, the field and the rule. */
function checkPack(pack: Pack): void {
  checkName(pack);
  const { version } = pack;
  const fits = typeof version === "string" && version.length <= PACK_LIMITS.versionCharacters;
  if (!fits || !SEMVER.test(version))
    throw refuse(pack, "version", "must be a semantic version, such as 1.2.0");
  checkText(pack, "description", PACK_LIMITS.descriptionCharacters);
  if (pack.title !== undefined) checkText(pack, "title", PACK_LIMITS.titleCharacters);
  checkSchema(pack, "input");
  checkSchema(pack, "output");
  if (typeof pack.run !== "function") throw refuse(pack, "run", "must be a function");
  checkDeadline(pack);
  checkMemory(pack);
}

function checkName(pack: Pack): void {
  const { name } = pack;
  if (typeof name === "string" && name.length <= PACK_LIMITS.nameCharacters && NAME.test(name)) return;
  throw refuse(
    pack,
    "name",
    `must be lower-case words joined by dots, such as github.list_issues, with at most ${PACK_LIMITS.nameCharacters} characters`,
  );
}

function checkText(pack: Pack, field: "title" | "description", most: number): void {
  const text: unknown = pack[field];
  const length = typeof text === "string" ? text.trim().length : 0;
  if (length < 1 || length > most) throw refuse(pack, field, `must have 1 to ${most} characters`);
}

function checkSchema(pack: Pack, field: "input" | "output"): void {
  const schema: Partial<$ZodType> | undefined = pack[field];
  if (schema?._zod === undefined) throw refuse(pack, field, "must be a zod 4 schema");
}

function checkDeadline(pack: Pack): void {
  const { deadlineMs } = pack;
  if (deadlineMs === undefined || isWholeWithin(deadlineMs, 1, PACK_LIMITS.mostDeadlineMs)) return;
  throw refuse(
    pack,
    "deadlineMs",
    `must be whole milliseconds from 1 to ${PACK_LIMITS.mostDeadlineMs} (a day)`,
  );
}

function checkMemory(pack: Pack): void {
  const { memory } = pack;
  if (memory === undefined) return;
  if (memory.category !== undefined) checkCategory(memory.category);
  checkTtl(pack, memory);
  if (memory.cache === true) checkCaching(pack, memory);
}

function checkTtl(pack: Pack, { ttlSeconds }: PackMemoryPolicy): void {
  const { leastTtlSeconds, mostTtlSeconds } = PACK_LIMITS;
  if (ttlSeconds === undefined || isWholeWithin(ttlSeconds, leastTtlSeconds, mostTtlSeconds)) return;
  throw refuse(
    pack,
    "memory.ttlSeconds",
    `must be whole seconds from ${leastTtlSeconds} to ${mostTtlSeconds} (a year)`,
  );
}

function checkCaching(pack: Pack, { ttlSeconds }: PackMemoryPolicy): void {
  if (ttlSeconds === undefined) {
    throw refuse(pack, "memory.ttlSeconds", "is missing; a cached answer must expire");
  }
  if (pack.credentials === true) {
    throw refuse(
      pack,
      "memory.cache",
      "is not allowed for packs with credentials, because the answer depends on a secret",
    );
  }
  if (pack.session === true) {
    throw refuse(
      pack,
      "memory.cache",
      "is not allowed for packs with a session, because the answer depends on a folder",
    );
  }
  if (pack.startsProcess === true) {
    throw refuse(
      pack,
      "memory.cache",
      "is not allowed for packs that start processes, because the answer depends on this machine",
    );
  }
}

export function isWholeWithin(value: unknown, least: number, most: number): value is number {
  return Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
}

function refuse(pack: Pack, field: string, rule: string): HelmdeckError {
  const named = typeof pack.name === "string" && NAME.test(pack.name) ? `pack ${pack.name}` : "a pack";
  return invalidField(field, rule, { named: `${field} of ${named}` });
}

export interface RegisteredPack {
  readonly pack: Pack;
  readonly info: PackInfo;
}

/** Sorted by name. Throws `invalid_input` if a pack is invalid, or two packs have the same name. */
export function registerPacks(
  packs: readonly Pack[],
  hasStore: boolean,
): ReadonlyMap<string, RegisteredPack> {
  const registered = new Map<string, RegisteredPack>();
  for (const pack of packs.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    checkPack(pack);
    if (registered.has(pack.name)) throw refuse(pack, "name", "is taken by another pack");
    registered.set(pack.name, { pack, info: infoOf(pack, hasStore) });
  }
  return registered;
}

function infoOf(pack: Pack, hasStore: boolean): PackInfo {
  return Object.freeze({
    name: pack.name,
    title: pack.title ?? pack.name,
    version: pack.version,
    description: pack.description,
    inputSchema: jsonSchemaOf(pack, "input"),
    outputSchema: jsonSchemaOf(pack, "output"),
    startsProcess: pack.startsProcess === true,
    ...defined({ effects: pack.effects, pages: pack.pages }),
    cached: hasStore && pack.memory?.cache === true,
  });
}

/** Fields with defaults are optional in the input schema and required in the output schema. */
function jsonSchemaOf(pack: Pack, field: "input" | "output"): PackInfo["inputSchema"] {
  try {
    return { ...toJSONSchema(pack[field], { io: field }) };
  } catch (error) {
    const problem = error instanceof Error ? error.message : "it has no JSON form";
    throw refuse(pack, field, `cannot be described to clients as JSON Schema (${problem})`);
  }
}

const RULE_CHARACTERS = 300;

/** The parsed input, with defaults and without unknown fields. Throws `invalid_input`. */
export function requireInput(pack: Pack, input: unknown): Promise<unknown> {
  return requireValid(pack, "input", input, (message, details) => {
    return new HelmdeckError("invalid_input", message, { details });
  });
}

/** Like {@link requireInput}, for the handler's output. Throws `invalid_output`; keeps findings in the output. */
export function requireOutput(pack: Pack, output: unknown): Promise<unknown> {
  return requireValid(pack, "output", output, (message, details) => {
    return new PackFailure(message, output, { code: "invalid_output", details });
  });
}

async function requireValid(
  pack: Pack,
  side: "input" | "output",
  value: unknown,
  refusal: (message: string, details: ErrorDetails) => HelmdeckError,
): Promise<unknown> {
  const schema: $ZodType = pack[side];
  const parsed = await safeParseAsync(schema, value, { reportInput: true });
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const field = (issue && fieldOf(issue)) || side;
  const rule = harmlessLine(ruleOf(issue)).slice(0, RULE_CHARACTERS);
  // The parser's error is not passed on as the cause, because it contains the refused value.
  throw refusal(`The ${side} of ${pack.name} was refused: ${field}: ${rule}.`, { pack: pack.name, field });
}

interface FailureOptions {
  readonly code?: ErrorCode;
  readonly details?: ErrorDetails;
}

/** A failed run with output: its findings go into the audit row, as for any run. */
export class PackFailure extends HelmdeckError {
  /** Not enumerable, so that logging or showing the error does not include it. */
  readonly #output: unknown;

  /** `output`: the output so far, such as `{ lint: { findings } }`. */
  constructor(message: string, output: unknown, { code = "pack_failed", details = {} }: FailureOptions = {}) {
    super(code, message, { details });
    this.#output = output;
  }

  static outputOf(error: HelmdeckError): unknown {
    return error instanceof PackFailure ? error.#output : undefined;
  }
}
