/** Programs that are installed beside Node, and are used where they are. */
import { spawnSync } from "node:child_process";

/** Why a test that needs the program must be left out, if so. With HELMDECK_REQUIRE_PROGRAMS=1, as in CI, none is: it fails. */
export function whyWithout(program: string, ...args: readonly string[]): string | undefined {
  if (spawnSync(program, args).status === 0) return undefined;
  const reason = `${program} is not installed`;
  if (process.env.HELMDECK_REQUIRE_PROGRAMS === "1")
    throw new Error(`This test must run here, but ${reason}.`);
  return reason;
}
