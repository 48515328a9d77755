/** `move`: all rows to another store, with progress, and what a person does next. */
import { harmlessLine, invalidField, type OpenMemoryOptions, snakeCased } from "../../app/index.ts";
import {
  keyOfMove,
  type MovedMemory,
  type MovePlan,
  moveMemory,
  planMove,
  reopenMemory,
  type StoreAddress,
  storeAddress,
  storePlace,
} from "../../app/moving.ts";
import { type CommandContext, EXIT_DONE, showCount } from "../../commands/index.ts";
import { memoryOptions } from "../memory-options.ts";

export interface MoveRequest {
  readonly to: string | undefined;
  readonly from: string | undefined;
  readonly engineRoles: readonly string[];
  readonly dryRun: boolean;
}

export async function moveCommand(context: CommandContext, request: MoveRequest): Promise<number> {
  const options = await memoryOptions(context);
  const key = await keyOfMove(options);
  const source = addressOf(options, request.from, "--from");
  const target = addressOf(options, request.to, "--to");
  if (JSON.stringify(source) === JSON.stringify(target))
    throw invalidField("--to", "is where the memory is already");
  const { engineRoles } = request;
  const open = (address: StoreAddress) =>
    storePlace({ address, key, driver: options.driver, ...(address === target && { engineRoles }) });
  const asked = { from: open(source), to: open(target), key, now: context.shell.now };
  if (request.dryRun) return tellPlan(context, await planMove(asked), target);
  const progress = await showCount(context.shell, { unit: "rows, copied and compared" });
  const moved = await moveMemory({ ...asked, onRows: progress.update }).finally(progress.stop);
  return tellMoved(context, moved, target);
}

export async function reopenCommand(context: CommandContext, from: string | undefined): Promise<number> {
  const options = await memoryOptions(context);
  const address = addressOf(options, from, "--from");
  const place = storePlace({ address, key: await keyOfMove(options), driver: options.driver });
  const { name, was } = await reopenMemory(place);
  const left = `as it was when its memory moved to ${harmlessLine(was)}. What was written there since is not here`;
  await answer(context, { reopened: name, was }, `${harmlessLine(name)} is in use again, ${left}.`);
  return EXIT_DONE;
}

function addressOf(here: OpenMemoryOptions, typed: string | undefined, option: string): StoreAddress {
  if (typed !== undefined) return storeAddress(typed, option);
  return { kind: "sqlite", path: here.databasePath };
}

async function tellPlan(context: CommandContext, plan: MovePlan, target: StoreAddress): Promise<number> {
  const to = plan.to ?? nameOf(target);
  const said = `Would move ${rowsText(plan)} from ${harmlessLine(plan.from)} to ${harmlessLine(to)}.`;
  await answer(context, { dry_run: true, ...snakeCased({ ...plan, to }) }, said);
  if (plan.resumes && !context.options.json)
    await context.output.note(
      "A move that did not end would go on: what is there already is compared, and stays.",
    );
  return EXIT_DONE;
}

async function tellMoved(context: CommandContext, moved: MovedMemory, target: StoreAddress): Promise<number> {
  const [from, to] = [harmlessLine(moved.from), harmlessLine(moved.to)];
  const said = `Moved ${rowsText(moved)} from ${from} to ${to}. Each row was read back, and is the same.`;
  await answer(context, snakeCased({ ...moved }), said);
  if (context.options.json) return EXIT_DONE;
  if (target.kind === "postgres")
    await context.output.note(`Serve it: helmdeck-memory serve --store ${nameOf(target)}`);
  await context.output.note(
    `What was left in ${from} is whole, and no program opens it. Keep it until you have a backup of the other; then it can go.`,
  );
  return EXIT_DONE;
}

/** As it was typed: an address holds no password. */
function nameOf(address: StoreAddress): string {
  return address.kind === "sqlite" ? address.path : address.url;
}

function rowsText({ rows }: MovePlan): string {
  const { entries, history, vectors } = rows;
  return `${entries} entries, ${history} former values and ${vectors} vectors`;
}

async function answer(
  { output, options }: CommandContext,
  reply: Readonly<Record<string, unknown>>,
  text: string,
): Promise<void> {
  return options.json ? output.json(reply) : output.line(text);
}
