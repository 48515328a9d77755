/** Our requests to Ollama and the stand-in's answers match Ollama's own description of its API. */
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ApiDescription, readApiDescription } from "./api-description.ts";
import { failureOf, MODEL, type Rig, startRig } from "./rig.ts";

let api: ApiDescription;
let rig: Rig;

beforeAll(async () => {
  api = await readApiDescription();
});
beforeEach(async () => {
  rig = await startRig();
});
afterEach(() => rig.close());

it("every possible request of our client is as described", async () => {
  const { sidecar } = rig;
  await sidecar.version();
  await sidecar.models();
  await sidecar.pull(MODEL, () => {});
  await sidecar.warm(MODEL);
  await rig.ollama({ dimensions: 256 }).embedDocuments(["one", "two", "{};".repeat(3_000)]);
  await rig.ollama().embedQuery("a question");
  const asked = rig.standIn.requests.map(({ method, path }) => `${method} ${path}`);
  expect([...new Set(asked)].sort()).toEqual([
    "GET /api/tags",
    "GET /api/version",
    "POST /api/embed",
    "POST /api/pull",
  ]);
  for (const { method, path, body } of rig.standIn.requests)
    expect(api.requestFaults(method, path, body), `${method} ${path}`).toEqual([]);
});

/** The fields that this project or a person needs; the description marks none of them as required. */
const ANSWERS: readonly (readonly [string, string, unknown, number, readonly string[]])[] = [
  ["GET", "/api/version", undefined, 200, ["version"]],
  ["GET", "/api/tags", undefined, 200, ["models"]],
  ["POST", "/api/show", { model: MODEL }, 200, ["details", "capabilities"]],
  ["POST", "/api/show", { model: "absent" }, 404, ["error"]],
  ["POST", "/api/embed", { model: MODEL, input: "one" }, 200, ["model", "embeddings", "total_duration"]],
  ["POST", "/api/embed", { model: MODEL, input: ["one", "two"] }, 200, ["model", "embeddings"]],
  ["POST", "/api/embed", { model: MODEL, input: [] }, 200, ["model", "embeddings"]],
  ["POST", "/api/embed", { model: MODEL, input: "{};".repeat(3_000) }, 200, ["embeddings"]],
  ["POST", "/api/embed", { model: MODEL, input: "{};".repeat(3_000), truncate: false }, 400, ["error"]],
  ["POST", "/api/embed", { model: "absent", input: "one" }, 404, ["error"]],
];

describe("the stand-in answers as described", () => {
  it.each(ANSWERS)("to %s %s %j with %d", async (method, path, body, status, fields) => {
    await rig.sidecar.warm(MODEL);
    const response = await fetch(`${rig.standIn.address}${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const [contentType = ""] = (response.headers.get("content-type") ?? "").split(";");
    const answer: unknown = await response.json();
    expect(response.status).toBe(status);
    expect(Object.keys(answer ?? {})).toEqual(expect.arrayContaining([...fields]));
    expect(api.answerFaults(method, path, status, contentType, answer)).toEqual([]);
  });

  it("to a download with lines, the last of them success", async () => {
    const response = await fetch(`${rig.standIn.address}/api/pull`, {
      method: "POST",
      body: JSON.stringify({ model: "all-minilm" }),
    });
    const lines = (await response.text()).trim().split("\n");
    for (const line of lines)
      expect(api.answerFaults("POST", "/api/pull", 200, "application/x-ndjson", JSON.parse(line))).toEqual(
        [],
      );
    expect(lines.at(-1)).toBe('{"status":"success"}');
  });

  it("to a fault with Ollama's error body", async () => {
    rig.standIn.setFault({ kind: "status", status: 503, error: "server busy" });
    const response = await fetch(`${rig.standIn.address}/api/tags`);
    expect(api.answerFaults("GET", "/api/tags", 503, "application/json", await response.json())).toEqual([]);
    expect((await failureOf(rig.sidecar.models())).code).toBe("embeddings_unavailable");
  });
});

describe("the description as a judge", () => {
  it.each([
    ["POST", "/api/pull", { name: MODEL, stream: true }],
    ["POST", "/api/embed", { model: MODEL }],
    ["POST", "/api/embed", { model: MODEL, input: [1] }],
    ["POST", "/api/embed", { model: MODEL, input: "one", keepalive: "24h" }],
    ["POST", "/api/embed", { model: MODEL, input: "one", dimensions: "256" }],
    ["GET", "/api/tags", {}],
    ["POST", "/api/embeddings", { model: MODEL, input: "one" }],
  ])("refuses %s %s %j", (method, path, body) => {
    expect(api.requestFaults(method, path, body)).not.toEqual([]);
  });

  it("refuses answers of another shape", () => {
    const faults = (body: unknown) => api.answerFaults("POST", "/api/embed", 200, "application/json", body);
    expect(faults({ embeddings: [["a"]] })).not.toEqual([]);
    expect(faults({ embedding: [0.1] })).not.toEqual([]);
    expect(api.answerFaults("GET", "/api/tags", 503, "application/json", { message: "busy" })).not.toEqual(
      [],
    );
  });
});
