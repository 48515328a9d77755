/**
 * Templates in a pipeline: `${{ inputs.repository }}` and `${{ steps.issues.output.items.0.title }}`.
 *
 * Threat: somebody controls an input or part of a step's output (a web page, an issue's title). Defence: nothing is evaluated,
 * filled-in text is not scanned for templates again, names refer only to an object's own members, and the resulting size is
 * limited.
 */
import { HelmdeckError } from "../../engine/errors.ts";

/** The target of a template: an input, or part of an earlier step's output. */
export type Reference =
  | { readonly kind: "input"; readonly name: string; readonly path: readonly string[] }
  | { readonly kind: "step"; readonly id: string; readonly path: readonly string[] };

/** The values available to templates. */
export interface Scope {
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Outputs of ended steps. */
  readonly outputs: ReadonlyMap<string, unknown>;
}

/** The location of a text in a definition. */
export type Place = readonly (string | number)[];

/** Maximum size, as JSON, of all values that the templates of one step insert. */
const MOST_CHARACTERS = 1_024 * 1_024;

const TEMPLATE = /\$\{\{(.*?)\}\}/gs;
const WHOLE = /^\s*\$\{\{((?:(?!\}\}).)*)\}\}\s*$/s;
const EXPRESSION = /^(?:inputs\.(?<input>[\w-]+)|steps\.(?<step>[\w-]+)\.output)(?<path>(?:\.[\w-]+)*)$/;

/** Every template in a value with its location; `undefined` for an invalid one. */
export function* referencesIn(
  value: unknown,
  place: Place = [],
): Generator<{ readonly place: Place; readonly reference: Reference | undefined }> {
  if (typeof value === "string") {
    for (const [, expression = ""] of value.matchAll(TEMPLATE)) yield { place, reference: parse(expression) };
    if (value.replace(TEMPLATE, "").includes("${{")) yield { place, reference: undefined };
    return;
  }
  if (typeof value !== "object" || value === null) return;
  const members = Array.isArray(value) ? value.entries() : Object.entries(value);
  for (const [name, member] of members) yield* referencesIn(member, [...place, name]);
}

/**
 * The value with its templates filled in. A template that is the complete text keeps the type of its value. Inside a longer
 * text, texts are inserted unchanged and other values as JSON. An absent optional input removes its member, or is empty
 * inside a text.
 *
 * @throws `invalid_input` if a step's output has no such part, `too_large` if the result is too large.
 */
export function fillIn(value: unknown, scope: Scope): unknown {
  const budget = new Budget();
  const fillText = (text: string): unknown => {
    const [, whole] = WHOLE.exec(text) ?? [];
    if (whole !== undefined) return budget.spend(lookUp(whole, scope));
    return text.replace(TEMPLATE, (_, expression: string) => textOf(budget.spend(lookUp(expression, scope))));
  };
  const fill = (one: unknown): unknown => {
    if (typeof one === "string") return fillText(one);
    if (Array.isArray(one)) return one.map(fill).filter(isGiven);
    if (typeof one !== "object" || one === null) return one;
    const members = Object.entries(one).map(([name, member]) => [name, fill(member)] as const);
    return Object.fromEntries(members.filter(([, member]) => isGiven(member)));
  };
  return fill(value);
}

/** A long output, referenced often enough, would fill the memory. */
class Budget {
  #left = MOST_CHARACTERS;

  spend(value: unknown): unknown {
    this.#left -= textOf(value).length;
    if (this.#left >= 0) return value;
    throw new HelmdeckError(
      "too_large",
      `The templates of one step may insert at most ${MOST_CHARACTERS} characters; name smaller parts.`,
      { details: { limit: MOST_CHARACTERS } },
    );
  }
}

/** The reference as an author writes it, for messages. */
export function nameOf(reference: Reference): string {
  const root = reference.kind === "input" ? `inputs.${reference.name}` : `steps.${reference.id}.output`;
  return [root, ...reference.path].join(".");
}

function parse(expression: string): Reference | undefined {
  const { input, step, path = "" } = EXPRESSION.exec(expression.trim())?.groups ?? {};
  const segments = path.split(".").slice(1);
  if (input !== undefined) return { kind: "input", name: input, path: segments };
  return step === undefined ? undefined : { kind: "step", id: step, path: segments };
}

/** Definitions are checked before they run, so a parse failure here is a bug. */
function lookUp(expression: string, { inputs, outputs }: Scope): unknown {
  const reference = parse(expression);
  if (reference === undefined)
    throw new HelmdeckError("internal", "A template was not checked before it ran.");
  if (reference.kind === "step") return follow(outputs.get(reference.id), reference);
  const given = ownMember(inputs, reference.name);
  return given === undefined ? undefined : follow(given, reference);
}

function follow(start: unknown, reference: Reference): unknown {
  let found = start;
  for (const name of reference.path) found = ownMember(found, name);
  if (found !== undefined) return found;
  throw new HelmdeckError("invalid_input", `There is no ${nameOf(reference)} in this run.`, {
    details: { template: nameOf(reference) },
  });
}

/** Never an inherited member, such as `constructor`. For a list: its items and its length. */
function ownMember(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  if (Array.isArray(value) && !/^(?:\d+|length)$/.test(name)) return undefined;
  return Reflect.get(value, name);
}

function textOf(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function isGiven(value: unknown): boolean {
  return value !== undefined;
}
