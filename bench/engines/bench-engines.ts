/**
 * `npm run bench:engines -- --help`: one, two and four engines on PostgreSQL, compared with one on SQLite.
 *
 * Measures writes and searches per second, a search in one namespace of many (cold and warm), and how soon a write through one engine is
 * found through another. Client, engines and database share the machine.
 */
import { buildAll } from "../../scripts/build/build.ts";
import type { Engine } from "../../test/engines/engine.ts";
import { runBench, WRITE, WrongOption } from "../bench-options.ts";
import { keepRaw, showSection, writeSection } from "../bench-report.ts";
import { type Measured, quantile, table } from "../measured.ts";
import type { Size } from "./filled.ts";
import { type Sizes, Subjects } from "./subjects.ts";
import {
  type ColdAndWarm,
  load,
  type Rate,
  type Seen,
  searchEach,
  type Task,
  timesUntilFound,
} from "./work.ts";

const ENGINES = [1, 2, 4] as const;
const WARM_UP_SECONDS = 2;
/** The number of indexes that an engine keeps, at a hundred facts each. */
const NAMESPACES_SEARCHED = 800;
const WRITES_LOOKED_FOR = 200;

interface Options {
  readonly size: Size;
  readonly seconds: number;
  readonly onProgress: (message: string) => void;
}

interface Throughput {
  readonly subject: string;
  readonly work: Task;
  readonly rate: Rate;
}

interface Figures {
  readonly options: Options;
  readonly filledPerSecond: number;
  readonly movedPerSecond: number;
  readonly searches: readonly (ColdAndWarm & { readonly subject: string })[];
  readonly rates: readonly Throughput[];
  readonly seen: readonly (Seen & { readonly subject: string })[];
  readonly sizes: Sizes;
  readonly logBytesPerWrite: number;
}

export async function measureEngines(options: Options): Promise<Measured> {
  await buildAll();
  await using subjects = await Subjects.make(options.size, options.onProgress);
  const sizes = await subjects.sizes();
  const onSqlite = await ofSqlite(subjects, options);
  const onPostgres = await ofPostgres(subjects, options);
  const { filledPerSecond, movedPerSecond } = subjects;
  return report({
    ...{ options, filledPerSecond, movedPerSecond, sizes },
    searches: [onSqlite.searches, onPostgres.searches, onPostgres.searchesAfterRestart],
    rates: [...onSqlite.rates, ...onPostgres.rates],
    seen: [onSqlite.seen, onPostgres.seen],
    logBytesPerWrite: onPostgres.logBytesPerWrite,
  });
}

async function ofSqlite(subjects: Subjects, options: Options) {
  const subject = "SQLite, 1 engine";
  await using engine = await subjects.onSqlite();
  options.onProgress(`${subject}: searches`);
  const searches = { subject, ...(await searchEach(engine, options.size, NAMESPACES_SEARCHED)) };
  const rates = await ratesOf([engine], subject, options);
  const seen = { subject, ...(await timesUntilFound(engine, engine, WRITES_LOOKED_FOR)) };
  return { searches, rates, seen };
}

async function ofPostgres(subjects: Subjects, options: Options) {
  const searches = await searchesOn(subjects, "PostgreSQL, 1 engine", options);
  await subjects.restartPostgres();
  const searchesAfterRestart = await searchesOn(subjects, "PostgreSQL, just restarted", options);
  const rates: Throughput[] = [];
  for (const count of ENGINES) {
    const engines = await subjects.onPostgres(count);
    const subject = `PostgreSQL, ${count} ${count === 1 ? "engine" : "engines"}`;
    rates.push(...(await ratesOf(engines, subject, options).finally(() => stop(engines))));
  }
  const between = await betweenTwo(subjects, options);
  return { searches, searchesAfterRestart, rates, ...between };
}

async function betweenTwo(subjects: Subjects, { size, onProgress }: Options) {
  const subject = "PostgreSQL, through another engine";
  onProgress(subject);
  const engines = await subjects.onPostgres(2);
  const [one, other] = engines;
  if (one === undefined || other === undefined) throw new Error("Two engines were asked for.");
  try {
    const seen = { subject, ...(await timesUntilFound(one, other, WRITES_LOOKED_FOR)) };
    const logBefore = await subjects.logPosition();
    const { times } = await load(engines, "write", { size, seconds: WARM_UP_SECONDS });
    return { seen, logBytesPerWrite: ((await subjects.logPosition()) - logBefore) / times.length };
  } finally {
    await stop(engines);
  }
}

async function searchesOn(subjects: Subjects, subject: string, { size, onProgress }: Options) {
  onProgress(`${subject}: searches`);
  const engines = await subjects.onPostgres(1);
  const [engine] = engines;
  if (engine === undefined) throw new Error("An engine was asked for.");
  const found = await searchEach(engine, size, NAMESPACES_SEARCHED).finally(() => stop(engines));
  return { subject, ...found };
}

async function ratesOf(
  engines: readonly Engine[],
  subject: string,
  { size, seconds, onProgress }: Options,
): Promise<readonly Throughput[]> {
  const rates: Throughput[] = [];
  for (const work of ["search", "write"] as const) {
    onProgress(`${subject}: ${work}`);
    await load(engines, work, { size, seconds: WARM_UP_SECONDS });
    rates.push({ subject, work, rate: await load(engines, work, { size, seconds }) });
  }
  return rates;
}

async function stop(engines: readonly Engine[]): Promise<void> {
  for (const engine of engines) await engine.stop();
}

function report(figures: Figures): Measured {
  const { options, searches, rates, seen, sizes } = figures;
  const { rows, namespaces } = options.size;
  return {
    title: "Engines over PostgreSQL",
    command: `npm run bench:engines -- --rows ${rows} --namespaces ${namespaces}`,
    markdown: [
      `One, two and four engines over PostgreSQL, beside one engine on SQLite: ${rows.toLocaleString("en")} facts in ${namespaces.toLocaleString("en")} namespaces. Client, engines and database share the machine, so more engines compete for the same processors. Each write is on disk when it is acknowledged. SQLite was filled at ${whole(figures.filledPerSecond)} rows a second. The move to PostgreSQL copied and compared ${whole(figures.movedPerSecond)} rows a second.`,
      "",
      table(
        ["32 connections; 64 writers, 12 searchers", "work", "per second", "p50 ms", "p95 ms"],
        rates.map(({ subject, work, rate: { perSecond, times } }) => [
          subject,
          work,
          whole(perSecond),
          ...quantilesOf(times),
        ]),
      ),
      "",
      "One search at a time, over REST. Cold: the first search of a namespace in this engine, which reads and decrypts its rows.",
      "",
      table(
        [
          "searches of one namespace",
          "cold p50 ms",
          "cold p95 ms",
          "warm p50 ms",
          "warm p95 ms",
          "engine grew by MB",
        ],
        searches.map(({ subject, cold, warm, grownMb }) => [
          subject,
          ...quantilesOf(cold),
          ...quantilesOf(warm),
          whole(grownMb),
        ]),
      ),
      "",
      "How soon a search finds a write: the time from the write's acknowledgement to the end of the search that returns it. Stale: the first search did not return it.",
      "",
      table(
        ["writes through", "p50 ms", "p95 ms", "longest ms", "stale"],
        seen.map(({ subject, times, stale }) => [
          subject,
          ...quantilesOf(times),
          Math.max(...times).toFixed(1),
          `${stale} of ${times.length}`,
        ]),
      ),
      "",
      `In PostgreSQL a fact takes ${whole(sizes.bytesPerRow)} bytes: ${whole(sizes.tableBytesPerRow)} in the table, ${whole(sizes.indexBytesPerRow)} in its indexes. A write adds ${whole(figures.logBytesPerWrite)} bytes to the write-ahead log (WAL), including full pages after a checkpoint.`,
    ].join("\n"),
    json: figures,
  };
}

function quantilesOf(times: readonly number[]): readonly string[] {
  return [quantile(times, 0.5).toFixed(1), quantile(times, 0.95).toFixed(1)];
}

function whole(value: number): string {
  return Math.round(value).toLocaleString("en");
}

const COUNT = { type: "string", value: "N", isCount: true } as const;
const BENCH = {
  script: "bench:engines",
  about: "Measures one, two and four engines on PostgreSQL, beside one on SQLite. Needs PostgreSQL.",
  options: {
    rows: { ...COUNT, default: "1000000", about: "facts; a multiple of the namespaces" },
    namespaces: { ...COUNT, default: "10000", about: "over which the facts are spread" },
    seconds: { ...COUNT, default: "8", about: "of each measurement" },
    write: WRITE,
  },
} as const;

if (import.meta.main)
  await runBench(BENCH, async ({ rows, namespaces, seconds, write }) => {
    const size = { rows: Number(rows), namespaces: Number(namespaces) };
    if (size.rows % size.namespaces !== 0) throw new WrongOption("--rows is a multiple of --namespaces.");
    const onProgress = (message: string) => console.error(`… ${message}`);
    const section = await measureEngines({ size, seconds: Number(seconds), onProgress });
    showSection(section);
    if (write) writeSection(section);
    console.log(`\nRaw figures: ${keepRaw("engines", [section])}`);
  });
