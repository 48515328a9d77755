/**
 * The scripts of the compose file, run by bash with a stand-in for Ollama. The one-shot service checks for the model, downloads it, tries
 * it, and reports why if that fails. The health check succeeds only if the model embeds.
 */
import { execFile, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type StandInOllama, startStandInOllama } from "../sidecar/stand-in-ollama.ts";
import { testFolder } from "./fixtures.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const MODEL = "nomic-embed-text";
const STAND_IN = join(ROOT, "test", "sidecar", "stand-in-ollama.ts");

let folder: string;
let ollama: StandInOllama;

beforeEach(async () => {
  folder = testFolder();
  writeFileSync(join(folder, "ollama"), `#!/bin/sh\nexec "${process.execPath}" "${STAND_IN}" "$@"\n`, {
    mode: 0o755,
  });
});
afterEach(async () => {
  await ollama.close();
});

describe.skipIf(spawnSync("bash", ["-c", ":"]).status !== 0)("compose", () => {
  const start = async (models: string[], error?: string, path = "/api/embed") => {
    ollama = await startStandInOllama({ models });
    if (error !== undefined) ollama.setFault({ kind: "status", status: 500, error, path });
  };
  const KILLED = "llama runner process has terminated: signal: killed";
  const OFFLINE = "dial tcp: no such host";
  const TOO_LARGE = "model requires more system memory (1.2 GiB) than is available (0.9 GiB)";
  const MEMORY = /too little memory.*HELMDECK_EMBEDDINGS_MEMORY=/;

  it.each<[string, Parameters<typeof start>, number, RegExp, number]>([
    ["downloads a missing model and checks that it embeds", [[]], 0, /nomic-embed-text embeds\./, 1],
    [
      "downloads nothing if the model exists",
      [[MODEL], OFFLINE, "/api/pull"],
      0,
      /is already downloaded\./,
      0,
    ],
    ["reports too little memory if the model was killed", [[MODEL], KILLED], 1, MEMORY, 0],
    ["reports too little memory if Ollama says so", [[MODEL], TOO_LARGE], 1, MEMORY, 0],
    [
      "shows the beginning of any other answer",
      [[MODEL], "something else"],
      1,
      /begins: HTTP\/1\.1 500.*something else/s,
      0,
    ],
  ])("its one-shot helper %s", async (_, state, code, said, downloads) => {
    await start(...state);
    expect(await init()).toEqual({ code, said: expect.stringMatching(said) });
    expect(pulls()).toHaveLength(downloads);
  });

  it("its one-shot helper fails if a missing model cannot be downloaded", async () => {
    await start([]);
    expect((await init("no-such-model")).code).toBe(1);
  });

  it("its one-shot helper refuses a model name with shell characters", async () => {
    await start([]);
    const said = expect.stringContaining("contains a character");
    expect(await init('m"; touch /tmp/x')).toEqual({ code: 1, said });
    expect(ollama.requests).toEqual([]);
  });

  it.each<[string, Parameters<typeof start>, number]>([
    ["succeeds if the model embeds", [[MODEL]], 0],
    ["fails without the model", [[]], 1],
    ["fails if the service lists the model but has too little memory for it", [[MODEL], KILLED], 1],
  ])("its health check %s", async (_, state, code) => {
    await start(...state);
    expect(await health()).toBe(code);
    expect(ollama.requests).toMatchObject([{ path: "/api/embed", body: { model: MODEL } }]);
  });
});

const pulls = () => ollama.requests.filter(({ path }) => path === "/api/pull");

/** As compose passes them to bash, but with another address of the service. */
function scripts(): { readonly init: string; readonly health: string } {
  const { services } = parse(readFileSync(join(ROOT, "compose.embeddings.yml"), "utf8"), { merge: true });
  const { hostname, port } = new URL(ollama.address);
  const asRun = (text: string) =>
    text.replaceAll("$$", "$").replace(/\/dev\/tcp\/[\w.-]+\/11434/, `/dev/tcp/${hostname}/${port}`);
  return {
    init: asRun(services["helmdeck-embeddings-init"].command[0]),
    health: asRun(services["helmdeck-embeddings"].healthcheck.test.at(-1)),
  };
}

async function init(model = MODEL): Promise<{ readonly code: number; readonly said: string }> {
  return bash(["-euo", "pipefail", "-c", scripts().init], model);
}

async function health(): Promise<number> {
  return (await bash(["-euc", scripts().health], MODEL)).code;
}

function bash(
  args: readonly string[],
  model: string,
): Promise<{ readonly code: number; readonly said: string }> {
  const env = {
    PATH: [folder, process.env.PATH].join(delimiter),
    HOME: folder,
    OLLAMA_HOST: ollama.address,
    EMBEDDING_MODEL: model,
  };
  return new Promise((resolve) => {
    execFile("bash", [...args], { env }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === "number" ? error.code : error ? 1 : 0, said: stdout + stderr }),
    );
  });
}
