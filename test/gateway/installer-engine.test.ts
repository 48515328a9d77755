/**
 * The installer with a served engine: a complete run in a separate OpenClaw, a smoke test through the gateway that it starts, and the
 * uninstallation.
 */
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { OpenClawHost } from "../../scripts/openclaw-host/openclaw-host.ts";
import { environmentOf, installerIn } from "./installer.ts";
import { EngineProcess } from "./served-engine.ts";
import { resultOfSetUp } from "./shared.ts";

/** Much longer than an installation takes, and much shorter than npm waits for a registry that does not answer. */
const INSTALLER_TIMEOUT_MS = 300_000;

let host: OpenClawHost;
let engine: EngineProcess;
beforeAll(async () => {
  host = await OpenClawHost.make({ runtime: (await resultOfSetUp()).runtime });
  engine = new EngineProcess(join(host.home.root, "engine"));
  await engine.start();
});
afterAll(async () => {
  await host?.stop();
  await engine?.stop();
});

it("the installer configures the engine as the source without npm's registry, tests it, and uninstalls", {
  timeout: INSTALLER_TIMEOUT_MS,
}, async () => {
  const url = `http://127.0.0.1:${engine.port}`;
  const before = await engine.run("export");
  const { code, report } = await install("--engine", url, "--token-file", await engine.tokenFile("main"));
  expect([code, report.steps.at(-1)?.error]).toEqual([0, undefined]);
  expect(report.steps.map(({ step, outcome }) => `${step.kind} ${outcome}`)).toEqual([
    "back-up-config done",
    "install-plugin done",
    "point-source done",
    "prove done",
  ]);
  expect(await engine.run("export")).toBe(before); // the fact of the smoke test is forgotten

  const stored = await host.openclaw(["helmdeck", "store", "ferry/timetable", "It leaves at seven."]);
  expect(stored.code).toBe(0);
  expect(await engine.run("get", "ferry/timetable")).toContain("It leaves at seven.");

  const again = await install("--dry-run");
  expect(again.report.plan.map(({ kind }) => kind)).toEqual(["prove"]);
  expect(again.report.kept.slice(0, 2)).toEqual(["--no-embeddings", `--engine ${url}`]);

  expect(await install("--uninstall")).toMatchObject({ code: 0 });
  expect(await engine.run("get", "ferry/timetable")).toContain("It leaves at seven.");
});

async function install(...args: readonly string[]) {
  return installerIn(await environmentOf(host.home), ...args, "--yes");
}
