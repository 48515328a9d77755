/** Fills a memory with many facts for measurements. */
import { join } from "node:path";
import { openMemory } from "../../app/open-memory.ts";
import { nodeSqliteDriver } from "../../engine/store/sqlite/node-sqlite-driver.ts";
import { importLines } from "../../test/transfer/import-lines.ts";

/** The last fact is {@link NEEDLE}. */
export function fillMemory(stateDir: string, subject: string, entries: number): Promise<void> {
  return importInto(stateDir, subject, facts(entries));
}

/** Imports into the database that a gateway with this state folder opens. Throws if a line is refused. */
export async function importInto(
  stateDir: string,
  subject: string,
  input: AsyncIterable<Uint8Array>,
): Promise<void> {
  const memory = await openMemory({
    databasePath: join(stateDir, "helmdeck-memory", "memory.sqlite"),
    keyPath: join(stateDir, "helmdeck-memory.key"),
    driver: nodeSqliteDriver,
    env: {},
  });
  try {
    const { refused } = await importLines({ memory, subject, input });
    if (refused[0] !== undefined)
      throw new Error(`Line ${refused[0].line} was refused: ${refused[0].reason}`);
  } finally {
    await memory.close();
  }
}

/** A query, and the fact that answers it. */
export const NEEDLE = { query: "who repairs the espresso machine", key: "office/espresso-machine" };

async function* facts(entries: number): AsyncGenerator<Uint8Array> {
  for (let index = 1; index < entries; index += 1) {
    const topic = `topic${index % 997}`;
    yield line(
      `${topic}/fact-${index}`,
      `The deploy preference number ${index} of ${topic} is written down here.`,
    );
  }
  yield line(NEEDLE.key, "Marta from the third floor repairs the espresso machine; call her on 4711.");
}

function line(key: string, value: string): Uint8Array {
  return Buffer.from(`${JSON.stringify({ key, value })}\n`);
}
