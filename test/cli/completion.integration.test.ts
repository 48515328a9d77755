/** Tab completion in zsh and fish, which .ci/run installs. */
import { execFileSync } from "node:child_process";
import { beforeAll, describe, expect, test } from "vitest";
import { CommandHome } from "./command.ts";
import { tabIn } from "./shells.ts";

const home = CommandHome.forAllTests();
beforeAll(async () => {
  await home.run(["store", "deploy/konflux", "We deploy through Konflux."]);
  await home.run(["store", "--", "deploy/$(touch pwned)", "v"]);
});

describe.each(["zsh", "fish"] as const)("in %s", (shell) => {
  test.runIf(isThere(shell))("Tab completes commands, options and keys", async () => {
    expect(await tabIn(shell, home, "helmdeck-memory forg")).toEqual(["forget"]);
    expect(await tabIn(shell, home, "helmdeck-memory get deploy/")).toEqual(["deploy/konflux"]);
    expect(await tabIn(shell, home, "helmdeck-memory search --expl")).toEqual(["--explain"]);
  });
});

function isThere(shell: string): boolean {
  try {
    execFileSync(shell, ["-c", "true"]);
    return true;
  } catch {
    return false;
  }
}
