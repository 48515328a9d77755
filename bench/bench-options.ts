/** The options of a benchmark: `--help` shows them, and a wrong one gets a sentence and exit code 2 before anything is measured. */
import { type ParseArgsConfig, parseArgs } from "node:util";

interface BenchOption {
  readonly type: "string" | "boolean";
  /** Its value in the help: `URL`. */
  readonly value?: string;
  readonly about: string;
  readonly default?: string;
  readonly multiple?: boolean;
  readonly choices?: readonly string[];
  /** The value is a whole number above 0. */
  readonly isCount?: true;
}

type BenchOptions = Readonly<Record<string, BenchOption>>;
export type BenchValues<Options extends BenchOptions> = ReturnType<
  typeof parseArgs<{ options: Options }>
>["values"];

export interface Bench<Options extends BenchOptions> {
  /** In package.json: `bench:recall`. */
  readonly script: string;
  readonly about: string;
  readonly options: Options;
}

/** Throw it for what is wrong with the values together. */
export class WrongOption extends Error {}

export const WRITE = { type: "boolean", about: "also puts the figures into docs/benchmarks.md" } as const;

/** Runs a benchmark with the options of this process. */
export async function runBench<const Options extends BenchOptions>(
  bench: Bench<Options>,
  run: (values: BenchValues<Options>) => Promise<void> | void,
): Promise<void> {
  try {
    const values = readOptions(bench.options, process.argv.slice(2));
    if (values === "help") console.log(helpOf(bench));
    else await run(values);
  } catch (error) {
    if (!(error instanceof WrongOption)) throw error;
    console.error(`${error.message}\nnpm run ${bench.script} -- --help shows all options.`);
    process.exitCode = 2;
  }
}

/** Throws a {@link WrongOption}. */
export function readOptions<const Options extends BenchOptions>(
  options: Options,
  args: readonly string[],
): BenchValues<Options> | "help" {
  if (args.some((one) => one === "--help" || one === "-h")) return "help";
  const values = parsed({ options, args: [...args] });
  for (const [name, { choices, isCount }] of Object.entries<BenchOption>(options))
    for (const given of [values[name] ?? []].flat()) {
      if (choices?.includes(String(given)) === false)
        throw new WrongOption(`--${name} is one of ${choices.join(", ")}; not "${given}".`);
      if (isCount && !/^[1-9]\d{0,8}$/.test(String(given)))
        throw new WrongOption(`--${name} is a whole number above 0; not "${given}".`);
    }
  return values as BenchValues<Options>; // of the same options
}

/** Throws a {@link WrongOption}. */
export function requireUrl(option: string, value: string): void {
  if (!URL.canParse(value))
    throw new WrongOption(`${option} is a URL, such as http://127.0.0.1:11434; not "${value}".`);
}

function parsed(config: ParseArgsConfig) {
  try {
    return parseArgs(config).values;
  } catch (error) {
    throw new WrongOption(error instanceof Error ? error.message : String(error));
  }
}

export function helpOf({ script, about, options }: Bench<BenchOptions>): string {
  const rows = Object.entries(options).map(([name, { value, about: what, default: usual, choices }]) => [
    `--${name}${value === undefined ? "" : ` ${value}`}`,
    `${what}${choices ? `: ${choices.join(", ")}` : ""}${usual === undefined ? "" : ` (${usual})`}`,
  ]);
  const width = Math.max(...rows.map(([name = ""]) => name.length));
  const lines = rows.map(([name = "", what]) => `  ${name.padEnd(width)}  ${what}`);
  return [`npm run ${script} -- [OPTION]…`, "", about, "", ...lines].join("\n");
}
