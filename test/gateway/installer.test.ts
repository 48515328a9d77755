/** The installer beside a running gateway: it asks before it changes anything, and does not start a second gateway, which would fail. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { OpenClaw } from "../../install/run-openclaw.ts";
import { withGateway } from "../../install/smoke-test/smoke-test-gateway.ts";
import { environmentOf, installerIn } from "./installer.ts";
import { sharedGateway } from "./shared.ts";

/** Less than three minutes, the time that it would wait for a gateway that has died. */
const AT_ONCE_MS = 175_000;

const { home } = await sharedGateway();

describe("the installer beside a gateway whose token is not in the environment", () => {
  const { OPENCLAW_GATEWAY_TOKEN: _, ...withoutToken } = home.env;
  const config = () => readFileSync(home.configPath, "utf8");

  it("names the variable to set, and changes nothing", async () => {
    const before = config();
    const began = performance.now();
    const { code, report } = await installerIn(
      await environmentOf(home, withoutToken),
      "--no-embeddings",
      "--yes",
    );
    expect(performance.now() - began).toBeLessThan(AT_ONCE_MS);
    expect(code).toBe(2);
    expect(report.missing).toMatchObject([
      { what: "gateway", remedy: expect.stringContaining("export OPENCLAW_GATEWAY_TOKEN=") },
    ]);
    expect([report.plan, report.steps]).toEqual([[], []]);
    expect(config()).toBe(before);
  });

  it("recognizes the running gateway with the token", async () => {
    const { code, report } = await installerIn(await environmentOf(home), "--verify", "--dry-run");
    expect([code, report.missing]).toEqual([0, []]);
    expect(report.plan).toMatchObject([{ kind: "prove", gateway: "running" }]);
  });
});

describe("a second gateway beside one that was not detected", () => {
  it("exits at once, and its own error is reported", async () => {
    const environment = await environmentOf(home);
    const openclaw = await OpenClaw.find({ kind: "host" }, environment);
    if (openclaw === undefined) throw new Error("OpenClaw was not found");
    const began = performance.now();
    const testing = withGateway(openclaw, environment, () => Promise.reject(new Error("it was never ready")));
    await expect(testing).rejects.toThrow(
      /stopped \(\d+\): .*another OpenClaw process.*OPENCLAW_GATEWAY_PORT/s,
    );
    expect(performance.now() - began).toBeLessThan(AT_ONCE_MS);
  });
});
