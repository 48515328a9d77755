/** The resources of an MCP caller: whose memory they show, and that a change is reported whoever made it. */
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Memory, memoryFrom } from "../../app/memory.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { memoryPack } from "../../packs/shipped/memory-packs.ts";
import { type McpService, makeMcpService } from "../../server/mcp/mcp-service.ts";
import { openTestMemory, tempPlace } from "../app/fixtures/memories.ts";
import { mcpClientOf, newClient } from "./fixtures/mcp-client.ts";
import { packThat, testServerContext } from "./fixtures/mcp-context.ts";

const MEMORY = "helmdeck://my-memory";
const DEFAULTS = "helmdeck://my-defaults";

/** A ticker that ticks when the test says so. */
class Ticks {
  readonly #callbacks = new Set<() => void>();
  readonly ticker = (callback: () => void): (() => void) => {
    this.#callbacks.add(callback);
    return () => this.#callbacks.delete(callback);
  };
  get count(): number {
    return this.#callbacks.size;
  }
  tick(): void {
    for (const callback of this.#callbacks) callback();
  }
}

/** A client that records the updates that it gets. */
class Listener {
  readonly client = newClient();
  readonly told: string[] = [];

  static async connect(service: McpService, subject: string): Promise<Listener> {
    const listener = new Listener();
    const { client, told } = listener;
    client.setNotificationHandler(
      ResourceUpdatedNotificationSchema,
      ({ params }) => void told.push(params.uri),
    );
    await mcpClientOf(service, subject, client);
    onTestFinished(() => client.close());
    return listener;
  }

  async read(uri: string) {
    const { contents } = await this.client.readResource({ uri });
    expect(contents).toMatchObject([{ uri, mimeType: "application/json" }]);
    const [first] = contents;
    return JSON.parse(first !== undefined && "text" in first ? first.text : "");
  }
}

function serviceOver(memory: Memory, ticks = new Ticks()): McpService {
  const service = makeMcpService(testServerContext({ memory, packs: [memoryPack("store", memory)] }), {
    ticker: ticks.ticker,
  });
  onTestFinished(() => service.watch.close());
  return service;
}

describe("resources", () => {
  test("of each caller show the caller's own memory, never that of `unknown` (fault 2)", async () => {
    const memory = await openTestMemory();
    const at_unix = 1_790_000_000;
    for (const [subject, pack] of [
      ["ada", "a.one"],
      ["bob", "b.two"],
      ["unknown", "u.three"],
    ] as const) {
      await memory.storeFact(subject, { key: `${subject}/tea`, value: "oolong" });
      await memory.recordPackRun(subject, { pack, outcome: "ok", at_unix, learn_inputs: { theme: subject } });
    }
    const service = serviceOver(memory);
    for (const [subject, pack] of [
      ["ada", "a.one"],
      ["bob", "b.two"],
    ] as const) {
      const listener = await Listener.connect(service, subject);
      const mine = await listener.read(MEMORY);
      expect(mine).toMatchObject({ scope: `caller=${subject}` });
      expect(mine.categories).toContainEqual({
        name: "user_facts",
        count: 1,
        recent_keys: [`${subject}/tea`],
      });
      const defaults = await listener.read(DEFAULTS);
      expect(defaults).toMatchObject({ scope: `caller=${subject}`, packs: [{ id: pack, calls: 1 }] });
      expect(defaults.recent).toHaveLength(1);
    }
  });

  test("are listed, and any other name is refused", async () => {
    const { client } = await Listener.connect(serviceOver(await openTestMemory()), "ada");
    expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual([MEMORY, DEFAULTS]);
    for (const uri of ["helmdeck://my-memory/bob", "helmdeck://my-memory?caller=bob", "file:///etc/passwd"]) {
      await expect(client.readResource({ uri })).rejects.toMatchObject({ code: -32_002 });
      await expect(client.subscribeResource({ uri })).rejects.toMatchObject({ code: -32_002 });
    }
  });

  test("give the reason if memory is unavailable, and tools are still listed", async () => {
    const refuse = async () => {
      throw new HelmdeckError("memory_unavailable", "It was made with another key.", {
        details: { reason: "key_wrong" },
      });
    };
    const memory = memoryFrom(() => refuse);
    const service = makeMcpService(
      testServerContext({ memory, packs: [packThat("odd.pack", async () => ({}))] }),
    );
    const { client } = await Listener.connect(service, "ada");
    const refusal = {
      code: -32_603,
      message: expect.stringMatching(/memory_unavailable: .*belongs to another database/),
      data: { error: "memory_unavailable", remedy: expect.any(String) },
    };
    await expect(client.readResource({ uri: MEMORY })).rejects.toMatchObject(refusal);
    await expect(client.subscribeResource({ uri: DEFAULTS })).rejects.toMatchObject(refusal);
    expect((await client.listTools()).tools).toHaveLength(1);
  });
});

describe("a subscriber", () => {
  test("is notified at once about its own changes, and not after it unsubscribes", async () => {
    const listener = await Listener.connect(serviceOver(await openTestMemory()), "ada");
    const store = (key: string) =>
      listener.client.callTool({ name: "helmdeck__memory_store", arguments: { key, value: "v" } });
    await store("before");
    await listener.client.subscribeResource({ uri: MEMORY });
    await store("during");
    await expect.poll(() => listener.told).toEqual([MEMORY]);
    await listener.client.unsubscribeResource({ uri: MEMORY });
    await store("after");
    await listener.client.ping();
    expect(listener.told).toEqual([MEMORY]);
  });

  test("is notified once about each subscribed resource when another process writes", async () => {
    const place = await tempPlace();
    const [ours, theirs] = [await openTestMemory(place), await openTestMemory(place)];
    const ticks = new Ticks();
    const listener = await Listener.connect(serviceOver(ours, ticks), "ada");
    await listener.client.subscribeResource({ uri: MEMORY });
    await listener.client.subscribeResource({ uri: DEFAULTS });
    ticks.tick();
    await theirs.storeFact("ada", { key: "tea", value: "oolong" });
    ticks.tick();
    ticks.tick();
    await expect.poll(() => listener.told).toEqual([MEMORY, DEFAULTS]);
    await listener.client.ping();
    expect(listener.told).toEqual([MEMORY, DEFAULTS]);
    await theirs.forget("ada", { scope: "all" });
    ticks.tick();
    await expect.poll(() => listener.told).toHaveLength(4);
  });

  test("is not notified about other callers' changes", async () => {
    const memory = await openTestMemory();
    const ticks = new Ticks();
    const service = serviceOver(memory, ticks);
    const [ada, bob] = [await Listener.connect(service, "ada"), await Listener.connect(service, "bob")];
    await ada.client.subscribeResource({ uri: MEMORY });
    await bob.client.subscribeResource({ uri: MEMORY });
    await memory.storeFact("bob", { key: "tea", value: "assam" });
    ticks.tick();
    await expect.poll(() => bob.told).toEqual([MEMORY]);
    await ada.client.ping();
    expect(ada.told).toEqual([]);
  });

  test("is notified about earlier changes when memory is available again", async () => {
    const memory = await openTestMemory();
    let locked = false;
    const revision: Memory["revision"] = async (subject) => {
      if (locked) throw new HelmdeckError("store_locked", "Another process holds the database.");
      return memory.revision(subject);
    };
    const ticks = new Ticks();
    const listener = await Listener.connect(serviceOver({ ...memory, revision }, ticks), "ada");
    await listener.client.subscribeResource({ uri: MEMORY });
    locked = true;
    await memory.storeFact("ada", { key: "tea", value: "oolong" });
    ticks.tick();
    await listener.client.ping();
    expect(listener.told).toEqual([]);
    locked = false;
    ticks.tick();
    await expect.poll(() => listener.told).toEqual([MEMORY]);
  });

  test("is notified at once if the database notifies, and by polling otherwise", async () => {
    const memory = await openTestMemory();
    const ticks = new Ticks();
    const listeners = new Set<() => void>();
    const watch = (subject: string, listener: () => void) => {
      if (subject === "ana") listeners.add(listener);
      return () => listeners.delete(listener);
    };
    const service = makeMcpService({ ...testServerContext({ memory }), watch }, { ticker: ticks.ticker });
    onTestFinished(() => service.watch.close());
    const { client, told } = await Listener.connect(service, "ana");
    await client.subscribeResource({ uri: MEMORY });
    await memory.storeFact("ana", { key: "a", value: "1" });
    for (const listener of listeners) listener();
    await expect.poll(() => told).toEqual([MEMORY]);
    await memory.storeFact("ana", { key: "b", value: "2" });
    ticks.tick();
    await expect.poll(() => told).toEqual([MEMORY, MEMORY]);
    await client.unsubscribeResource({ uri: MEMORY });
    expect([listeners.size, ticks.count]).toEqual([0, 0]);
  });

  test("shares one timer with its subject's other subscribers, and the timer stops after the last one leaves", async () => {
    const ticks = new Ticks();
    const service = serviceOver(await openTestMemory(), ticks);
    const listeners = [
      await Listener.connect(service, "ada"),
      await Listener.connect(service, "ada"),
      await Listener.connect(service, "bob"),
    ];
    expect(ticks.count).toBe(0);
    for (const { client } of listeners) await client.subscribeResource({ uri: MEMORY });
    expect(ticks.count).toBe(2);
    await listeners[2]?.client.unsubscribeResource({ uri: MEMORY });
    expect(ticks.count).toBe(1);
    for (const { client } of listeners) await client.close();
    await expect.poll(() => ticks.count).toBe(0);
  });
});
