/**
 * A disk that fails or is full at any system call: the store reports a typed error, and the entry has the old or the new value.
 *
 * strace makes the n-th call of one kind fail, for every n in a workload. With `+` all later calls fail too. When the disk works
 * again, all acknowledged changes must be present. Refused changes may be present, but nothing else.
 */
import { execFile } from "node:child_process";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { ERROR_CODES } from "../../engine/errors.ts";
import type { SqliteDriver } from "../../engine/store/sqlite/sqlite-driver.ts";
import { bundledScript } from "../run/bundles.ts";
import { sized } from "../run/size.ts";
import { type Held, heldAfter, heldIn, type Operation, operationsOf } from "./operations.ts";
import { childOf, DRIVERS, filesIn, makeQuickFolder, openIn } from "./place.ts";
import { whyNoTrace } from "./traced-calls.ts";

const run = promisify(execFile);

interface Fault {
  readonly name: string;
  readonly call: string;
  readonly error: string;
  readonly from: string;
}

const FAULTS: readonly Fault[] = [
  { name: "ENOSPC at the n-th pwrite64+", call: "pwrite64", error: "ENOSPC", from: "+" },
  { name: "EIO at the n-th pwrite64", call: "pwrite64", error: "EIO", from: "" },
  { name: "EIO at the n-th fsync", call: "fsync", error: "EIO", from: "" },
  { name: "EIO at the n-th fsync+", call: "fsync", error: "EIO", from: "+" },
  { name: "EIO at the n-th fdatasync", call: "fdatasync", error: "EIO", from: "" },
  { name: "EIO at the n-th ftruncate", call: "ftruncate", error: "EIO", from: "" },
  { name: "EIO at the n-th openat", call: "openat", error: "EIO", from: "" },
  { name: "EIO at the n-th pread64", call: "pread64", error: "EIO", from: "" },
];
const MORE_FAULTS: readonly Fault[] = [
  { name: "ENOSPC at the n-th pwrite64", call: "pwrite64", error: "ENOSPC", from: "" },
  { name: "ENOSPC at the n-th ftruncate", call: "ftruncate", error: "ENOSPC", from: "" },
  { name: "ENOSPC at the n-th openat", call: "openat", error: "ENOSPC", from: "" },
  { name: "EMFILE at the n-th openat+", call: "openat", error: "EMFILE", from: "+" },
  { name: "EIO at the n-th pread64+", call: "pread64", error: "EIO", from: "+" },
  { name: "EIO at the n-th unlink", call: "unlink", error: "EIO", from: "" },
  { name: "EIO at the n-th link", call: "link", error: "EIO", from: "" },
  { name: "ENOSPC at the n-th mkdir", call: "mkdir", error: "ENOSPC", from: "" },
];
/** Each workload stores, overwrites, stores many, forgets and reopens. */
const SEEDS = [46, 19, 6, 43, 31];
const LENGTH = sized(7, 10);
const AT_ONCE = 3;
const HANGS_AFTER_MS = 60_000;

/** A process's report on an operation; 0 is the first opening. */
interface Said {
  readonly done?: number;
  readonly refused?: number;
  readonly code?: string;
  readonly why?: string;
  /** False if the opening was refused: the next operation tries to open again. */
  readonly wasOpen?: boolean;
}

interface Workload {
  readonly driver: SqliteDriver;
  readonly seed: number;
}

/** Both libraries are SQLite: in the small size they take turns from fault to fault. */
function workloadsOf(nth: number): readonly Workload[] {
  const drivers = DRIVERS.filter((_, n) => n === nth % DRIVERS.length || sized(0, 1) === 1);
  return drivers.flatMap((driver) => SEEDS.slice(0, sized(1, 5)).map((seed) => ({ driver, seed })));
}

const TRIED = [...FAULTS, ...MORE_FAULTS.slice(0, sized(0, MORE_FAULTS.length))].map((fault, nth) => ({
  ...fault,
  fault,
  workloads: workloadsOf(nth),
}));

// verifies P-durable-disk-fails, P-durable-full-disk
describe.each(TRIED)("$name", ({ fault, workloads }) => {
  const without = whyNoTrace();
  let script: string;
  beforeAll(async () => {
    script = await bundledScript(childOf("carry-out"));
  });

  test.for(workloads)(
    "$driver.name, workload $seed, for every n: a typed error, no lost data and no partial write",
    async (workload, context) => {
      context.skip(without !== undefined, without);
      const folder = await makeQuickFolder();
      try {
        expect(await faultsOf({ ...workload, fault, script, folder })).toEqual([]);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  );
});

interface Trial extends Workload {
  readonly fault: Fault;
  readonly script: string;
  readonly folder: string;
}

/** Tries n from 1 until the workload has no such call. */
async function faultsOf(trial: Trial): Promise<readonly string[]> {
  const faults: string[] = [];
  let next = 1;
  let isOver = false;
  const work = async (): Promise<void> => {
    while (!isOver) {
      const n = next++;
      const { failed, problem } = await tryOne(trial, n);
      isOver ||= !failed;
      if (problem !== undefined) faults.push(`n = ${n}: ${problem}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return faults;
}

async function tryOne(
  trial: Trial,
  n: number,
): Promise<{ readonly failed: boolean; readonly problem?: string }> {
  const root = join(trial.folder, `${n}`);
  const traced = `${root}.trace`;
  await mkdir(root);
  const said = await carryOutFailing(trial, n, { root, traced });
  const failed = (await readFile(traced, "latin1")).includes("(INJECTED)");
  const problem =
    typeof said === "string" ? said : (problemIn(said, trial) ?? (await problemOf(root, said, trial)));
  await rm(root, { recursive: true });
  return { failed, ...(problem !== undefined && { problem }) };
}

/** The process's reports, or the reason of an abnormal exit. */
async function carryOutFailing(
  { driver, seed, fault, script }: Trial,
  n: number,
  { root, traced }: { readonly root: string; readonly traced: string },
): Promise<readonly Said[] | string> {
  const { call, error, from } = fault;
  const inject = `inject=${call}:error=${error}:when=${n}${from}`;
  const paths = filesIn(root).flatMap((path) => ["-P", path]);
  const options = ["-f", "--seccomp-bpf", "-e", "signal=none", "-e", `trace=${call}`, "-e", inject];
  const command = [process.execPath, script, driver.name, root, `${seed}`, `${LENGTH}`];
  try {
    const args = [...options, ...paths, "-o", traced, ...command];
    const { stdout } = await run("strace", args, {
      timeout: HANGS_AFTER_MS,
      killSignal: "SIGKILL",
      // strace counts the calls of each thread separately.
      env: { ...process.env, UV_THREADPOOL_SIZE: "1" },
    });
    return stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  } catch (ending) {
    return `the process crashed or hung: ${ending}`;
  }
}

function problemIn(said: readonly Said[], { fault, seed }: Trial): string | undefined {
  if (said.length !== LENGTH + 2) return `said ${said.length} things: ${JSON.stringify(said)}`;
  const refusals = said.filter(({ refused }) => refused !== undefined);
  const codes: readonly string[] = ERROR_CODES;
  const odd = refusals.find(({ code = "" }) => !codes.includes(code) || code === "internal");
  if (odd !== undefined) return `not a named error: ${JSON.stringify(odd)}`;
  const untrue = refusals.find(({ code }) => code === "store_full" && fault.error !== "ENOSPC");
  if (untrue !== undefined) return `reported as a full disk: ${JSON.stringify(untrue)}`;
  return fault.call === "fsync" ? acknowledgedAfterFailedSync(said, operationsOf(seed, LENGTH)) : undefined;
}

/** After a failed sync, earlier writes may be missing from the disk even if a later sync succeeds. */
function acknowledgedAfterFailedSync(
  said: readonly Said[],
  operations: readonly Operation[],
): string | undefined {
  const failed = said.findIndex(({ refused = 0, wasOpen }) => refused > 0 && wasOpen);
  if (failed === -1) return undefined;
  const reopened = operations.findIndex((operation, n) => n + 1 >= failed && operation.do === "reopen");
  const until = reopened === -1 ? LENGTH : reopened;
  const late = said.slice(failed, until + 1).find(({ done }) => done !== undefined);
  return late && `acknowledged after a failed sync: ${JSON.stringify(said)}`;
}

async function problemOf(
  root: string,
  said: readonly Said[],
  { driver, seed }: Trial,
): Promise<string | undefined> {
  try {
    const store = await openIn(root, driver);
    try {
      const found = await heldIn(store);
      const { integrity, unreadable } = await store.inspect();
      if (integrity !== "ok" || unreadable > 0) return `inspected: ${integrity}, ${unreadable}`;
      return canLeadTo(found, said, operationsOf(seed, LENGTH))
        ? undefined
        : `lost or half: ${JSON.stringify(said)}, found ${[...found.keys()]}`;
    } finally {
      await store.close();
    }
  } catch (error) {
    return `cannot be opened again: ${error}, after ${JSON.stringify(said)}`;
  }
}

/**
 * Whether all acknowledged operations and any of the refused ones lead to `found`; of refused puts of one moment, any may have
 * taken effect. From the last operation to the first: a refused one took effect if the keys that nothing later changed have its
 * values. To assume so never excludes an earlier operation.
 */
function canLeadTo(found: Held, said: readonly Said[], operations: readonly Operation[]): boolean {
  const before: Held = new Map([...keysOf(operations), ...found.keys()].map((key) => [key, UNCHANGED]));
  const explained = new Set<string>();
  for (const { part, isDone } of partsOf(operations, said).toReversed()) {
    const after = heldAfter(before, part);
    const changed = [...before.keys()].filter((key) => after.get(key) !== UNCHANGED && !explained.has(key));
    if (changed.every((key) => after.get(key) === found.get(key)))
      for (const key of changed) explained.add(key);
    else if (isDone) return false;
  }
  return [...found.keys()].every((key) => explained.has(key));
}

/** No operation puts it. */
const UNCHANGED = "";

function keysOf(operations: readonly Operation[]): readonly string[] {
  return operations.flatMap((operation) =>
    "facts" in operation ? operation.facts.map(({ key }) => key) : [],
  );
}

/** What can take effect alone. */
interface Part {
  readonly part: Operation;
  readonly isDone: boolean;
}

function partsOf(operations: readonly Operation[], said: readonly Said[]): readonly Part[] {
  return operations.flatMap((operation, n): readonly Part[] => {
    if (said[n + 1]?.done !== undefined) return [{ part: operation, isDone: true }];
    if (operation.do !== "putTogether") return [{ part: operation, isDone: false }];
    return operation.facts.map((fact) => ({ part: { do: "put", facts: [fact] }, isDone: false }));
  });
}
