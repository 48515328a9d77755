/** Cases that need a real socket: slow and broken clients, limits of headers, and how the server stops. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Listening } from "../../server/create-server.ts";
import { ContextServer, packThat } from "./fixtures/context-server.ts";

let served: ContextServer;
let listening: Listening;
let begun: PromiseWithResolvers<void>;
let held: PromiseWithResolvers<void>;

beforeEach(async () => {
  begun = Promise.withResolvers();
  held = Promise.withResolvers();
  const slow = packThat(async () => {
    begun.resolve();
    await held.promise;
    return { done: true };
  });
  served = await ContextServer.open({ packs: [slow] });
  listening = await served.server.listen({
    port: 0,
    limits: { headersTimeoutMs: 300, requestTimeoutMs: 600, checkTimeoutsEveryMs: 50 },
  });
});
afterEach(async () => {
  held.resolve();
  await listening.close();
  await served.close();
});

async function open(): Promise<Socket> {
  const socket = connect(listening.port, listening.address);
  await once(socket, "connect");
  return socket;
}

/** Everything that the server sends until it closes the connection. */
async function conversation(sent: string): Promise<string> {
  const socket = await open();
  socket.write(sent);
  return text(socket);
}

const post = (path: string, body: string) =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

describe("a client that is slow or broken", () => {
  it("with its headers is disconnected", async () => {
    const answer = await conversation("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ");
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toContain('"error":"deadline_exceeded"');
  });

  it("with its body is disconnected, and nothing is written", async () => {
    const answer = await conversation(
      "POST /api/v1/memory/store HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 30\r\n\r\n{",
    );
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect((await served.as().get("/api/v1/memory/facts")).body.facts).toEqual([]);
  });

  it("that disconnects in the middle of its body causes no server error", async () => {
    const socket = await open();
    socket.write(post("/api/v1/memory/store", "{}").replace("Length: 2", "Length: 99"));
    const response = await fetch(`${listening.url}/healthz`); // by then the server has read the request
    expect(response.status).toBe(200);
    socket.destroy();
    await listening.close();
    expect(served.defects).toEqual([]);
  });

  it("that disconnects in the middle of a chunked body, or sends invalid chunks, causes no server error", async () => {
    const begun = `${post("/api/v1/memory/store", "").replace("Content-Length: 0", "Transfer-Encoding: chunked")}5\r\n{"key`;
    const socket = await open();
    socket.write(begun);
    await fetch(`${listening.url}/healthz`); // by then the server has read the request
    socket.destroy();
    expect(await conversation(`${begun}\r\nno chunk\r\n`)).toMatch(/^HTTP\/1\.1 400 /);
    await listening.close();
    expect(served.defects).toEqual([]);
  });

  const HOST = "HTTP/1.1\r\nHost: localhost\r\n";
  const CLOSE = "Connection: close\r\n";
  const long = "x".repeat(20_000);
  it.each([
    ["invalid HTTP", "hello\r\n\r\n", 400, "invalid_input"],
    ["headers beyond the limit", `GET / ${HOST}X: ${long}\r\n\r\n`, 431, "too_large"],
    ["an address beyond the limit", `GET /${long} ${HOST}\r\n`, 431, "too_large"],
    ["no host", `GET /healthz HTTP/1.1\r\n${CLOSE}\r\n`, 400, "invalid_input"],
    ["too many headers", `GET /healthz ${HOST}${"X: 1\r\n".repeat(300)}\r\n`, 431, "too_large"],
    [
      "an unknown expectation, and a body without a type",
      `POST /x ${HOST}Expect: wonders\r\nContent-Length: 1\r\n${CLOSE}\r\n{`,
      ...([415, "unsupported_media_type"] as const),
    ],
    ["two lengths", `POST /x ${HOST}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`, 400, "invalid_input"],
    [
      "a length and chunks",
      `POST /x ${HOST}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      ...([400, "invalid_input"] as const),
    ],
    ["an invalid host", `GET /healthz HTTP/1.1\r\nHost: a b\r\n${CLOSE}\r\n`, 400, "invalid_input"],
    [
      "another host in its address than in its header",
      `GET http://localhost/healthz HTTP/1.1\r\nHost: evil.example\r\n${CLOSE}\r\n`,
      ...([403, "forbidden"] as const),
    ],
  ])("that sends %s is refused", async (_what, request, status, error) => {
    const answer = await conversation(request);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toContain(`"error":"${error}"`);
  });
});

describe("listening", () => {
  it("is refused for a host name that cannot be resolved", async () => {
    await expect(served.server.listen({ host: "no-such-host.invalid", port: 0 })).rejects.toMatchObject({
      code: "invalid_input",
    });
  });
});

describe("stopping", () => {
  it("finishes accepted requests, and accepts no more", async () => {
    const answer = fetch(`${listening.url}/api/v1/packs/test.do`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: "{}",
    });
    await begun.promise;
    const closing = listening.close();
    await expect(fetch(`${listening.url}/healthz`)).rejects.toThrow();
    held.resolve();
    const response = await answer;
    expect([response.status, await response.json()]).toMatchObject([200, { output: { done: true } }]);
    expect(response.headers.get("connection")).toBe("close");
    await closing;
  });

  it("closes requests that exceed the grace period, and cancels their runs", async () => {
    const signalled = Promise.withResolvers<void>();
    const endless = packThat(async ({ signal }) => {
      signal.addEventListener("abort", () => signalled.resolve());
      begun.resolve();
      return held.promise.then(() => ({}));
    });
    const other = await ContextServer.open({ packs: [endless] });
    const short = await other.server.listen({ port: 0, graceMs: 20 });
    const socket = connect(short.port, short.address);
    socket.write(post("/api/v1/packs/test.do", "{}"));
    await begun.promise;
    const ended = once(socket, "close");
    await short.close();
    await Promise.all([ended, signalled.promise]);
    held.resolve();
    await other.close();
  });

  it("closes idle connections", async () => {
    const socket = await open();
    const ended = text(socket);
    await listening.close();
    expect(await ended).toBe("");
  });
});
