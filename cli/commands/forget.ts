/** `forget`: deletes what a scope names, after showing it and asking when a person is there. */
import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { defined, type Forgotten, harmlessLine, type Memory, nearWords } from "../../app/index.ts";
import { type CommandContext, withMemoryToWrite } from "../command-context.ts";
import { EXIT_DONE, EXIT_FAILED } from "../exit-codes.ts";
import type { Shell } from "../shell.ts";

export interface ForgetRequest {
  readonly scope: string;
  readonly dryRun: boolean;
  readonly yes: boolean;
}

export function forgetCommand(context: CommandContext, request: ForgetRequest): Promise<number> {
  return withMemoryToWrite(context, async (memory) => {
    const forgotten = await forgetAsAsked(context, memory, request);
    if (forgotten === undefined) return EXIT_FAILED;
    await print(context, forgotten);
    return EXIT_DONE;
  });
}

/** Undefined when the person who was asked did not agree. */
async function forgetAsAsked(
  context: CommandContext,
  memory: Memory,
  { scope, dryRun, yes }: ForgetRequest,
): Promise<Forgotten | undefined> {
  const { shell, options } = context;
  if (!dryRun && !yes && isPersonThere(shell)) {
    const wouldDelete = await memory.forget(options.caller, { scope, dryRun: true });
    if (wouldDelete.deleted === 0) return { ...wouldDelete, dryRun };
    if (!(await agrees(context, memory, wouldDelete))) return undefined;
  }
  return memory.forget(options.caller, { scope, dryRun });
}

function isPersonThere({ stdin, stderr }: Shell): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

async function agrees(
  context: CommandContext,
  memory: Memory,
  { scope, deleted }: Forgotten,
): Promise<boolean> {
  const { shell, output, options } = context;
  await output.note(
    `This deletes ${entries(deleted)} of ${harmlessLine(options.caller)} for good: ${harmlessLine(scope)}`,
  );
  for (const line of await preview(memory, options.caller, scope)) await output.note(`  ${line}`);
  const question = createInterface({ input: shell.stdin, output: shell.stderr, terminal: false });
  try {
    // The end of the input (Ctrl-D) closes the question without an answer.
    const answer = await Promise.race([
      question.question("Delete? [y/N] "),
      once(question, "close").then(() => ""),
    ]);
    if (/^y(es)?$/i.test(answer.trim())) return true;
  } finally {
    question.close();
  }
  await output.note("Nothing was deleted.");
  return false;
}

const PREVIEWED_KEYS = 10;

/** The newest keys of a category, or the categories of a whole memory; other scopes say by themselves what they hold. */
async function preview(memory: Memory, caller: string, scope: string): Promise<readonly string[]> {
  if (scope.startsWith("category:")) {
    const category = scope.slice("category:".length).trim();
    const { facts, nextCursor } = await memory.listFacts(caller, { category, limit: PREVIEWED_KEYS });
    return [...facts.map((fact) => harmlessLine(fact.key)), ...(nextCursor === undefined ? [] : ["…"])];
  }
  if (scope === "all" || scope === "everything") {
    const { categories } = await memory.myMemory(caller);
    return categories.map(({ name, count }) => `${harmlessLine(name)}: ${count}`);
  }
  return [];
}

async function print({ output, options }: CommandContext, forgotten: Forgotten): Promise<void> {
  const { scope, deleted, dryRun, erased, near } = forgotten;
  if (options.json) {
    await output.json({ scope, deleted, dryRun, erased, ...defined({ near }) });
    return;
  }
  const where = `in the memory of ${harmlessLine(options.caller)}: ${harmlessLine(scope)}`;
  if (deleted === 0) {
    await output.line(`Nothing ${dryRun ? "would be" : "was"} deleted ${where}`);
    const hint = "Keys and names are exact, case matters: helmdeck-memory list shows them.";
    await output.note(nearWords(forgotten) ?? hint);
    return;
  }
  await output.line(`${dryRun ? "Would delete" : "Deleted"} ${entries(deleted)} ${where}`);
  if (!dryRun && erased === "pending") {
    await output.note(
      "They are gone from every answer; old bytes are overwritten once no other process reads the database.",
    );
  }
}

function entries(count: number): string {
  return count === 1 ? "1 entry" : `${count} entries`;
}
