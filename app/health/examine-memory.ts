/** Doctor: examines everything that memory needs, and reports problems with remedies. */
import { asHelmdeckError } from "../../engine/errors.ts";
import { pagesOf } from "../../engine/pages-of.ts";
import { projectEntry } from "../../engine/projections/chunks.ts";
import { type KeyPlaces, type LoadedKey, nameOfKeySource } from "../../engine/store/find-key.ts";
import type { InspectOptions, MemoryStore, StoreReport } from "../../engine/store/memory-store.ts";
import { snapshotBytes, snapshotFolder } from "../../engine/store/sqlite/index-snapshots.ts";
import { reasonOf } from "../availability.ts";
import { KEEP_A_COPY, type Opened } from "../keys/store-notes.ts";
import type { DoctorReport, Finding } from "../memory.ts";
import { counted } from "../presenters/words.ts";
import { lifetimeFindings, oldCopyFindings, rotationFindings, savedKeyOf } from "./findings.ts";
import { copiesBeside, fileFacts, isBeside } from "./private-files.ts";
import { remedyFor } from "./remedies.ts";

/** Rows examined per turn of the event loop. */
const PAGE_ROWS = 250;

/** The source of an open memory's key; see `loadOrMakeKey`. */
export interface KeyFacts {
  readonly source: string;
  readonly made: boolean;
  readonly file?: string;
  readonly warning?: string;
}

/** Without the key itself. `loaded` is undefined until there is one. */
export function keyFactsOf(loaded: LoadedKey | undefined, options: KeyPlaces): KeyFacts {
  if (loaded === undefined) return { source: nameOfKeySource(options), made: false };
  const { key: _, ...facts } = loaded;
  return facts;
}

export interface PlaceFacts {
  readonly databasePath: string;
  readonly keyPath: string;
}

export interface OpenMemoryFacts {
  readonly store: MemoryStore;
  readonly key: KeyFacts;
  readonly notes?: Opened | undefined;
  readonly location: PlaceFacts & { readonly driver: string };
  /** The error of the last sweep. */
  readonly sweepFailure: unknown;
}

/** Slow on a large store: opens every row. Never throws; a store that fails meanwhile is a finding. */
export async function examineOpenMemory(
  facts: OpenMemoryFacts,
  options: InspectOptions = {},
): Promise<DoctorReport> {
  const { store, key, notes, location, sweepFailure } = facts;
  try {
    const report = await store.inspect(options);
    const findings = [
      {
        level: "ok",
        check: "memory",
        message: `Open in ${location.databasePath}, through ${location.driver}.`,
      } as const,
      ...(store.capabilities.persistent ? await fileFindings(location) : []),
      ...keyFindings(key, location, await savedKeyOf(report, notes)),
      ...(await oldCopyFindings(notes, location.databasePath)),
      ...(await rotationFindings(report, key.file)),
      ...storeFindings(report),
      ...(await lifetimeFindings(store)),
      await damagedRowsFinding(store),
      await countFinding(store, report),
      ...sweepFindings(sweepFailure),
    ];
    return { findings, store: report };
  } catch (error) {
    return examineFailure(location, error);
  }
}

/** The report when there is no database: perhaps nothing was stored yet, perhaps the path is wrong. */
export async function examineNothing(place: PlaceFacts, notice = ""): Promise<DoctorReport> {
  const missing: Finding = {
    level: "warning",
    check: "memory",
    message: notice,
    remedy: "If your memory is in another place, set it (OPENCLAW_STATE_DIR, or the path of the database).",
  };
  return { findings: [missing, await keyFileFinding(place)] };
}

/** The report for a memory that does not open. Accepts any error; never throws. */
export async function examineFailure(place: PlaceFacts, failure: unknown): Promise<DoctorReport> {
  const { code, message } = asHelmdeckError(reasonOf(failure));
  const findings: Finding[] = [
    { level: "error", check: "memory", message: `${message} (${code})`, remedy: remedyFor(code) },
  ];
  findings.push(...(await fileFindings(place)));
  if (code !== "key_missing") findings.push(await keyFileFinding(place));
  return { findings };
}

async function keyFileFinding({ keyPath }: PlaceFacts): Promise<Finding> {
  const { kind } = await fileFacts(keyPath);
  const there = {
    absent: "There is no key file at",
    file: "There is a key file at",
    other: "There is no readable file at",
  };
  return { level: "ok", check: "key", message: `${there[kind]} ${keyPath}.` };
}

async function fileFindings({ databasePath }: PlaceFacts): Promise<readonly Finding[]> {
  const file = await fileFacts(databasePath);
  const copies = await copiesBeside(databasePath);
  const findings: Finding[] = [];
  const indexes = snapshotFolder(databasePath);
  const indexBytes = await snapshotBytes(databasePath);
  if (indexBytes === undefined) {
    findings.push({
      level: "warning",
      check: "space",
      message: `${indexes} is no folder, or a link to one, so no search index is kept there: the first search of a large memory takes seconds.`,
      remedy: "Move it away; memory makes the folder again.",
    });
  } else if (indexBytes > 0) {
    findings.push({
      level: "ok",
      check: "space",
      message: `Encrypted copies of search indexes take ${(indexBytes / 2 ** 20).toFixed(1)} MiB in ${indexes}. They make starts quick, and can be deleted at any time.`,
    });
  }
  if (file.kind === "file" && file.sharedMode !== undefined) {
    findings.push({
      level: "warning",
      check: "database",
      message: `${databasePath} is accessible to other accounts (mode ${file.sharedMode}): they can read its keys and categories.`,
      remedy: `chmod 600 ${databasePath}`,
    });
  }
  if (file.kind === "file" && file.owner !== undefined) {
    findings.push({
      level: "warning",
      check: "database",
      message: `${databasePath} belongs to another account (uid ${file.owner}), and this process runs as root.`,
      remedy: "Run it as that account.",
    });
  }
  if (copies.length > 0) {
    findings.push({
      level: "warning",
      check: "copies",
      message: `Beside the database ${copies.length === 1 ? "lies" : "lie"} ${copies.slice(0, 5).join(", ")}. A copy keeps facts that you forget in the original.`,
      remedy: "Delete copies that you do not need, and keep backups elsewhere.",
    });
  }
  return findings;
}

/** `savedAt`: when a person confirmed that they have a copy of the key. */
function keyFindings(
  key: KeyFacts,
  { databasePath, keyPath }: PlaceFacts,
  savedAt: string | undefined,
): readonly Finding[] {
  const findings: Finding[] = [];
  if (key.made) {
    findings.push({
      level: "warning",
      check: "key",
      message: `A new key was just created: ${key.source}. It is in no backup yet.`,
      remedy: KEEP_A_COPY,
    });
  } else if (savedAt !== undefined) {
    findings.push({
      level: "ok",
      check: "key",
      message: `The key comes from ${key.source}. You confirmed on ${savedAt.slice(0, 10)} that you keep a copy.`,
    });
  } else {
    findings.push({
      level: "ok",
      check: "key",
      message: `The key comes from ${key.source}.`,
      remedy: KEEP_A_COPY,
    });
  }
  if (key.warning !== undefined) findings.push({ level: "warning", check: "key", message: key.warning });
  if (key.source === keyPath && isBeside(keyPath, databasePath)) {
    findings.push({
      level: "warning",
      check: "key",
      message:
        "The key file is in the database's folder, which OpenClaw's backup copies into an unencrypted archive.",
      remedy: "Move the key file elsewhere and set HELMDECK_MEMORY_KEY_FILE to its path.",
    });
  }
  return findings;
}

const HIDDEN_UNTIL_SWEPT =
  "hidden, and deleted once that has been so for 24 hours in which memory was in use, so that a wrong clock deletes nothing";

function storeFindings(report: StoreReport): readonly Finding[] {
  const { integrity, unreadable, expired, schemaVersion } = report;
  return [
    ...clockFindings(report),
    ...accessFindings(report),
    ...rightsFindings(report),
    ...spaceFindings(report),
    integrityFinding(integrity, schemaVersion),
    unreadable === 0
      ? { level: "ok", check: "rows", message: "Every row can be opened." }
      : {
          level: "error",
          check: "rows",
          message: `${counted(unreadable, "row")} cannot be opened: changed, moved, or encrypted with another key.`,
          remedy: remedyFor("entry_unreadable"),
        },
    {
      level: "ok",
      check: "expiry",
      message:
        expired === 0 ? "Nothing has expired." : `${counted(expired, "row")} expired: ${HIDDEN_UNTIL_SWEPT}.`,
    },
  ];
}

function integrityFinding(integrity: StoreReport["integrity"], schemaVersion: number): Finding {
  const check = "integrity";
  switch (integrity) {
    case "ok":
      return { level: "ok", check, message: `The database is sound (schema ${schemaVersion}).` };
    case "unchecked":
      return {
        level: "ok",
        check,
        message:
          "The structure of a database this large is not checked here, because others would have to wait (every row was opened): " +
          "helmdeck-memory doctor does it.",
      };
    case "damaged":
      return {
        level: "error",
        check,
        message: "The database is damaged.",
        remedy: remedyFor("store_corrupt"),
      };
  }
}

/** A database of an older version that is too large to be compacted at open. */
function spaceFindings({ settings }: StoreReport): readonly Finding[] {
  if (settings.autoVacuum !== 0) return [];
  return [
    {
      level: "ok",
      check: "space",
      message:
        "An older version created this database, so forgotten facts do not return their space to the disk.",
      remedy:
        "helmdeck-memory doctor --compact, once; others cannot write meanwhile, and twice its size must be free.",
    },
  ];
}

function clockFindings({ clockBehindMs }: StoreReport): readonly Finding[] {
  if (clockBehindMs === 0) return [];
  const hours = Math.max(1, Math.round(clockBehindMs / 3_600_000));
  const behind = hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
  return [
    {
      level: "warning",
      check: "clock",
      message: `This machine's clock is at least ${behind} behind. Memory uses the latest time that it has seen.`,
      remedy: "Set the clock, or let NTP set it.",
    },
  ];
}

function accessFindings({ isWritable }: StoreReport): readonly Finding[] {
  if (isWritable) return [];
  return [
    {
      level: "warning",
      check: "database",
      message:
        "The database or its folder cannot be written. Memory can be read, but nothing can be stored or forgotten.",
      remedy: remedyFor("store_readonly"),
    },
  ];
}

/** On a server, a role that owns the tables may do more than an engine needs. */
function rightsFindings({ settings }: StoreReport): readonly Finding[] {
  if (settings.rights !== "owner") return [];
  return [
    {
      level: "warning",
      check: "rights",
      message:
        "The database is opened under the role that owns its tables. An engine under this role could change them, and take off the row-level security between callers.",
      remedy:
        "Give engines a role of their own (helmdeck-memory move --prepare --to STORE --engine-role ROLE, as the owner), and name that role in --store.",
    },
  ];
}

async function damagedRowsFinding(store: MemoryStore): Promise<Finding> {
  let damaged = 0;
  for (const { namespace } of await store.namespaces()) {
    const query = { namespace, origin: "audit", limit: PAGE_ROWS } as const;
    for await (const { entries } of pagesOf((more) => store.list({ ...query, ...more })))
      damaged += entries.filter((entry) => projectEntry(entry).kind === "damaged").length;
  }
  if (damaged === 0) return { level: "ok", check: "audit", message: "Every run record can be read." };
  return {
    level: "warning",
    check: "audit",
    message: `${counted(damaged, "row")} of the run records cannot be read and are not shown.`,
    remedy: "They expire within 30 days. To delete them now, forget packs, pipelines or tools.",
  };
}

async function countFinding(store: MemoryStore, report: StoreReport): Promise<Finding> {
  const namespaces = (await store.namespaces()).length;
  const whose = namespaces === 1 ? "one memory" : `${namespaces} memories`;
  return {
    level: "ok",
    check: "entries",
    message: `${counted(report.entries, "entry", "entries")} in ${whose}.`,
  };
}

function sweepFindings(failure: unknown): readonly Finding[] {
  if (failure === undefined) return [];
  const { code, message } = asHelmdeckError(failure);
  return [
    {
      level: "warning",
      check: "expiry",
      message: `The last sweep failed: ${message} (${code})`,
      remedy: remedyFor(code),
    },
  ];
}
