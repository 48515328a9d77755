/** The test harness: a gateway that cannot start reports why, and leaves nothing behind. */
import { access } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import {
  homeMark,
  OpenClawHost,
  processesWith,
  startOpenClaw,
} from "../../scripts/openclaw-host/openclaw-host.ts";

describe("a gateway that cannot start", () => {
  it("fails with the end of its log, and leaves no process and no folder", async () => {
    const host = await OpenClawHost.make({ config: { gateway: { port: "none" } } });
    const { root } = host.home;
    await expect(host.startGateway()).rejects.toThrow(
      /The OpenClaw gateway ended with \d+ while starting.*gateway\.port/s,
    );
    await host.stop();
    await expect(access(root)).rejects.toThrow("ENOENT");
    expect(await processesWith(homeMark(root))).toEqual([]);
  });

  it("fails before its start if a plugin cannot be installed", async () => {
    await expect(startOpenClaw({ plugins: ["/no/such/plugin.tgz"] })).rejects.toThrow(
      /plugins install ended with 1/,
    );
  });
});

it("a stopped host runs no commands, and can be stopped again", async () => {
  const host = await OpenClawHost.make();
  await host.stop();
  await host.stop();
  expect(host.isStopping).toBe(true);
  expect(() => host.openclaw(["--version"])).toThrow("is being stopped");
});
