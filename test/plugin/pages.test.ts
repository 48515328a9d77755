/** The tab "Agent memory": who sees which parts of whose memory, and which requests are answered. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import type { FactView, Finding } from "../../app/memory.ts";
import { makePagesHandler, type RequestScope } from "../../plugin/pages-handler.ts";
import { PAGES_PATH } from "../../plugin/pages-tab.ts";
import { type PagesParts, viewerOf } from "../../plugin/pages-viewer.ts";
import { makeReceipts, noteTurn } from "../../plugin/receipts.ts";
import { configOf } from "./fake-host.ts";
import { accessTo, fakeMemory, hanging, READY } from "./fake-memory.ts";

const READ = ["operator.read"];
const HOST_FINDING: Finding = { level: "ok", check: "OpenClaw version", message: "2026.9.6" };

const FACT: FactView = {
  key: "kettle/descaled",
  value: "On Mondays.",
  category: "user_facts",
  tags: [],
  createdAt: 1,
  updatedAt: 1,
  fingerprint: "0".repeat(32),
  path: "helmdeck/user_facts/kettle/descaled.md",
};

interface Given extends Partial<PagesParts> {
  readonly agents?: readonly string[];
  readonly subjects?: Readonly<Record<string, unknown>>;
}

function partsOf({ agents = ["home", "main", "work"], subjects = {}, ...parts }: Given = {}): PagesParts {
  return {
    access: accessTo(fakeMemory({ doctor: async () => ({ findings: [] }) })),
    config: configOf({ subjects }),
    hostConfig: () => ({ agents: { entries: Object.fromEntries(agents.map((id) => [id, {}])) } }),
    hostFindings: async () => [HOST_FINDING],
    receipts: makeReceipts(),
    ...parts,
  };
}

function look(query = "", given: Given = {}, scopes: unknown = READ) {
  return viewerOf(new URLSearchParams(query), scopes, partsOf(given));
}

// verifies P-alone-tab
describe("the memory that is shown", () => {
  test("is the default agent's by default, with the others to choose from", () => {
    const choices = [
      { id: "main", isShown: true },
      { id: "home", isShown: false },
      { id: "work", isShown: false },
    ];
    expect(look()).toMatchObject({ subject: "main", choices, seesCallers: false });
  });

  test.each(["work", "Work", " WORK "])("is that of the requested agent: %j", (agent) => {
    const viewer = look(String(new URLSearchParams({ agent })));
    expect(viewer.subject).toBe("work");
    expect(viewer.choices.filter(({ isShown }) => isShown)).toEqual([{ id: "work", isShown: true }]);
  });

  test.each(["nobody", "", "../work", "work/../main", "helmdeck", "main,work", "__proto__"])(
    "is none if no agent has the name: %j",
    (agent) => {
      const query = String(new URLSearchParams({ agent }));
      expect(() => look(query)).toThrow(expect.objectContaining({ code: "not_found" }));
      // A subject that agents share is not the name of an agent.
      expect(() => look(query, { subjects: { main: agent || "x" } })).toThrow("no agent with this name");
    },
  );

  test("is the shared one for each of two agents that share it", () => {
    const subjects = { main: "us", work: "us" };
    expect(look("agent=main", { subjects }).subject).toBe("us");
    expect(look("agent=work", { subjects })).toMatchObject({
      subject: "us",
      changes: { options: "--agent work" },
    });
  });

  test("is none if the setting subjects is malformed for this agent", () => {
    expect(() => look("agent=work", { subjects: { work: 7 } })).toThrow(
      expect.objectContaining({ code: "identity_refused" }),
    );
  });

  test("has no choice with one agent, or without a list of agents", () => {
    expect(look("", { agents: ["solo"] })).toMatchObject({ subject: "solo", choices: [] });
    expect(look("", { hostConfig: () => ({}) })).toMatchObject({ subject: "main", choices: [] });
    expect(() => look("agent=work", { hostConfig: () => ({}) })).toThrow("no agent with this name");
  });

  test("is that of the first configured agent if the default one is not configured", () => {
    expect(look("", { agents: ["home", "work"] }).subject).toBe("home");
  });
});

// verifies P-alone-tab
test("what was done unasked is that of the shown memory alone", () => {
  const nothing = { added: [], withheld: [] };
  const receipts = makeReceipts();
  noteTurn(receipts, "run-1", { at: 1, subject: "main", ...nothing });
  noteTurn(receipts, "run-2", { at: 2, subject: "work", ...nothing });
  const { unasked } = look("agent=work", { receipts });
  expect(unasked?.().map(({ at }) => at)).toEqual([2]);
});

describe("a shown command that changes memory", () => {
  test("names the agent if there is more than one, as the command for pages that change it does if it is not main", () => {
    const [program, open] = ["openclaw helmdeck", "helmdeck-memory open"];
    const changes = { kind: "commands", program, options: "--agent main", openCommand: open };
    expect(look().changes).toEqual(changes);
    const work = { ...changes, options: "--agent work", openCommand: `${open} --caller work` };
    expect(look("agent=work").changes).toEqual(work);
    const solo = { ...changes, options: "", openCommand: `${open} --caller solo` };
    expect(look("", { agents: ["solo"] }).changes).toEqual(solo);
    const elsewhere = look("", { config: configOf({ databasePath: "/srv/my memory.sqlite" }) }).changes;
    expect(elsewhere).toMatchObject({ openCommand: `${open} --db '/srv/my memory.sqlite'` });
    const source = { kind: "engine", url: "https://memory.example", tokens: { main: "/srv/main.token" } };
    expect(look("", { config: configOf({ source }) }).changes).not.toHaveProperty("openCommand");
  });
});

// verifies P-alone-tab
describe("keys and values", () => {
  test.each([[["operator.read"]], [["operator.write"]], [["operator.pairing", "operator.admin"]]])(
    "are shown to %j",
    (scopes) => {
      expect(look("", {}, scopes).sees).toBe("values");
    },
  );

  test.each([
    [undefined],
    [null],
    ["operator.read"],
    [[]],
    [["operator.sessions.read"]],
    [["operator.read.later", "read", "*", 7]],
  ])("are not shown to %j: only counts", (scopes) => {
    expect(viewerOf(new URLSearchParams(), scopes, partsOf()).sees).toBe("counts");
  });
});

describe("a failing memory", () => {
  test("that hangs fails the call within the time limit", async () => {
    const access = { ...accessTo(fakeMemory()), open: hanging };
    await expect(look("", { access, deadlineMs: 5 }).memory.status("main")).rejects.toThrow(
      expect.objectContaining({ code: "deadline_exceeded" }),
    );
  });

  test("that does not open still has its health page", async () => {
    const access = accessTo(new Error("s3cr3t"));
    const findings = (await look("", { access }).doctor?.())?.findings;
    expect(findings).toEqual([expect.objectContaining({ level: "error", check: "memory" }), HOST_FINDING]);
    expect(JSON.stringify(findings)).not.toContain("s3cr3t");
  });

  test("has the same findings as the command line: memory's, then OpenClaw's", async () => {
    const own: Finding = { level: "warning", check: "key", message: "no backup" };
    const access = accessTo(fakeMemory({ doctor: async () => ({ findings: [own] }) }));
    expect((await look("", { access }).doctor?.())?.findings).toEqual([own, HOST_FINDING]);
  });
});

/** The fields that the handler reads. */
function scopeOf(scopes: readonly string[]): ReturnType<RequestScope> {
  return { client: { connect: { scopes } } } as unknown as ReturnType<RequestScope>;
}

// verifies P-alone-tab
describe("a request", () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  /** Calls the handler like the gateway, with the request's scope. */
  async function ask(init: RequestInit = {}, scope: ReturnType<RequestScope> = undefined, query = "") {
    const memory = fakeMemory({
      myMemory: async (scope) => ({ scope, fetchedAt: 0, categories: [] }),
      listFacts: async () => ({ facts: [FACT], unreadable: [] }),
      status: async () => ({ ...READY, subject: { name: "main", facts: 7, auditRows: 0 } }),
    });
    const handler = makePagesHandler(PAGES_PATH, partsOf({ access: accessTo(memory) }), () => scope);
    const server = createServer((request, response) => {
      Promise.resolve(handler(request, response)).catch(() => response.destroy());
    }).listen(0, "127.0.0.1");
    servers.push(server);
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo; // it listens on a port, so it is neither a pipe nor null
    const response = await fetch(`http://127.0.0.1:${port}${PAGES_PATH}${query}`, init);
    const { status, headers } = response;
    return { status, headers, text: await response.text(), memory };
  }

  test.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])(
    "with %s is refused, without a request to memory",
    async (method) => {
      const { status, headers, memory } = await ask({ method });
      expect([status, headers.get("allow"), memory.calls]).toEqual([405, "GET, HEAD", []]);
    },
  );

  test("with HEAD gets the answer's headers", async () => {
    const { status, text } = await ask({ method: "HEAD" });
    expect([status, text]).toEqual([200, ""]);
  });

  test("for a page is answered with its type and length", async () => {
    const { status, headers, text } = await ask();
    expect(status).toBe(200);
    expect(headers.get("content-type")).toMatch(/^text\/html/);
    expect(Number(headers.get("content-length"))).toBe(Buffer.byteLength(text));
  });

  test.each([
    ["with the scope to read is shown keys and values", scopeOf(["operator.read"]), true],
    ["with a narrower scope is shown only counts", scopeOf(["operator.sessions.read"]), false],
    ["without a scope from the host is shown only counts", undefined, false],
  ])("%s", async (_what, scope, isShown) => {
    const { status, text } = await ask({}, scope);
    expect([status, text.includes(FACT.key), text.includes(FACT.value)]).toEqual([200, isShown, isShown]);
    if (!isShown) expect(text).toMatch(/<strong>7<\/strong>/);
  });

  test("for an unknown agent is answered with a page", async () => {
    const { status, text, memory } = await ask({}, undefined, "?agent=nobody");
    expect([status, memory.calls]).toEqual([404, []]);
    expect(text).toContain("no agent with this name");
  });

  test.each([
    ["a link on another site, or a window that it opens", "cross-site", "document"],
    ["a picture of another site", "cross-site", "image"],
    ["a fetch of another site", "cross-site", "empty"],
    ["an object of another site", "cross-site", "object"],
    ["a script of another site", "cross-site", "script"],
    ["a neighbouring site", "same-site", "document"],
    ["a frame of another port of this name", "same-site", "iframe"],
  ])("from %s is refused, without a request to memory", async (_what, site, dest) => {
    const { status, memory } = await ask({ headers: { "sec-fetch-site": site, "sec-fetch-dest": dest } });
    expect([status, memory.calls]).toEqual([403, []]);
  });

  test.each([
    ["the Control UI", "same-origin", "iframe"],
    ["a link in the frame", "cross-site", "iframe"],
    ["the address bar", "none", "document"],
  ])("from %s is answered", async (_what, site, dest) => {
    const { status } = await ask({ headers: { "sec-fetch-site": site, "sec-fetch-dest": dest } });
    expect(status).toBe(200);
  });

  test("that names a session gets the same page", async () => {
    const plain = await ask();
    const headers = {
      "x-openclaw-session-key": "agent:main:telegram:group:-100",
      "x-openclaw-agent-id": "work",
      "x-openclaw-scopes": "operator.admin",
    };
    expect((await ask({ headers }, undefined, "?sessionKey=agent:work:main")).text).toBe(plain.text);
  });

  test("whose cookie has expired is left to the host's own answer", async () => {
    const order: string[] = [];
    const revalidate = async () => {
      order.push("revalidated");
      throw new Error("Unauthorized");
    };
    await ask({}, { revalidate }).catch(() => order.push("nothing was sent"));
    expect(order).toEqual(["revalidated", "nothing was sent"]);
  });
});
