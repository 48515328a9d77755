/** A file or folder that must not be left behind: Ctrl-C and its kin remove it, and then end the process as they would have. */
import { rmSync } from "node:fs";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Until the answer is called. */
export function removeOnSignal(path: string): () => void {
  const onSignal = (signal: NodeJS.Signals): void => {
    stop();
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      // The process ends in any case.
    }
    process.kill(process.pid, signal);
  };
  const stop = (): void => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return stop;
}
