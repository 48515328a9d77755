/** Programs that are installed next to Node; tests use them if they are present. */
import { spawnSync } from "node:child_process";

/**
 * Why to skip a test that needs the program, if necessary. With HELMDECK_REQUIRE_PROGRAMS=1, as in CI, the test runs and fails
 * instead.
 */
export function whyWithout(program: string, ...args: readonly string[]): string | undefined {
  if (spawnSync(program, args).status === 0) return undefined;
  const reason = `${program} is not installed`;
  if (process.env.HELMDECK_REQUIRE_PROGRAMS === "1")
    throw new Error(`This test must run here, but ${reason}.`);
  return reason;
}
