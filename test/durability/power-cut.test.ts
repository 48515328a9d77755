/**
 * A power cut at any moment loses no acknowledged data, and leaves no partial write.
 *
 * A workload runs under strace. From its writes, syncs and acknowledgements, the test reconstructs possible states of the disk
 * after a power cut at a random moment. It opens each state: the store must match the last acknowledged operation or the next
 * one.
 */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { SqliteDriver } from "../../engine/store/sqlite/sqlite-driver.ts";
import { bundledScript } from "../run/bundles.ts";
import { sized } from "../run/size.ts";
import { type Image, ModelledDisk, writeImage } from "./modelled-disk.ts";
import { type Held, heldAfterEach, heldIn, isSame, operationsOf } from "./operations.ts";
import { childOf, DRIVERS, makeQuickFolder, openIn } from "./place.ts";
import { Random } from "./random.ts";
import { type Call, callsIn, trace, whyNoTrace } from "./traced-calls.ts";

const IMAGES = sized(300, 20_000);
/** The long workload causes a checkpoint, which leaves the log's old bytes in place. */
const LENGTHS = [40, 300];
const IMAGES_OF_A_TRACE = IMAGES / (DRIVERS.length * LENGTHS.length * sized(1, 5));
const SEED = 20_261_122;
/** More can go wrong while key and database are created, so this part gets more cuts. */
const SHARE_OF_BEGINNING = 0.2;
const CALLS_OF_BEGINNING = 80;
const AT_ONCE = 16;
const STDOUT = 1;

interface Workload {
  readonly driver: SqliteDriver;
  readonly seed: number;
  readonly length: number;
}

/** The disk after a power cut, and the number of operations acknowledged before it. */
interface Cut {
  readonly name: string;
  readonly image: Image;
  readonly acknowledged: number;
}

const WORKLOADS: readonly Workload[] = DRIVERS.flatMap((driver) =>
  Array.from({ length: sized(1, 5) }, (_, i) => i).flatMap((i) =>
    LENGTHS.map((length) => ({ driver, length, seed: SEED + i })),
  ),
);

// verifies P-durable-power-cut
describe(`${IMAGES} images of a disk after a power cut`, () => {
  const without = whyNoTrace();
  let script: string;
  beforeAll(async () => {
    script = await bundledScript(childOf("carry-out"));
  });

  test.for(WORKLOADS)(
    "$driver.name, $length operations, seed $seed: no lost acknowledged data and no partial write",
    async (workload, context) => {
      context.skip(without !== undefined, without);
      const folder = await makeQuickFolder();
      try {
        expect(await faultsOf(workload, script, folder)).toEqual([]);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  );
});

async function faultsOf(workload: Workload, script: string, folder: string): Promise<readonly string[]> {
  const { driver, seed, length } = workload;
  const root = join(folder, "traced");
  const file = join(folder, "trace");
  await mkdir(root);
  await trace([process.execPath, script, driver.name, root, `${seed}`, `${length}`], file);
  const calls = await callsIn(file);
  const cuts = cutsOf(calls, root, new Random(seed));
  const after = heldAfterEach(operationsOf(seed, length));
  const held = [...after, ...after.slice(-1)]; // closing is acknowledged too
  const faults: string[] = [];
  const work = async (): Promise<void> => {
    for (const cut of cuts) {
      const place = join(folder, cut.name);
      await writeImage(cut.image, place);
      const fault = await faultOf(cut, { place, driver, held });
      if (fault !== undefined) faults.push(`${cut.name}: ${fault}`);
      else await rm(place, { recursive: true });
    }
  };
  await allDone(Array.from({ length: AT_ONCE }, work));
  expect(calls.filter((call) => acknowledgedBy(call) !== undefined)).toHaveLength(length + 2);
  return faults;
}

/** Waits for every worker before it throws the first error, because the others still write into the folder. */
async function allDone(workers: readonly Promise<void>[]): Promise<void> {
  await Promise.allSettled(workers);
  await Promise.all(workers);
}

/** Cuts at random moments between two calls, in order of time. */
function* cutsOf(calls: readonly Call[], root: string, random: Random): Generator<Cut> {
  const disk = new ModelledDisk(root, (path) => path.endsWith("-shm"));
  const first = calls.findIndex((call) => "path" in call && call.path.startsWith(root));
  const drawMoment = (): number =>
    first + random.below(random.chance(SHARE_OF_BEGINNING) ? CALLS_OF_BEGINNING : calls.length - first + 1);
  const moments = Array.from({ length: IMAGES_OF_A_TRACE }, drawMoment).sort((one, other) => one - other);
  let done = 0;
  let acknowledged = -1;
  for (const [n, moment] of moments.entries()) {
    for (; done < moment; done++) {
      const call = calls[done];
      if (call !== undefined) disk.apply(call);
      acknowledged = (call && acknowledgedBy(call)) ?? acknowledged;
    }
    yield { name: `cut ${n} before call ${moment}`, image: disk.afterCut(random), acknowledged };
  }
}

/** The number of operations that the process has reported as done. */
function acknowledgedBy(call: Call): number | undefined {
  if (call.call !== "write" || call.fd !== STDOUT) return undefined;
  const said: { readonly done: number } = JSON.parse(call.bytes.toString());
  return said.done;
}

async function faultOf(
  { acknowledged }: Cut,
  {
    place,
    driver,
    held,
  }: { readonly place: string; readonly driver: SqliteDriver; readonly held: readonly Held[] },
): Promise<string | undefined> {
  try {
    await mkdir(place, { recursive: true });
    const store = await openIn(place, driver);
    try {
      const found = await heldIn(store);
      const { integrity, unreadable, entries } = await store.inspect();
      if (integrity !== "ok" || unreadable > 0 || entries !== found.size)
        return `inspected: ${integrity}, ${unreadable}`;
      if (isSame(found, held[Math.max(0, acknowledged)]) || isSame(found, held[acknowledged + 1]))
        return undefined;
      return `holds neither what operation ${acknowledged} left nor the next: ${describeHeld(found, held)}`;
    } finally {
      await store.close();
    }
  } catch (error) {
    return String(error);
  }
}

function describeHeld(found: Held, held: readonly Held[]): string {
  const when = held.findLastIndex((then) => isSame(found, then));
  return when === -1 ? "something half" : `what operation ${when} left`;
}
