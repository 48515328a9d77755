/** A progress bar on a terminal; elsewhere no output. */
import type { Shell } from "./shell.ts";

export interface Progress {
  /** Passes the bytes on and counts them. */
  readonly counted: (input: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;
  /** Sets the number of finished lines. */
  readonly lines: (done: { readonly lines: number }) => void;
  readonly stop: () => void;
}

/** `totalBytes` is undefined if the size is unknown (a pipe); then only lines are counted. */
export async function showProgress({ stderr }: Shell, totalBytes: number | undefined): Promise<Progress> {
  if (stderr.isTTY !== true) return { counted: (input) => input, lines: () => {}, stop: () => {} };
  // A bundled CommonJS library has only a default export.
  const { SingleBar, Presets } = (await import("cli-progress")).default;
  const format = totalBytes === undefined ? "{lines} lines" : "{bar} {percentage} % · {lines} lines";
  const bar = new SingleBar({ stream: stderr, format, clearOnComplete: true }, Presets.shades_classic);
  bar.start(totalBytes ?? 0, 0, { lines: 0 });
  let readBytes = 0;
  return {
    counted: async function* (input) {
      for await (const chunk of input) {
        readBytes += chunk.length;
        yield chunk;
      }
    },
    lines: ({ lines }) => bar.update(readBytes, { lines }),
    stop: () => bar.stop(),
  };
}

export interface CountProgress {
  readonly update: (done: number, total: number) => void;
  readonly stop: () => void;
}

export interface CountOptions {
  /** The counted unit; default: entries. */
  readonly unit?: string;
  /** Called at each tenth if there is no terminal. */
  readonly say?: (done: number, total: number) => void;
}

/** Shows `done` of `total`. */
export async function showCount(
  { stderr }: Shell,
  { unit = "entries", say }: CountOptions = {},
): Promise<CountProgress> {
  if (stderr.isTTY !== true) return { update: say ? byTenths(say) : () => {}, stop: () => {} };
  const { SingleBar, Presets } = (await import("cli-progress")).default;
  const format = `{bar} {percentage} % · {value} of {total} ${unit}`;
  const bar = new SingleBar({ stream: stderr, format, clearOnComplete: true }, Presets.shades_classic);
  let isShown = false;
  return {
    update: (done, total) => {
      // A bar of nothing is shown as 100 %.
      if (!isShown) bar.start(total, done);
      isShown = true;
      bar.setTotal(total);
      bar.update(done);
    },
    stop: () => {
      if (isShown) bar.stop();
    },
  };
}

function byTenths(say: (done: number, total: number) => void): CountProgress["update"] {
  let said = 0;
  return (done, total) => {
    const tenths = Math.floor((10 * done) / Math.max(1, total));
    if (tenths <= said) return;
    said = tenths;
    say(done, total);
  };
}

/** Shows the count while `work` runs. */
export async function withCount<Answer>(
  shell: Shell,
  work: (progress: CountProgress) => Promise<Answer>,
): Promise<Answer> {
  const progress = await showCount(shell);
  try {
    return await work(progress);
  } finally {
    progress.stop();
  }
}
