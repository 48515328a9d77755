/** `here`: the process seam on the command line. Reasons for an empty answer go to stderr, and the exit code stays 0. */

import { requireServerKey } from "../../app/database-server/server-key.ts";
import { escapeJson } from "../../app/presenters/safe-json.ts";
import { rankFacts } from "../../app/rank-facts.ts";
import type { CommandContext } from "../../commands/command-line.ts";
import { EXIT_DONE } from "../../commands/exit-codes.ts";
import { inputSource, readText } from "../../commands/input.ts";
import { defined } from "../../engine/defined.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import { createSeam, type HereContext, type Seam, type StateFile } from "../../seam/index.ts";
import { memoryOptions } from "../memory-options.ts";

/** Twice the limit of a value. */
const READ_LIMIT_BYTES = 128 * 1_024;

export interface RecallRequest extends Omit<HereContext, "plan"> {
  readonly query?: string;
  readonly limit?: number;
}

export interface OfferRequest extends Omit<HereContext, "plan"> {
  readonly kind: string;
  readonly slug: string;
  readonly bodyFile: string;
  readonly confidence?: number;
  readonly confidenceReason?: string;
}

export async function recallCommand(context: CommandContext, request: RecallRequest): Promise<number> {
  const { query, limit, ...here } = request;
  const options = { ...defined({ query, limit }) };
  const text = await withSeam(context, (seam) => seam.recallHere(here, options));
  if (context.options.json) await context.output.json({ text });
  else if (text !== "") await context.output.text(text);
  return EXIT_DONE;
}

export async function offerCommand(context: CommandContext, request: OfferRequest): Promise<number> {
  const { kind, slug, bodyFile, confidence, confidenceReason, ...here } = request;
  const candidate = {
    kind,
    slug,
    body: await readBody(context, bodyFile),
    ...defined({ confidence, confidence_reason: confidenceReason }),
  };
  const offers = await withSeam(context, (seam) => seam.offerSaveHere(here, candidate));
  // Indented for people; escaped like the line of --json, so that it is safe for a terminal.
  const indented = JSON.stringify(offers, null, 2).split("\n").map(escapeJson);
  if (context.options.json) await context.output.json(offers);
  else await context.output.line(indented.join("\n"));
  return EXIT_DONE;
}

export async function stateCommand(
  context: CommandContext,
  which: StateFile,
  here: Omit<HereContext, "phase">,
): Promise<number> {
  const path = await withSeam(context, (seam) => seam.statePath(here, which));
  if (context.options.json) await context.output.json({ path });
  else await context.output.line(path);
  return EXIT_DONE;
}

/** Read-only, like the seam: opens nothing for writing, creates no key and no folder. */
async function withSeam<Answer>(
  context: CommandContext,
  ask: (seam: Seam) => Promise<Answer>,
): Promise<Answer> {
  const { shell, output, options } = context;
  const place = await memoryOptions(context);
  const { server } = place;
  const notes: string[] = [];
  const { HELMDECK_HERE_STATE_DIR: stateDir } = shell.env;
  const openServer = server && (async () => server.openReader((await requireServerKey(place)).key));
  const seam = createSeam({
    memory: { ...place, ...defined({ openServer }) },
    subject: options.caller,
    rank: rankFacts,
    cwd: process.cwd(),
    onNote: (note) => void notes.push(note),
    ...defined({ stateDir }),
  });
  const answer = await ask(seam);
  for (const note of notes) await output.note(harmlessLine(note));
  return answer;
}

async function readBody({ shell, output }: CommandContext, path: string): Promise<string> {
  if (path === "-" && shell.stdin.isTTY === true) {
    await output.note("Type the text, then press Ctrl-D on a new line.");
  }
  return readText(inputSource(shell, path), READ_LIMIT_BYTES);
}
