/** Reads for a hook: facts of the memory that the settings name, without creating anything. */

import { byCreation } from "../../app/pins.ts";
import { findStorage } from "../../app/storage-location.ts";
import type { Shell } from "../../commands/shell.ts";
import { defined } from "../../engine/defined.ts";
import { PINNED } from "../../engine/facts/marks.ts";
import type { Entry } from "../../engine/store/memory-store.ts";
import { namespaceOf } from "../../engine/store/namespace.ts";
import { betterSqliteDriver } from "../../engine/store/sqlite/better-sqlite-driver.ts";
import { askReader, projectPrefix } from "../../seam/index.ts";
import { type ClientSettings, environmentOf } from "./client-settings.ts";
import type { NamedText, SessionFacts } from "./session-text.ts";

/** More than fit. */
const MOST_OF_PROJECT = 20;
/** More than can be pinned. */
const MOST_PINNED = 100;

/** Undefined if memory is absent. Throws if it is broken. `project`: its slug. */
export async function readSessionFacts(
  settings: ClientSettings,
  shell: Shell,
  project: Promise<string | undefined> | undefined,
): Promise<SessionFacts | undefined> {
  if (settings.engine !== undefined) return sessionFactsOfEngine(settings, settings.engine, project);
  const facts = { namespace: namespaceOf(settings.caller), origin: "fact" } as const;
  const asked = await askReader(
    { ...placeOf(settings, shell), driver: betterSqliteDriver },
    async (reader) => {
      const pinned = await reader.list({ ...facts, tag: PINNED, limit: MOST_PINNED });
      const slug = await project;
      const ofProject =
        slug === undefined
          ? []
          : (await reader.list({ ...facts, prefix: projectPrefix(slug), limit: MOST_OF_PROJECT })).entries;
      return {
        pinned: pinned.entries.toSorted(byCreation).map(namedText),
        project: ofProject.map(namedText),
      };
    },
  );
  return asked.kind === "absent" ? undefined : asked.answer;
}

function namedText({ key, value }: Entry): NamedText {
  return { key, value: Buffer.from(value).toString() };
}

/** Facts that surely answer the prompt, best first. */
export async function readSureHits(
  settings: ClientSettings,
  shell: Shell,
  prompt: string,
): Promise<readonly NamedText[]> {
  const memory =
    settings.engine === undefined
      ? await openHere(settings, shell)
      : await openEngine(settings, settings.engine);
  const { results } = await memory.search(settings.caller, { query: prompt, recall: "quiet" });
  return results.flatMap(({ kind, possible, key, snippet }) =>
    kind === "fact" && possible === undefined ? [{ key, value: snippet }] : [],
  );
}

function placeOf(settings: ClientSettings, { env: given, homeDir, now }: Shell) {
  const env = environmentOf(settings, given);
  const { databasePath } = settings;
  return { ...findStorage({ env, homeDir, ...defined({ databasePath }) }), env, now };
}

/** By keywords only: a model would take longer to start than a hook may take. */
async function openHere(settings: ClientSettings, shell: Shell) {
  const { openMemory } = await import("../../app/open-memory.ts");
  const { NO_EMBEDDINGS } = await import("../../app/embedding/embedding-settings.ts");
  return openMemory({
    ...placeOf(settings, shell),
    ...{ driver: betterSqliteDriver, access: "read", sweepEveryMs: 0, embedsEntries: false },
    embeddings: NO_EMBEDDINGS,
  });
}

type Engine = NonNullable<ClientSettings["engine"]>;

async function sessionFactsOfEngine(
  settings: ClientSettings,
  engine: Engine,
  project: Promise<string | undefined> | undefined,
): Promise<SessionFacts> {
  const { caller } = settings;
  const memory = await openEngine(settings, engine);
  const slug = await project;
  const [pins, own] = await Promise.all([
    memory.listFacts(caller, { pinned: true }),
    slug === undefined
      ? { facts: [] }
      : memory.listFacts(caller, { prefix: projectPrefix(slug), limit: MOST_OF_PROJECT }),
  ]);
  return { pinned: pins.facts, project: own.facts };
}

async function openEngine({ caller }: ClientSettings, { url, tokenFile }: Engine) {
  const { openEngineMemory } = await import("../../app/remote/engine/engine-memory.ts");
  const { checkEngineAddress } = await import("../../app/remote/engine/engine-address.ts");
  return openEngineMemory({
    address: checkEngineAddress({ url }, () => "The engine"),
    agents: [caller],
    tokenOf: () => readToken(tokenFile),
  });
}

/** Read when it is sent, so that a renewed one takes effect. */
export async function readToken(file: string): Promise<string> {
  const { readSecretFile } = await import("../../app/secret-file.ts");
  return Buffer.from(await readSecretFile(file))
    .toString()
    .trim();
}
