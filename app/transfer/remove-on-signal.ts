/** Removes a file or folder on Ctrl-C and similar signals, then ends the process as the signal would. */
import { rmSync } from "node:fs";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Active until the returned function is called. */
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
