/** `embed`: embeds entries without vectors, with progress on a terminal. */
import type { Command } from "commander";
import type { CommandMemory } from "../../app/compose.ts";
import type { EmbedReport } from "../../app/embedding/on-request.ts";
import { embedderText } from "../../app/presenters/words.ts";
import type { CommandContext, Runs } from "../../commands/command-line.ts";
import { EXIT_DONE } from "../../commands/exit-codes.ts";
import { withExamples } from "../../commands/option-parsers.ts";
import { showCount } from "../../commands/progress-bar.ts";
import { withMemoryToChange } from "../../commands/with-memory.ts";
import { defined } from "../../engine/defined.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";

export function declareEmbed(program: Command, runs: Runs): void {
  const embed = program
    .command("embed")
    .summary("Prepare new facts for searches by meaning.")
    .description(
      "Prepare facts for searches by meaning: embed those that have no vectors, with what the OpenClaw plugin uses unless HELMDECK_EMBEDDINGS_URL names another. If interrupted, run it again. You need it after a large import, if no gateway or server runs to do it in the background.",
    )
    .action((_options: unknown, command: Command) => runs(command, (context) => embedCommand(context)));
  withExamples(embed, [
    "HELMDECK_EMBEDDINGS_URL=http://127.0.0.1:11434 helmdeck-memory embed",
    "helmdeck-memory embed --caller work --json",
  ]);
}

/** The service from the settings. */
interface Service {
  readonly provider: string;
  /** Absent for the built-in model. */
  readonly url?: string;
  readonly model: string;
}

function embedCommand(context: CommandContext): Promise<number> {
  return withMemoryToChange(context, async (memory) => {
    const service = await requireService(memory, context.options.caller);
    const { before, report } = await embedAll(context, memory);
    if (report.failure !== undefined) throw interrupted(report, report.failure);
    await tell(context, service, { ...report, embeddedNow: report.embedded - before });
    return EXIT_DONE;
  });
}

async function requireService(memory: CommandMemory, caller: string): Promise<Service> {
  const { embeddings, error } = await memory.status(caller);
  if (error !== undefined) throw new HelmdeckError(error.code, error.message);
  if (embeddings === undefined || embeddings.provider === "none") {
    const why = embeddings?.problem ?? "Embedding is turned off";
    throw unset(`${why}. Or set HELMDECK_EMBEDDINGS_URL, for example to http://127.0.0.1:11434`);
  }
  if (embeddings.provider === "unusable") throw unset(embeddings.problem.replace(/\.$/, ""));
  return embeddings;
}

async function embedAll({ shell, options }: CommandContext, memory: CommandMemory) {
  const progress = await showCount(shell);
  let before: number | undefined;
  try {
    const report = await memory.embed(options.caller, {
      onProgress: ({ embedded, total, refused }) => {
        before ??= embedded;
        progress.update(embedded + refused, total);
      },
    });
    return { before: before ?? report.embedded, report };
  } finally {
    progress.stop();
  }
}

async function tell(
  { output, options }: CommandContext,
  { provider, url, model }: Service,
  { embedded, embeddedNow, total, refused }: EmbedReport & { readonly embeddedNow: number },
): Promise<void> {
  if (options.json)
    return output.json({
      embedded,
      embedded_now: embeddedNow,
      total,
      refused,
      provider,
      ...defined({ url }),
      model,
    });
  const where = harmlessLine(embedderText({ provider, model, ...defined({ url }) }));
  const not = refused === 0 ? "" : ` ${refused} are refused by the service; keyword search still finds them.`;
  await output.line(
    `Embedded: ${embedded} of ${total} entries of ${harmlessLine(options.caller)}, ${embeddedNow} of them embedded now (${where}).${not}`,
  );
}

function unset(what: string): HelmdeckError {
  const message = `${what} (docs/reference/embeddings.md). Until then, search uses keywords.`;
  return new HelmdeckError("invalid_input", message, { details: { field: "HELMDECK_EMBEDDINGS_URL" } });
}

function interrupted({ embedded, total }: EmbedReport, failure: HelmdeckError): HelmdeckError {
  const message = `${failure.message} Embedded: ${embedded} of ${total} entries. Run it again to continue.`;
  return new HelmdeckError(failure.code, message, {
    details: { ...failure.details, embedded, total },
    cause: failure,
  });
}
