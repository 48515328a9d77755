/** Changes the key of a database, and kills itself right after the step that is named. */
import { betterSqliteDriver } from "../../../app/index.ts";
import { rotateKey } from "../../../app/keys/rotate-key.ts";

const [databasePath = "", keyPath = "", until] = process.argv.slice(2);

function endAt(step: string): void {
  if (step === until) process.kill(process.pid, "SIGKILL");
}

await rotateKey({
  ...{ databasePath, keyPath, env: {}, driver: betterSqliteDriver },
  onStep: endAt,
  onProgress: ({ done, total }) => {
    if (done < total) endAt("sealing");
  },
});
