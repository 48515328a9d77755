/** `forget import:<id> --everyone`: undoes an import in every memory that has facts of it, with one preview and one question. */
import type { Forgotten, Memory } from "../../app/memory.ts";
import { toWire } from "../../app/wire/codec.ts";
import type { CommandContext } from "../command-line.ts";
import { EXIT_DONE, EXIT_FAILED } from "../exit-codes.ts";
import { present } from "../voice.ts";
import { refuseRemote, withMemoryToWrite } from "../with-memory.ts";
import { agreesToForget, type ForgetOrder, personAt, told, upToShown } from "./forget.ts";

export async function forgetEveryone(context: CommandContext, order: ForgetOrder): Promise<number> {
  const { scope, dryRun, yes } = order;
  await refuseRemote(context, `forget ${scope} --everyone`);
  return withMemoryToWrite(context, async (memory) => {
    const foreseen = await inEachMemory(memory, scope);
    const person = personAt(context);
    const isAsked = !dryRun && !yes && person !== undefined && foreseen.length > 0;
    if (isAsked && !(await agreesToForget(person, memory, foreseen))) return EXIT_FAILED;
    const all: InOneMemory[] = [];
    for (const { caller, forgotten: shown } of foreseen) {
      const asked = { scope, dryRun, ...(isAsked && upToShown(shown)) };
      all.push({ caller, forgotten: await memory.forget(caller, asked) });
    }
    await report(context, memory, { scope, all });
    return EXIT_DONE;
  });
}

interface InOneMemory {
  readonly caller: string;
  readonly forgotten: Forgotten;
}

/** The entries to forget, per memory. */
async function inEachMemory(memory: Memory, scope: string): Promise<readonly InOneMemory[]> {
  const found: InOneMemory[] = [];
  for (const { subject } of await memory.callers()) {
    const forgotten = await memory.forget(subject, { scope, dryRun: true });
    if (forgotten.deleted + (forgotten.former ?? 0) > 0) found.push({ caller: subject, forgotten });
  }
  return found;
}

async function report(
  context: CommandContext,
  memory: Memory,
  { scope, all }: { readonly scope: string; readonly all: readonly InOneMemory[] },
): Promise<void> {
  const { output, options } = context;
  if (options.json) {
    const forgotten = all.map(({ caller, forgotten }) => ({ caller, ...toWire(forgotten) }));
    return output.json({ forgotten });
  }
  for (const { caller, forgotten } of all) {
    const theirs = { ...context, options: { ...options, caller } };
    await present(theirs, await told(memory, forgotten, theirs));
  }
  if (all.length === 0) await output.line(`No memory has entries of ${scope}`);
}
