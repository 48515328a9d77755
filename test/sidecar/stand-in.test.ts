/** The stand-in: similar texts have similar vectors, and it runs as a process, also bundled in a single file. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createOllamaSidecar } from "../../sidecar/ollama.ts";
import { failureOf, MODEL } from "./rig.ts";
import { vectorOf } from "./stand-in/meaning.ts";

const run = promisify(execFile);
const SOURCE = fileURLToPath(new URL("./stand-in-ollama.ts", import.meta.url));

function nearness(one: string, other: string): number {
  const right = vectorOf(other, 768);
  return vectorOf(one, 768).reduce((sum, value, at) => sum + value * (right[at] ?? 0), 0);
}

describe("meaning", () => {
  it.each([
    ["I always deploy via Konflux", "how do we ship to production"],
    ["Our dog is called Rex", "what is the name of my pet"],
    ["I drink espresso", "which coffee do I like"],
    ["Standup is on Monday", "when do we have our meeting"],
    ["I am allergic to peanuts", "which intolerances do I have"],
  ])("of %j is near that of %j", (fact, question) => {
    expect(nearness(fact, question)).toBeGreaterThan(0.45);
  });

  it.each([
    ["I always deploy via Konflux", "which coffee do I like"],
    ["Our dog is called Rex", "how do we ship to production"],
    ["zebra crossing", "quarterly paperwork"],
  ])("of %j is far from that of %j", (fact, question) => {
    expect(Math.abs(nearness(fact, question))).toBeLessThan(0.2);
  });

  it("is the same every time, and of length 1 whatever the text", () => {
    expect(vectorOf("a fact", 384)).toEqual(vectorOf("a fact", 384));
    for (const text of ["", "the", "👋", "x".repeat(10_000)])
      expect(Math.hypot(...vectorOf(text, 64))).toBeCloseTo(1, 10);
  });
});

describe("as a process, bundled, in a folder of its own", () => {
  let folder: string;
  let bundle: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "helmdeck-stand-in-"));
    bundle = join(folder, "ollama.mjs");
    await build({ entryPoints: [SOURCE], outfile: bundle, bundle: true, format: "esm", platform: "node" });
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function serve(
    ...args: string[]
  ): Promise<{ readonly process: ChildProcess; readonly address: string }> {
    const process_ = spawn(process.execPath, [bundle, "serve", "--port", "0", ...args], {
      cwd: folder,
      stdio: ["ignore", "pipe", "inherit"],
    });
    for await (const address of createInterface({ input: process_.stdout }))
      return { process: process_, address };
    throw new Error("The stand-in ended at once.");
  }

  async function stop(child: ChildProcess): Promise<number | null> {
    const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    return ended;
  }

  it("keeps pulled models, fails on request, and ends at SIGTERM", async () => {
    const modelsFile = join(folder, "models.json");
    const first = await serve("--models-file", modelsFile);
    const sidecar = createOllamaSidecar({ address: first.address });
    await sidecar.pull(MODEL, () => {});
    const fault = { method: "PUT", body: JSON.stringify({ kind: "status", status: 500 }) };
    await fetch(`${first.address}/stand-in/fault`, fault);
    expect((await failureOf(sidecar.models())).code).toBe("embeddings_unavailable");
    await fetch(`${first.address}/stand-in/fault`, { method: "PUT", body: "null" });
    expect(await sidecar.hasModel(MODEL)).toBe(true);
    expect(await stop(first.process)).toBe(0);
    const second = await serve("--models-file", modelsFile);
    expect(await createOllamaSidecar({ address: second.address }).hasModel(MODEL)).toBe(true);
    expect(await stop(second.process)).toBe(0);
  });

  it("has the commands that a health check and an init container use", async () => {
    const { process: server, address } = await serve();
    const env = { ...process.env, OLLAMA_HOST: new URL(address).host };
    await run(process.execPath, [bundle, "pull", MODEL], { env });
    expect((await run(process.execPath, [bundle, "list"], { env })).stdout).toContain(`${MODEL}:latest`);
    await expect(run(process.execPath, [bundle, "pull", "no-such-model"], { env })).rejects.toThrow();
    await stop(server);
    await expect(run(process.execPath, [bundle, "list"], { env })).rejects.toThrow();
  });
});
