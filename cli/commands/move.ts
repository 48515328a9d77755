/** `move`: moves all rows to another store, with progress, and prints the next steps. */

import { addressAs } from "../../app/database-server/store-address.ts";
import {
  type MovedMemory,
  type MovePlan,
  moveMemory,
  planMove,
  reopenMemory,
} from "../../app/moving/move-memory.ts";
import {
  keyOfMove,
  type PlaceAddress,
  placeAddress,
  prepareStore,
  storePlace,
} from "../../app/moving/store-place.ts";
import type { OpenMemoryOptions } from "../../app/open-memory-options.ts";
import { counted } from "../../app/presenters/words.ts";
import { snakeCased } from "../../app/wire/codec.ts";
import type { CommandContext } from "../../commands/command-line.ts";
import { EXIT_DONE } from "../../commands/exit-codes.ts";
import { showCount } from "../../commands/progress-bar.ts";
import { invalidField } from "../../engine/errors.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import { memoryOptions, serverAddress } from "../memory-options.ts";

export interface MoveRequest {
  readonly to: string | undefined;
  readonly from: string | undefined;
  readonly engineRoles: readonly string[];
  readonly dryRun: boolean;
}

export async function moveCommand(context: CommandContext, request: MoveRequest): Promise<number> {
  const options = await memoryOptions(context);
  const key = await keyOfMove(options);
  const source = await addressOf(context, options, { typed: request.from, option: "--from" });
  const target = await addressOf(context, options, { typed: request.to, option: "--to" });
  if (source.name === target.name) throw invalidField("--to", "is where the memory already is");
  const { engineRoles } = request;
  context.found?.({ from: source.name, to: target.name, roles: engineRoles });
  const open = (address: PlaceAddress) =>
    storePlace({ address, key, driver: options.driver, ...(address === target && { engineRoles }) });
  const asked = { from: open(source), to: open(target), key, now: context.shell.now };
  if (request.dryRun) return tellPlan(context, await planMove(asked), target);
  const progress = await showCount(context.shell, { unit: "rows, copied and compared" });
  const moved = await moveMemory({ ...asked, onRows: progress.update }).finally(progress.stop);
  return tellMoved(context, moved, { target, role: engineRoles[0] });
}

export async function reopenCommand(context: CommandContext, from: string | undefined): Promise<number> {
  const options = await memoryOptions(context);
  const address = await addressOf(context, options, { typed: from, option: "--from" });
  context.found?.({ to: address.name });
  const place = storePlace({ address, key: await keyOfMove(options), driver: options.driver });
  const { name, was } = await reopenMemory(place);
  const left = `as it was when its memory moved to ${harmlessLine(was)}. Later changes there are missing here`;
  await answer(context, { reopened: name, was }, `${harmlessLine(name)} is in use again, ${left}.`);
  return EXIT_DONE;
}

export async function prepareCommand(
  context: CommandContext,
  { to, engineRoles }: Pick<MoveRequest, "engineRoles"> & { readonly to: string },
): Promise<number> {
  const { env, homeDir } = context.shell;
  const address = await placeAddress(to, "--to", { env, homeDir, from: "argument" });
  context.found?.({ to: address.name, roles: engineRoles }); // without a password, which is refused
  await prepareStore(address, engineRoles);
  const roles =
    engineRoles.length === 0 ? "" : ` ${engineRoles.map(harmlessLine).join(" and ")} can use them.`;
  const said = `The tables in ${harmlessLine(to)} are up to date.${roles}`;
  await answer(context, { prepared: to, engine_roles: engineRoles }, said);
  return EXIT_DONE;
}

/** Defaults to the memory that every other command uses. */
async function addressOf(
  context: CommandContext,
  { databasePath }: OpenMemoryOptions,
  { typed, option }: { readonly typed: string | undefined; readonly option: string },
): Promise<PlaceAddress> {
  const { env, homeDir } = context.shell;
  if (typed !== undefined) return placeAddress(typed, option, { env, homeDir, from: "argument" });
  const server = serverAddress(context);
  if (server === undefined) return { kind: "sqlite", name: databasePath };
  return placeAddress(server.text, "--store", server);
}

async function tellPlan(context: CommandContext, plan: MovePlan, target: PlaceAddress): Promise<number> {
  const to = plan.to ?? target.name;
  const said = `Would move ${rowsText(plan)} from ${harmlessLine(plan.from)} to ${harmlessLine(to)}.`;
  await answer(context, { dry_run: true, ...snakeCased({ ...plan, to }) }, said);
  if (plan.resumes && !context.options.json)
    await context.output.note(
      "An interrupted move would continue: rows that are already there are compared and kept.",
    );
  return EXIT_DONE;
}

/** `role`: of engines, if one was named. */
async function tellMoved(
  context: CommandContext,
  moved: MovedMemory,
  { target, role }: { readonly target: PlaceAddress; readonly role: string | undefined },
): Promise<number> {
  const [from, to] = [harmlessLine(moved.from), harmlessLine(moved.to)];
  const said = `Moved ${rowsText(moved)} from ${from} to ${to}. Each row was read back and compared.`;
  await answer(context, snakeCased({ ...moved }), said);
  if (context.options.json) return EXIT_DONE;
  if (target.kind === "postgres") {
    const address = role === undefined ? target.name : addressAs(role, target.name);
    await context.output.note(`Serve it: helmdeck-memory serve --store ${address}`);
  }
  await context.output.note(
    `The old data in ${from} is complete, but no program opens it any more. Keep it until you have a backup of the new place, then delete it.`,
  );
  return EXIT_DONE;
}

function rowsText({ rows }: MovePlan): string {
  const { entries, history, vectors } = rows;
  return `${counted(entries, "entry", "entries")}, ${history} former values and ${vectors} vectors`;
}

async function answer(
  { output, options }: CommandContext,
  reply: Readonly<Record<string, unknown>>,
  text: string,
): Promise<void> {
  return options.json ? output.json(reply) : output.line(text);
}
