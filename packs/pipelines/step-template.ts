/**
 * Templates in a pipeline: `${{ inputs.repository }}` and `${{ steps.issues.output.items.0.title }}`.
 *
 * Who attacks: whoever chose an input, or wrote what a step answered (a web page, an issue's title). What stops them:
 * nothing is ever evaluated, a filled-in text is not looked at again for templates, names are looked up among an object's
 * own members alone, and how much text may come out is bounded.
 */
import { HelmdeckError } from "../../engine/index.ts";

/** What a template names: an input, or a part of what an earlier step answered. */
export type Reference =
  | { readonly kind: "input"; readonly name: string; readonly path: readonly string[] }
  | { readonly kind: "step"; readonly id: string; readonly path: readonly string[] };

/** What there is to fill in. */
export interface Scope {
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Outputs of the steps that have ended. */
  readonly outputs: ReadonlyMap<string, unknown>;
}

/** Where in a definition a text stands. */
export type Place = readonly (string | number)[];

/** How much the templates of one step may fill in, written as JSON. */
const MOST_CHARACTERS = 1_024 * 1_024;

const TEMPLATE = /\$\{\{(.*?)\}\}/gs;
const WHOLE = /^\s*\$\{\{((?:(?!\}\}).)*)\}\}\s*$/s;
const EXPRESSION = /^(?:inputs\.(?<input>[\w-]+)|steps\.(?<step>[\w-]+)\.output)(?<path>(?:\.[\w-]+)*)$/;

/** Every template in a value, with where it stands; `undefined` for one that names nothing. */
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
 * The value with its templates filled in. A template that is the whole text keeps the type of what it names; inside a
 * text, texts stand as they are and everything else as JSON. An optional input that was not given leaves its place out,
 * and is empty inside a text.
 *
 * @throws `invalid_input` when a step's answer has no such part, `too_large` when too much would come out.
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

/** One long answer, named often enough, would fill the memory. */
class Budget {
  #left = MOST_CHARACTERS;

  spend(value: unknown): unknown {
    this.#left -= textOf(value).length;
    if (this.#left >= 0) return value;
    throw new HelmdeckError(
      "too_large",
      `The templates of one step may fill in ${MOST_CHARACTERS} characters; name smaller parts.`,
      { details: { limit: MOST_CHARACTERS } },
    );
  }
}

/** As an author writes it, for messages. */
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

/** Definitions are checked before they run, so what cannot be parsed here is a defect. */
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

/** Never what an object inherits, such as `constructor`; of a list, its items and its length. */
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
