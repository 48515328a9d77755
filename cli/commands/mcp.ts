/** `mcp`: one caller over standard streams, for a client that starts the command itself. */

import { openAuditFile, thisUser } from "../../app/audit-log.ts";
import { embedStoredEntries } from "../../app/embedding/on-request.ts";
import { remedyFor } from "../../app/health/remedies.ts";
import type { CommandContext } from "../../commands/command-line.ts";
import { EXIT_DONE } from "../../commands/exit-codes.ts";
import { defined } from "../../engine/defined.ts";
import { asHelmdeckError } from "../../engine/errors.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import { openServerContext, type ServerContext } from "../../packs/server-context.ts";
import { serveMcpOverStdio } from "../../server/mcp/mcp-over-stdio.ts";
import { statusOf } from "../../server/status.ts";
import { environmentOf, readClientSettings } from "../clients/client-settings.ts";
import { serverContextOptions } from "../memory-options.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export interface McpRequest {
  /** Serve packs and pipelines, too. */
  readonly withPacks: boolean;
  /** The file that says whose memory, of an installed package. Without one there, the command line says it. */
  readonly clientSettings?: string;
  /** The operator's own packs and pipelines. */
  readonly folders: { readonly packsFolder?: string; readonly pipelinesFolder?: string };
}

export async function mcpCommand(given: CommandContext, request: McpRequest): Promise<number> {
  const context = await withClientSettings(given, request.clientSettings);
  const { shell, options } = context;
  const say = (text: string) => void context.output.note(`helmdeck-memory mcp: ${text}`).catch(() => {});
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  for (const name of SIGNALS) process.on(name, onSignal);
  const audit = await openAuditFile(shell, (_event, problem) => say(problem));
  const serverContext = await openServerContext({
    ...(await serverContextOptions(context)),
    ...request.folders,
    ...(audit && { audit, operator: thisUser() }),
    onChange: (lost) =>
      say(lost === undefined ? "memory is back." : `memory is lost. ${lost.code}: ${lost.message}`),
    onTrouble: ({ what, error, pack = "a pipeline" }) =>
      say(`the ${what} of ${pack} failed. ${error.code}: ${error.message}`),
  });
  try {
    say(whatIsServed(serverContext, options.caller, request));
    void embedStoredEntries(serverContext.memory, [options.caller]);
    // Anyone who can start this command can read the key file, so it is the operator, who may name any caller.
    const caller = { subject: options.caller, authenticated: true, scopes: [] };
    await serveMcpOverStdio(serverContext, caller, {
      memoryOnly: !request.withPacks,
      stdin: shell.stdin,
      stdout: shell.stdout,
      signal: stop.signal,
      onNonsense: () => say("ignored input that is not a protocol message."),
      onFailure: (thrown) => {
        const { code, message } = asHelmdeckError(thrown);
        if (statusOf(code) >= 500) say(message); // others are about what the client asked
      },
    });
  } finally {
    await serverContext.close();
    for (const name of SIGNALS) process.off(name, onSignal);
  }
  return EXIT_DONE;
}

async function withClientSettings(
  context: CommandContext,
  file: string | undefined,
): Promise<CommandContext> {
  const settings = file === undefined ? undefined : await readClientSettings(file);
  if (settings === undefined) return context;
  const { shell, options } = context;
  const { caller, databasePath: db } = settings;
  return {
    ...context,
    shell: { ...shell, env: environmentOf(settings, shell.env) },
    options: { ...defined({ json: options.json, db }), caller },
  };
}

function whatIsServed({ memoryState }: ServerContext, caller: string, { withPacks }: McpRequest): string {
  const whose = `the memory of ${harmlessLine(caller)}`;
  switch (memoryState.state) {
    case "ready":
      return [
        `serving ${whose}, in ${harmlessLine(memoryState.databasePath)} (key: ${memoryState.keySource}).`,
        ...(memoryState.notice === undefined ? [] : [harmlessLine(memoryState.notice)]),
      ].join(" ");
    case "ephemeral":
      return `serving ${whose}. ${memoryState.warning}`;
    case "unavailable": {
      const { code, message } = memoryState.error;
      const what = withPacks ? "serving packs WITHOUT MEMORY" : "serving WITHOUT MEMORY";
      return `${what}. ${code}: ${harmlessLine(message)} ${remedyFor(code)}`;
    }
  }
}
