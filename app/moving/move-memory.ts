/**
 * Moves a whole memory from one store to another: copies sealed rows unchanged, then compares each.
 *
 * At most one of the two places can be opened at any time. The target is closed before its first row is written, and the source
 * before the target is opened. After a kill in between, neither opens, and the same move resumes.
 */
import { HelmdeckError } from "../../engine/errors.ts";
import { KeyRing, keyIdOf } from "../../engine/store/key-ring.ts";
import type { MasterKey } from "../../engine/store/master-key.ts";
import type { UnixMs } from "../../engine/store/memory-store.ts";
import {
  copyRows,
  countRows,
  type MovableStore,
  type MovedRows,
  movedError,
  type RowCounts,
  type StoreHead,
  verifyRows,
} from "../../engine/store/moving/movable-store.ts";

/** `look`: changes nothing. `leave`: locks it exclusively. `enter`: like `leave`, and creates a missing one. */
export type OpenPlace = (to: "look" | "leave" | "enter") => Promise<MovableStore | undefined>;

export interface MoveOptions {
  readonly from: OpenPlace;
  readonly to: OpenPlace;
  readonly key: MasterKey;
  readonly now: () => UnixMs;
  /** Progress: rows that are copied, then rows that are compared. */
  readonly onRows?: (done: number, total: number) => void;
}

export interface MovePlan {
  readonly from: string;
  /** Absent when the target does not exist yet. */
  readonly to?: string;
  readonly storeId: string;
  readonly rows: RowCounts;
  /** Continues an unfinished run. */
  readonly resumes: boolean;
}

export type MovedMemory = MovePlan & MovedRows & { readonly to: string };

/**
 * @throws `store_locked` while somebody has one of them open; `store_not_ours` when the target holds another memory;
 * `store_moved` when the source was already moved elsewhere, or the target is in use; `key_wrong`; `store_corrupt` when a row
 * differs afterwards.
 */
export async function moveMemory(options: MoveOptions): Promise<MovedMemory> {
  return withPlaces(options, ["leave", "enter"], async (from, to) => {
    if (to === undefined) throw new HelmdeckError("internal", "The target of a move was not created.");
    const head = await requireMovable(from, options.key);
    const plan = await planOf(from, head, to);
    const at = options.now();
    await to.begin({ ...head, generation: head.generation + 1 }, { kind: "incoming", place: from.name, at });
    const counted = counting(plan.rows, options.onRows);
    const moved = await copyRows({ from, to }, counted);
    await verifyRows({ from, to }, counted);
    await from.markAway({ kind: "away", place: to.name, at });
    await to.finish(head);
    return { ...plan, ...moved, to: to.name };
  });
}

/** What {@link moveMemory} would do. Changes nothing, and does not check whether somebody has one of them open. */
export async function planMove(options: MoveOptions): Promise<MovePlan> {
  return withPlaces(options, ["look", "look"], async (from, to) =>
    planOf(from, await requireMovable(from, options.key), to),
  );
}

/** Reopens the memory that a move left behind. Throws `invalid_input` when it was not moved. */
export async function reopenMemory(
  place: OpenPlace,
): Promise<{ readonly name: string; readonly was: string }> {
  const store = requireStore(await place("leave"));
  try {
    const head = await store.head();
    if (head?.mark?.kind !== "away")
      throw new HelmdeckError(
        "invalid_input",
        `The memory database ${store.name} was not moved away; it was not changed.`,
      );
    await store.reopen(head.generation + REOPENED);
    return { name: store.name, was: head.mark.place };
  } finally {
    await store.close();
  }
}

/** The other place is one generation ahead. */
const REOPENED = 2;

async function withPlaces<T>(
  options: MoveOptions,
  [leaving, entering]: readonly [Parameters<OpenPlace>[0], Parameters<OpenPlace>[0]],
  work: (from: MovableStore, to: MovableStore | undefined) => Promise<T>,
): Promise<T> {
  const from = requireStore(await options.from(leaving));
  try {
    const to = await options.to(entering);
    try {
      return await work(from, to);
    } finally {
      await to?.close();
    }
  } finally {
    await from.close();
  }
}

function requireStore(store: MovableStore | undefined): MovableStore {
  if (store === undefined) throw nothingThere();
  return store;
}

function nothingThere(): HelmdeckError {
  return new HelmdeckError(
    "store_unavailable",
    "There is no memory to move: nothing has been stored there yet.",
  );
}

async function requireMovable(from: MovableStore, key: MasterKey): Promise<StoreHead> {
  const head = await from.head();
  if (head === undefined) throw nothingThere();
  if (KeyRing.open(key, head.keys) === undefined) {
    throw new HelmdeckError(
      "key_wrong",
      `${from.name} was created with another key than the configured one (${keyIdOf(key)}); nothing was moved. Find its key.`,
    );
  }
  if (head.keys.change === undefined && head.keys.legacy === undefined) return head;
  throw new HelmdeckError(
    "store_locked",
    `The key of ${from.name} is being changed. Finish that with helmdeck-memory rotate-key first.`,
  );
}

async function planOf(from: MovableStore, head: StoreHead, to: MovableStore | undefined): Promise<MovePlan> {
  const there = await to?.head();
  const resumes = there?.storeId === head.storeId && there.mark?.kind === "incoming";
  if (head.mark !== undefined && !(resumes && head.mark.kind === "away"))
    throw movedError(from.name, head.mark);
  if (to !== undefined && there !== undefined) await requireFree(to, there, head);
  return {
    from: from.name,
    ...(to && { to: to.name }),
    storeId: head.storeId,
    rows: await countRows(from),
    resumes,
  };
}

/** The target may be empty, or hold what this memory left there. */
async function requireFree(to: MovableStore, there: StoreHead, { storeId }: StoreHead): Promise<void> {
  if (there.storeId === storeId) {
    if (there.mark !== undefined) return;
    throw new HelmdeckError(
      "store_moved",
      `${to.name} is the same memory and is in use, so its new data would be lost. Nothing was moved. If the source that ` +
        "you named is the right one, move the target away first.",
    );
  }
  const { entries, history } = await countRows(to);
  if (entries + history === 0 && there.mark === undefined) return;
  throw new HelmdeckError(
    "store_not_ours",
    `${to.name} holds another memory (${entries} entries), so nothing was moved. Choose an empty target: another database, schema or file.`,
    { details: { entries } },
  );
}

/** Each row is copied, and later compared. */
function counting(rows: RowCounts, onRows: MoveOptions["onRows"] = () => {}): (more: number) => void {
  const total = 2 * Object.values(rows).reduce((sum, count) => sum + count, 0);
  let done = 0;
  onRows(done, total);
  return (more) => {
    done += more;
    onRows(done, total);
  };
}
