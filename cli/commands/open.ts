/**
 * `open`: the pages of one memory in this person's browser, until the last of them is closed.
 *
 * Threat: other accounts see the arguments of programs, so also the address with which a browser is started. Defence: it is void
 * after its first use or half a minute, and see server/pages/own-pages.ts. The browser gets no variable of memory's, such as a key.
 */
import { spawn } from "node:child_process";
import { release } from "node:os";
import { createInterface } from "node:readline";
import type { Command } from "commander";
import { openAuditFile, thisUser } from "../../app/audit-log.ts";
import type { CommandMemory } from "../../app/compose.ts";
import { SWEEP_EVERY_MS } from "../../app/sweeper.ts";
import type { CommandContext, Runs } from "../../commands/command-line.ts";
import { EXIT_DONE } from "../../commands/exit-codes.ts";
import { withExamples } from "../../commands/option-parsers.ts";
import type { Shell } from "../../commands/shell.ts";
import { withMemoryToWrite } from "../../commands/with-memory.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import { rfc3339 } from "../../engine/rfc3339.ts";
import { portNumber } from "../serve-settings.ts";

const MINUTE_MS = 60_000;
const IDLE_MINUTES = 10;
/** For a browser that is started with it. */
const STARTED_MS = 30_000;
/** For a person who copies it. */
const SHOWN_MINUTES = 5;

export function declareOpen(program: Command, runs: Runs): void {
  const open = program
    .command("open")
    .summary("Open your memory in a browser, to see and change it.")
    .description(
      `Open the "Agent memory" pages of one memory in your browser or, where there is none, print an address to open. Each address works once. The pages end ${IDLE_MINUTES} minutes after the last one was closed, or by Ctrl-C.`,
    )
    .option("--no-browser", "Only print the address.")
    .option("--port <number>", "The port; 0 means any free one.", portNumber, 0)
    .action((_options: unknown, command: Command) =>
      runs(command, (context) => openCommand(context, command.opts<OpenOptions>())),
    );
  withExamples(open, [
    "helmdeck-memory open",
    "helmdeck-memory open --caller work",
    "helmdeck-memory open --no-browser --port 3900",
  ]);
}

interface OpenOptions {
  readonly browser: boolean;
  readonly port: number;
}

async function openCommand(context: CommandContext, { browser, port }: OpenOptions): Promise<number> {
  const { shell, output, options, line } = context;
  const say = (text: string) => void output.note(text).catch(() => {});
  const { promise: stopped, resolve: stop } = Promise.withResolvers<unknown>();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, stop); // a second one ends at once
  const { auditedMemory } = await import("../../app/operations/index.ts");
  const { serveOwnPages } = await import("../../server/pages/own-pages.ts");
  const audit = await openAuditFile(shell, (_event, problem) => say(problem));
  const serve = async (opened: CommandMemory) => {
    const pages = await serveOwnPages({
      memory: audit === undefined ? opened : auditedMemory(opened, audit, thisUser()),
      ...{ subject: options.caller, port, idleMs: IDLE_MINUTES * MINUTE_MS },
      pages: { workspaces: async () => (await line.openClaw(context)).workspaces.map(({ path }) => path) },
      onStolen: () => say(STOLEN),
      onUnexpected: () => say("A page failed because of an unexpected error."),
    });
    const { url } = pages;
    const address = () => pages.address(SHOWN_MINUTES * MINUTE_MS);
    const shown = () =>
      `Open this address in a browser. It works once, for ${SHOWN_MINUTES} minutes:\n${address()}${farFrom(url, shell)}`;
    const keyboard = shell.stdin.isTTY === true && !options.json ? createInterface(shell.stdin) : undefined;
    keyboard?.on("line", () => say(shown())).on("close", stop);
    const program = browser ? browserHere(shell) : undefined;
    const expires_at = rfc3339(shell.now() + SHOWN_MINUTES * MINUTE_MS);
    if (options.json) await output.json({ url, address: address(), expires_at, browser: program ?? null });
    else if (program === undefined) await output.line(shown());
    else await output.line(`Opening the memory of ${harmlessLine(options.caller)} in your browser: ${url}/`);
    const enter = keyboard === undefined ? "" : " Enter shows a new address.";
    say(`It ends ${IDLE_MINUTES} minutes after its last page is closed, or by Ctrl-C.${enter}`);
    if (program !== undefined) {
      const own = Object.entries(shell.env).filter(([name]) => !name.startsWith("HELMDECK_"));
      const how = { detached: true, stdio: "ignore", env: Object.fromEntries(own) } as const;
      const started = spawn(program, [pages.address(STARTED_MS)], how);
      const onFailure = () => say(`No browser started. ${shown()}`);
      started.once("error", onFailure).once("exit", (code) => code === 0 || onFailure());
      started.unref();
    }
    const isUnused = await Promise.race([stopped.then(() => false), pages.unused.then(() => true)]);
    keyboard?.close();
    await pages.close();
    say(isUnused ? `Ended: no page was open for ${IDLE_MINUTES} minutes.` : "Ended.");
    return EXIT_DONE;
  };
  return withMemoryToWrite(context, serve, undefined, { sweepEveryMs: SWEEP_EVERY_MS, embedsEntries: true });
}

const STOLEN =
  "An address was opened twice, so everybody is signed out. If that was not you, somebody has seen it.";

function farFrom(url: string, { env }: Shell): string {
  const { host, port } = new URL(url);
  const way = `\nFor a browser on another machine, run there first: ssh -L ${port}:${host} and the name of this one.`;
  return env.SSH_CONNECTION ? way : "";
}

/** Undefined if there is none that this person sees: in Windows' Subsystem for Linux, people use Windows' browser. */
function browserHere({ env }: Shell): string | undefined {
  if (env.SSH_CONNECTION || release().toLowerCase().includes("microsoft")) return undefined;
  if (process.platform === "darwin") return "open";
  return env.DISPLAY || env.WAYLAND_DISPLAY ? "xdg-open" : undefined;
}
