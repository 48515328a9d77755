/** `edit`: a new value for an existing fact, from the command line or from an editor. */
import { defined, type FactInput, type FactView } from "../../app/index.ts";
import type { CommandContext } from "../command-line.ts";
import { textFromEditor } from "../editor.ts";
import { EXIT_DONE } from "../exit-codes.ts";
import { missingFact } from "../missing-fact.ts";
import { withMemory } from "../with-memory.ts";
import { keepFact, readValue } from "./store.ts";

export interface EditRequest {
  readonly key: string;
  /** `-` is standard input. */
  readonly value?: string;
  readonly valueFile?: string;
  readonly ttlSeconds?: number;
  /** Store the value even if it looks like a credential. */
  readonly allowSecret: boolean;
}

/** A fact with a later expiry keeps it. */
const USUAL_LIFE_SECONDS = 90 * 86_400;

/** Why the request cannot run: there is no terminal, or no editor. */
export function problemOf({ shell }: CommandContext, request: EditRequest): string | undefined {
  if (!isTyped(request)) return undefined;
  if (shell.stdin.isTTY !== true)
    return "give the new value: as VALUE, as - for standard input, or with --value-file.";
  if (editorOf(shell) !== undefined) return undefined;
  return "set VISUAL or EDITOR to your editor, or give the new value: as VALUE, as -, or with --value-file.";
}

export async function editCommand(context: CommandContext, request: EditRequest): Promise<number> {
  const before = await factToEdit(context, request.key);
  const value = await newValue(context, request, before);
  if (isTyped(request) && value.trim() === before.value) {
    await context.output.note("Nothing was changed in the editor.");
    return EXIT_DONE;
  }
  return keepFact(context, editedFact(before, value, request, context.shell.now()), request.allowSecret);
}

async function factToEdit(context: CommandContext, key: string): Promise<FactView> {
  const fact = await withMemory(context, (memory) => memory.getFact(context.options.caller, key));
  if (fact === undefined) throw missingFact(context);
  return fact;
}

/** Whether the value comes from an editor. */
function isTyped({ value, valueFile }: EditRequest): boolean {
  return value === undefined && valueFile === undefined;
}

function newValue(
  context: CommandContext,
  { value, valueFile }: EditRequest,
  before: FactView,
): Promise<string> {
  if (value !== undefined && value !== "-") return Promise.resolve(value);
  if (value === "-" || valueFile !== undefined) return readValue(context, { path: valueFile ?? "-" });
  return textFromEditor(context.shell, editorOf(context.shell) ?? "", before.value);
}

function editedFact(
  { key, category, tags, expiresAt }: FactView,
  value: string,
  { ttlSeconds }: EditRequest,
  now: number,
): FactInput {
  const left = expiresAt === undefined ? 0 : Math.ceil((expiresAt - now) / 1_000);
  const life = ttlSeconds ?? (left > USUAL_LIFE_SECONDS ? left : undefined);
  return { key, value, category, tags, ...defined({ ttlSeconds: life }) };
}

function editorOf({ env }: CommandContext["shell"]): string | undefined {
  return [env.VISUAL, env.EDITOR].find((editor) => editor !== undefined && editor.trim() !== "");
}
