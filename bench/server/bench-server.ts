/**
 * `npm run bench:server -- --help`: measures facts stored and read per second over REST, compared with the same hono over a plain table.
 *
 * The difference is the cost of everything that the baseline leaves out: authentication, the facts policy, sealing, the change feed, the
 * search for similar facts, limits and guards. Client and servers share the machine. All servers sync every write. Each does the same number of requests, so that
 * their memories are equally large.
 */
import autocannon from "autocannon";
import { buildAll } from "../../scripts/build/build.ts";
import { runBench, WRITE } from "../bench-options.ts";
import { keepRaw, showSection, writeSection } from "../bench-report.ts";
import { type Measured, quantile, table } from "../measured.ts";
import { madeFact } from "../search/made-facts.ts";
import { type Compared, type RunningServer, serverSubjects } from "./subjects.ts";

const CONNECTIONS = [1, 8, 64] as const;
/** The requests of each row. */
const REQUESTS = { store: 2_000, "store, without similar facts": 2_000, read: 20_000 } as const;
const WARM_UP = 1_000;
/** When a server's memory is looked at in between: every server stores so many in the rows with similar facts. */
const STORES_LOOKED_AT = 6_600;

type RequestKind = keyof typeof REQUESTS;

interface Sample {
  readonly server: string;
  readonly work: RequestKind;
  readonly connections: number;
  readonly perSecond: number;
  /** Processor time of the server for each request. */
  readonly processorMs: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
}

interface Residence {
  readonly server: string;
  readonly beforeMb: number;
  /** After {@link STORES_LOOKED_AT} stores. */
  readonly betweenMb: number;
  readonly afterMb: number;
  readonly stored: number;
}

export async function measureServer(
  onProgress: (message: string) => void,
  compared: Compared,
): Promise<Measured> {
  await buildAll();
  const samples: Sample[] = [];
  const residences: Residence[] = [];
  for (const { name, canStoreAlone, start } of serverSubjects(compared)) {
    const server = await start();
    const works: readonly RequestKind[] = canStoreAlone
      ? ["store", "store, without similar facts", "read"]
      : ["store", "read"];
    try {
      const beforeMb = server.residentMb();
      let betweenMb = Number.NaN;
      const keys = new Keys((stored) => {
        if (stored === STORES_LOOKED_AT) betweenMb = server.residentMb();
      });
      await load(server, "store", 8, WARM_UP, keys);
      for (const work of works) {
        for (const connections of CONNECTIONS) {
          onProgress(`${name.replaceAll("*", "")}: ${work}, ${connections} connections`);
          samples.push({ server: name, ...(await load(server, work, connections, REQUESTS[work], keys)) });
        }
      }
      const afterMb = server.residentMb();
      residences.push({ server: name, beforeMb, betweenMb, afterMb, stored: keys.stored });
    } finally {
      await server.stop();
    }
  }
  return report(samples, residences, compared);
}

/** Every write is a new fact. Every read is of a fact that was written, spread over the whole table. */
class Keys {
  stored = 0;
  readonly #onStored: (stored: number) => void;
  #written = 0;
  #read = 0;

  constructor(onStored: (stored: number) => void) {
    this.#onStored = onStored;
  }

  noteStored(): void {
    this.stored += 1;
    this.#onStored(this.stored);
  }

  toWrite(): { readonly key: string; readonly value: string } {
    const number = this.#written++;
    return { key: keyOf(number), value: madeFact(number).value };
  }

  toRead(): string {
    return keyOf((this.#read++ * 7_919) % this.stored);
  }
}

function keyOf(number: number): string {
  return `team/topic-${number % 97}/fact-${number}`;
}

async function load(
  server: RunningServer,
  work: RequestKind,
  connections: number,
  requests: number,
  keys: Keys,
): Promise<Omit<Sample, "server">> {
  const setupRequest = (request: autocannon.Request): autocannon.Request =>
    work !== "read"
      ? {
          ...request,
          method: "POST",
          path: "/api/v1/memory/store",
          body: JSON.stringify({ ...keys.toWrite(), ...(work !== "store" && { similar: false }) }),
        }
      : { ...request, method: "GET", path: `/api/v1/memory/facts/${encodeURIComponent(keys.toRead())}` };
  const times: number[] = [];
  const before = server.processorMs();
  const started = performance.now();
  let ended = started; // autocannon itself ends at its next whole second
  await cannon(
    {
      url: server.url,
      connections,
      amount: requests,
      headers: { ...server.headers, "content-type": "application/json" },
      requests: [{ setupRequest }],
    },
    (statusCode, milliseconds) => {
      if (statusCode !== 200) throw new Error(`${work} was answered with ${statusCode}`);
      times.push(milliseconds);
      ended = performance.now();
      if (work !== "read") keys.noteStored();
    },
  );
  return {
    work,
    connections,
    perSecond: times.length / ((ended - started) / 1_000),
    processorMs: (server.processorMs() - before) / times.length,
    p50Ms: quantile(times, 0.5),
    p95Ms: quantile(times, 0.95),
  };
}

function cannon(
  options: autocannon.Options,
  onResponse: (statusCode: number, milliseconds: number) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const instance = autocannon(options, (error) => (error ? reject(error) : resolve()));
    instance.on("response", (_client, statusCode, _bytes, milliseconds) => {
      onResponse(statusCode, milliseconds);
    });
  });
}

function report(
  samples: readonly Sample[],
  residences: readonly Residence[],
  { onPostgres }: Compared,
): Measured {
  const rows = samples.map(({ server, work, connections, perSecond, processorMs, p50Ms, p95Ms }) => [
    server,
    work,
    String(connections),
    perSecond.toFixed(0),
    processorMs.toFixed(2),
    p50Ms.toFixed(2),
    p95Ms.toFixed(2),
  ]);
  const memory = residences.map(({ server, beforeMb, betweenMb, afterMb, stored }) => [
    server,
    beforeMb.toFixed(0),
    betweenMb.toFixed(0),
    afterMb.toFixed(0),
    String(stored),
  ]);
  return {
    title: onPostgres ? "Facts over REST, on PostgreSQL" : "Facts over REST",
    command: onPostgres ? "npm run bench:server -- --postgres" : "npm run bench:server",
    markdown: [
      `One \`helmdeck-memory serve\` process on ${onPostgres ? "PostgreSQL" : "SQLite"}, beside the same HTTP server (Hono) over a bare table. Made-up facts of one caller, about 150 characters each; the same number of requests for each server; client and server share the machine. Ours authenticates each request (HS256), validates it, encrypts the value, records the change, and reports similar facts and what it replaced. The bare one parses JSON and writes a row. Both sync each write to disk. Processor time is that of the server for each request, user and system.`,
      "",
      table(["server", "work", "connections", "per second", "processor ms", "p50 ms", "p95 ms"], rows),
      "",
      table(
        [
          "server",
          "resident MB before",
          `after ${STORES_LOOKED_AT.toLocaleString("en")} stores`,
          "at the end",
          "facts stored",
        ],
        memory,
      ),
    ].join("\n"),
    json: { samples, residences },
  };
}

const BENCH = {
  script: "bench:server",
  about: "Measures facts stored and read over REST, with processor time, beside a bare table.",
  options: {
    beside: { type: "string", value: "DIST", about: "also measures another build, from its dist folder" },
    postgres: { type: "boolean", about: "keeps the memories on PostgreSQL" },
    write: WRITE,
  },
} as const;

if (import.meta.main)
  await runBench(BENCH, async ({ beside, postgres = false, write }) => {
    const onProgress = (message: string) => console.error(`… ${message}`);
    const section = await measureServer(onProgress, { beside, onPostgres: postgres });
    showSection(section);
    if (write) writeSection(section);
    console.log(`\nRaw figures: ${keepRaw("server", [section])}`);
  });
