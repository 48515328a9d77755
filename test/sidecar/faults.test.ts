/** A service that is down, slow, broken or hostile: errors, no leaked secrets, and recovery. */
import { createServer } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createOllamaSidecar } from "../../sidecar/ollama.ts";
import { failureOf, inputsOf, KEY, KINDS, MODEL, type Rig, SECRET_TEXT, startRig } from "./rig.ts";
import type { Fault } from "./stand-in-ollama.ts";

let rig: Rig;

beforeEach(async () => {
  rig = await startRig();
});
afterEach(() => rig.close());

const TEXTS = [SECRET_TEXT, `${SECRET_TEXT} again`];

const status = (code: number, error?: string): Fault => ({
  ...{ kind: "status", status: code },
  ...(error !== undefined && { error }),
});
const NO_MEMORY = /(too little memory|lack of memory).*smaller model than nomic-embed-text/;

/** Faults with their messages to people. None of them is retried. */
const REFUSED: readonly (readonly [Fault, RegExp, code?: string])[] = [
  [status(500), /failed \(HTTP 500\)/],
  [status(401), /requires a valid key/],
  [status(404, "page not found"), /nothing at this path/],
  [
    status(404, 'model "x" not found, try pulling it first'),
    /has no model nomic-embed-text/,
    "model_missing",
  ],
  ...[
    "model requires more system memory (5.6 GiB) than is available (1.9 GiB)",
    "cudaMalloc failed: out of memory",
    "llama runner process has terminated: signal: killed",
    "llama runner process has terminated: exit status 137",
    "llama runner process has terminated",
    "llama runner process no longer running: -1",
    'do embedding request: Post "http://127.0.0.1:39215/embedding": EOF',
  ].map((error) => [status(500, `${error} ${SECRET_TEXT}`), NO_MEMORY, "embeddings_out_of_memory"] as const),
  [status(400, "out of memory is no excuse: the request is malformed"), /failed \(HTTP 400\)/],
  [status(501, "this model does not support embeddings"), /does not create embeddings/],
  [{ kind: "echo" }, /HTTP 500/],
  [{ kind: "echo", status: 401 }, /requires a valid key/],
  [{ kind: "echo", status: 400 }, /HTTP 400/],
  [{ kind: "redirect" }, /redirects to another address/],
  [{ kind: "html" }, /not JSON/],
  [{ kind: "not_json" }, /not JSON/],
  [{ kind: "endless" }, /more than \d+ bytes/],
  [{ kind: "context_overflow" }, /not even a single character/],
  [{ kind: "infinite" }, /not finite/],
  [{ kind: "null_number" }, /value that is not a number/],
  [{ kind: "zeros" }, /vector that is zero/],
  [{ kind: "one_too_few" }, /1 vectors for 2 texts/],
  [{ kind: "one_too_many" }, /3 vectors for 2 texts/],
  [{ kind: "mixed_dimensions" }, /767 dimensions, not 768/, "dimension_mismatch"],
];

describe.each(KINDS)("the embedder of kind %s", (kind) => {
  it.each(REFUSED.map(([fault, message, code = "embeddings_unavailable"]) => ({ fault, message, code })))(
    "explains $fault to people",
    async ({ fault, message, code }) => {
      const embedder = rig.embedder(kind);
      rig.standIn.setFault(fault);
      const error = await failureOf(embedder.embedDocuments(TEXTS));
      expect(error.code).toBe(code);
      expect(error.message).toMatch(message);
      rig.standIn.setFault(undefined);
      expect((await embedder.embedDocuments(TEXTS)).vectors).toHaveLength(2);
      expect(embedder.state()).toEqual({ circuit: "closed", reason: undefined });
    },
  );

  it.each([
    { kind: "reset" },
    status(429),
    status(503, "server busy, please try again.  maximum pending requests exceeded"),
  ] satisfies Fault[])("retries after %o, three times at most", async (fault) => {
    const embedder = rig.embedder(kind);
    rig.standIn.setFault({ ...fault, times: 2 });
    expect((await embedder.embedDocuments(TEXTS)).vectors).toHaveLength(2);
    expect(inputsOf(rig)).toHaveLength(3);
    rig.standIn.setFault(fault);
    const code = "status" in fault && fault.status === 429 ? "rate_limited" : "embeddings_unavailable";
    expect((await failureOf(embedder.embedDocuments(TEXTS))).code).toBe(code);
    expect(inputsOf(rig)).toHaveLength(6);
  });

  it("waits as long as the service requests", async () => {
    rig.standIn.setFault({ kind: "status", status: 503, retryAfter: "2", times: 1 });
    const embedding = rig.embedder(kind).embedDocuments(TEXTS);
    await rig.clock.alarmIn(2_000);
    rig.clock.advance(1_999);
    expect(inputsOf(rig)).toHaveLength(1);
    rig.clock.advance(1);
    expect((await embedding).vectors).toHaveLength(2);
  });

  it.each(["hang", "drip"] as const)(
    "gives up at the caller's deadline when the service does %s",
    async (fault) => {
      rig.standIn.setFault({ kind: fault, times: 1 });
      const embedder = rig.embedder(kind);
      const question = failureOf(embedder.embedQuery(SECRET_TEXT, { deadlineMs: 1_500 }));
      await rig.standIn.seen(1);
      rig.clock.advance(1_500);
      expect(await question).toMatchObject({ code: "deadline_exceeded", details: { deadlineMs: 1_500 } });
      expect(embedder.state().reason).toMatch(/did not answer within 1500 ms/);
      await embedder.embedQuery(SECRET_TEXT);
    },
  );

  it("gives up without a deadline too", async () => {
    rig.standIn.setFault({ kind: "hang" });
    const documents = failureOf(rig.embedder(kind, { requestTimeoutMs: 20_000 }).embedDocuments(TEXTS));
    await rig.standIn.seen(1);
    rig.clock.advance(20_000);
    expect((await documents).code).toBe("deadline_exceeded");
  });

  it("counts the pauses between attempts toward the deadline", async () => {
    rig.standIn.setFault({ kind: "status", status: 503, retryAfter: "7" });
    const question = failureOf(rig.embedder(kind).embedQuery(SECRET_TEXT, { deadlineMs: 1_500 }));
    await rig.clock.alarmIn(7_000);
    rig.clock.advance(1_500);
    expect((await question).code).toBe("deadline_exceeded");
    expect(inputsOf(rig)).toHaveLength(1);
  });

  it("refuses vectors of other dimensions than before, and names both numbers", async () => {
    const embedder = rig.embedder(kind);
    await embedder.embedQuery(SECRET_TEXT);
    rig.standIn.setFault({ kind: "wrong_dimensions" });
    const error = await failureOf(embedder.embedQuery(SECRET_TEXT));
    expect(error).toMatchObject({ code: "dimension_mismatch", details: { expected: 768, got: 767 } });
    expect(error.message).toMatch(/767 dimensions, not 768/);
    expect(embedder.dimensions).toBe(768);
  });

  it("refuses vectors of other dimensions than configured", async () => {
    const embedder = rig.embedder(kind, { dimensions: 1_024 });
    const error = await failureOf(embedder.embedQuery(SECRET_TEXT));
    expect(error).toMatchObject({ code: "dimension_mismatch", details: { expected: 1_024, got: 768 } });
  });

  it("stops calling a broken service, reports why at once, and recovers automatically", async () => {
    rig.standIn.setFault({ kind: "status", status: 500 });
    const embedder = rig.embedder(kind);
    for (let i = 0; i < 5; i++) await failureOf(embedder.embedQuery(SECRET_TEXT));
    expect(embedder.state().circuit).toBe("open");
    for (let i = 0; i < 3; i++) {
      const error = await failureOf(embedder.embedQuery(SECRET_TEXT));
      expect(error.code).toBe("embeddings_unavailable");
      expect(error.message).toMatch(/failed \(HTTP 500\)\. It will be retried soon\.$/);
    }
    expect(inputsOf(rig)).toHaveLength(5);
    rig.standIn.setFault(undefined);
    rig.clock.advance(5_000);
    expect(embedder.state().circuit).toBe("half_open");
    await embedder.embedQuery(SECRET_TEXT);
    expect(embedder.state()).toEqual({ circuit: "closed", reason: undefined });
  });

  it("reports that a service is not running", async () => {
    await rig.standIn.close();
    const error = await failureOf(rig.embedder(kind).embedQuery(SECRET_TEXT));
    expect(error.code).toBe("embeddings_unavailable");
    expect(error.message).toMatch(/refuses connections: it is not running there/);
  });
});

it("respects a deadline on the real clock", async () => {
  rig.standIn.setFault({ kind: "hang" });
  const started = performance.now();
  const sidecar = createOllamaSidecar({ address: rig.standIn.address });
  expect((await failureOf(sidecar.version({ deadlineMs: 50 }))).code).toBe("deadline_exceeded");
  expect(performance.now() - started).toBeGreaterThanOrEqual(49);
});

describe("a model that is still being loaded", () => {
  it("is loaded in the background after a question came too early, so that the next one finds it", async () => {
    rig.standIn.setFault({ kind: "hang", times: 1 });
    const embedder = rig.ollama();
    const question = failureOf(embedder.embedQuery("a question", { deadlineMs: 1_500 }));
    await rig.standIn.seen(1);
    rig.clock.advance(1_500);
    expect((await question).code).toBe("deadline_exceeded");
    await rig.standIn.seen(2);
    expect(inputsOf(rig)[1]).toEqual([]);
    await expect.poll(() => rig.standIn.loaded()).toEqual([`${MODEL}:latest`]);
  });

  it("is requested once, however many questions are not answered", async () => {
    rig.standIn.setFault({ kind: "hang" });
    const embedder = rig.ollama();
    const ask = () => failureOf(embedder.embedQuery("a question", { deadlineMs: 1_500 }));
    for (let asked = 1; asked <= 4; asked++) {
      const question = ask();
      await rig.standIn.seen(asked === 1 ? 1 : asked + 1);
      rig.clock.advance(1_500);
      await question;
    }
    await rig.standIn.seen(5);
    expect(inputsOf(rig).filter((input) => input.length === 0)).toHaveLength(1);
  });
});

describe("an address", () => {
  it.each([
    ["ftp://example.test", /http/],
    ["helmdeck-embeddings:11434", /http/],
    ["", /http/],
    [`http://user:${KEY}@127.0.0.1:1`, /password/],
    [`http://127.0.0.1:1/?key=${KEY}`, /query/],
  ])("is refused when it is %s, without being shown", async (address, message) => {
    const error = await failureOf((async () => createOllamaSidecar({ address }))());
    expect(error.code).toBe("invalid_input");
    expect(error.message).toMatch(message);
  });

  it("that does not resolve is reported as such", async () => {
    const error = await failureOf(
      createOllamaSidecar({ address: "http://helmdeck-embeddings.invalid:11434" }).version(),
    );
    expect(error.message).toMatch(/cannot be found: the host name does not resolve/);
  });

  it("where something other than HTTP responds is no embedding service", async () => {
    const server = createServer((socket) => socket.end(`${SECRET_TEXT}\r\n\r\n`));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const bound = server.address();
    const port = typeof bound === "object" && bound ? bound.port : 0;
    const error = await failureOf(createOllamaSidecar({ address: `http://127.0.0.1:${port}` }).version());
    expect(error.code).toBe("embeddings_unavailable");
    server.close();
  });
});

it("nothing that a service sends is printed: standard output may belong to a protocol", async () => {
  const printed = [
    vi.spyOn(console, "log"),
    vi.spyOn(console, "warn"),
    vi.spyOn(console, "error"),
    vi.spyOn(process.stdout, "write"),
  ];
  for (const spy of printed) spy.mockClear();
  for (const kind of ["html", "not_json", "echo", "reset"] as const) {
    rig.standIn.setFault({ kind });
    await failureOf(rig.ollama().embedQuery(SECRET_TEXT));
    await failureOf(rig.sidecar.pull(MODEL, () => {}));
  }
  rig.standIn.setFault(undefined);
  await failureOf(createOllamaSidecar({ address: `${rig.standIn.address}/no/such/path` }).version());
  for (const spy of printed) {
    expect(spy).not.toHaveBeenCalled();
    spy.mockRestore();
  }
});

it.each(["two words", "tab\tkey", "new\nline", "schlüssel", ""])(
  "a key that is an invalid header value (%j) is refused without being shown",
  async (odd) => {
    const make = async () => rig.openAi({ apiKey: `${odd && KEY}${odd}` } as object);
    expect(await failureOf(make())).toMatchObject({ code: "invalid_input", details: { field: "apiKey" } });
  },
);
