/** The steps that start the embedding service: an available model is not downloaded again, and nothing waits for a container that has exited. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Run } from "../../install/run-command.ts";
import type { Step } from "../../install/steps/registry.ts";
import { createOllamaSidecar } from "../../sidecar/ollama.ts";
import { type StandInOllama, startStandInOllama } from "../sidecar/stand-in-ollama.ts";
import { environmentIn, runSteps, testFolder } from "./fixtures.ts";

const MODEL = "nomic-embed-text";

let folder: string;
let ollama: StandInOllama;
/** The answers of `docker container inspect`, in order. The last one stays. */
let states: { readonly Status: string; readonly restarts?: number; readonly answers?: true }[];
/** The last inspected one. */
let asked: (typeof states)[number] | undefined;
let waitedMs: number;

beforeEach(async () => {
  folder = testFolder();
  ollama = await startStandInOllama();
  states = [];
  waitedMs = 0;
});
afterEach(async () => {
  await ollama.close();
});

describe("the model", () => {
  const pull = (): Step => ({ kind: "pull-model", model: MODEL, service: { url: ollama.address } });
  const pulls = () => ollama.requests.filter(({ path }) => path === "/api/pull");

  it("is downloaded if it is missing, and only once", async () => {
    expect((await run(pull())).outcome).toBe("done");
    expect(pulls()).toHaveLength(1);
    expect(await run(pull())).toMatchObject({ outcome: "done", remark: "already downloaded" });
    expect(pulls()).toHaveLength(1);
  });

  it("needs no network if it exists", async () => {
    await run(pull());
    ollama.setFault({ kind: "status", status: 500, error: "dial tcp: no such host", path: "/api/pull" });
    expect((await run(pull())).outcome).toBe("done");
  });

  it("is downloaded also if the service does not list its models", async () => {
    ollama.setFault({ kind: "status", status: 500, path: "/api/tags" });
    expect((await run(pull())).outcome).toBe("done");
    expect(pulls()).toHaveLength(1);
  });

  it("fails with the setting for more memory if it runs out of memory", async () => {
    await run(pull());
    const error = "llama runner process has terminated: signal: killed";
    ollama.setFault({ kind: "status", status: 500, error, path: "/api/embed" });
    const check: Step = { kind: "check-embedding", model: MODEL, service: { url: ollama.address } };
    expect((await run(check)).error).toMatch(/lack of memory.*HELMDECK_EMBEDDINGS_MEMORY=4g/);
  });
});

describe("the sidecar", () => {
  const start: Step = {
    ...{ kind: "start-sidecar", compose: "docker-compose", files: [], environment: {} },
    downloadsImage: false,
  };

  it("is ready when it answers, although it is not healthy before it has the model", async () => {
    states = [
      { Status: "created" },
      { Status: "running" },
      { Status: "running", restarts: 1 },
      { Status: "running", restarts: 1, answers: true },
    ];
    expect((await run(start)).outcome).toBe("done");
    expect(states).toHaveLength(1);
  });

  it.each<[string, (typeof states)[number]]>([
    ["has ended", { Status: "exited" }],
    ["restarts again and again", { Status: "restarting", restarts: 3 }],
  ])("fails at once with its own reason if it %s", async (_, state) => {
    states = [{ Status: "running" }, state];
    expect((await run(start)).error).toMatch(/stopped: Error: permission denied: \/root\/\.ollama/);
    expect(waitedMs).toBeLessThan(10_000);
  });

  it("fails after three minutes if it hangs", async () => {
    states = [{ Status: "running" }];
    let now = 0;
    expect((await run(start, () => (now += 1_000))).error).toContain("did not answer within 180 s");
  });
});

async function run(step: Step, now: () => number = Date.now) {
  const environment = await environmentIn(folder, engine, {
    sidecarAt: (address) => createOllamaSidecar({ address }),
    pause: async (ms) => {
      waitedMs += ms;
    },
    now,
  });
  const [outcome] = (await runSteps([step], environment)).steps;
  if (outcome === undefined) throw new Error("no step was run");
  return outcome;
}

const engine: Run = async (_, args) => {
  const says = (stdout: string) => ({ exitCode: 0, stdout, stderr: "" });
  if (args[0] === "logs") return says("time=… level=INFO\nError: permission denied: /root/.ollama\n");
  if (args[0] === "exec") return { ...says(""), exitCode: asked?.answers ? 0 : 1 };
  if (args[0] !== "container") return says("");
  asked = states[0];
  const { Status, restarts = 0 } = asked ?? { Status: "running" };
  if (states.length > 1) states = states.slice(1);
  const container = {
    ...{ Id: "1", Name: "/helmdeck-embeddings", RestartCount: restarts },
    State: { Running: Status === "running", Status },
    Config: { Image: "ollama", Labels: null },
    HostConfig: { NetworkMode: "baas-net", PortBindings: null },
    NetworkSettings: { Networks: null },
  };
  return says(JSON.stringify([container]));
};
