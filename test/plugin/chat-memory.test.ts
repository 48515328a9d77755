/** /remember, /undo, /forget, /pin, /unpin and /memories with a real memory, and who may use them. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { OpenMemory } from "../../app/compose.ts";
import { keyForText } from "../../app/presenters/words.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import type { SlashContext } from "../../plugin/openclaw-api.ts";
import { makeSlashCommand } from "../../plugin/slash-command.ts";
import type { ChatCommand } from "../../plugin/tool-names.ts";
import { DAY_MS, inTurn, openTestMemory, TestClock, tempFolder } from "../app/fixtures/memories.ts";
import { GROUP_CONTEXT, MAIN_CONTEXT, policyFor, recordingLogger, sandboxing } from "./fake-host.ts";
import { accessTo, fakeMemory } from "./fake-memory.ts";

/** Sends `/command args` and returns the answer. */
type Type = (command: ChatCommand, args?: string, context?: object) => Promise<string>;

function chatOver(
  memory: OpenMemory | Parameters<typeof accessTo>[0],
  config: unknown = {},
  workspace?: string,
): Type {
  const host = { access: accessTo(memory), policy: policyFor(config), log: recordingLogger() };
  const parts = { ...host, workspaceOf: () => workspace };
  return async (command, args, context = MAIN_CONTEXT) => {
    // The command reads only these fields.
    const reply = await makeSlashCommand(command, parts).handler({ ...context, args } as SlashContext);
    return reply.text ?? "";
  };
}

async function chat(clock = new TestClock()) {
  const memory = await openTestMemory({ now: clock.now });
  return { memory, type: chatOver(memory) };
}

const keysOf = async (memory: OpenMemory) =>
  (await memory.listFacts("main", {})).facts.map(({ key }) => key).sort();

describe("/remember", () => {
  test("stores the text under a key made of its words, and explains how to undo it", async () => {
    const { memory, type } = await chat();
    const text = "I always deploy via Konflux";
    expect(await type("remember", text)).toBe(
      "Remembered as deploy-via-konflux, until 2027-02-18.\nTo undo this: /forget deploy-via-konflux",
    );
    expect(await memory.getFact("main", { key: "deploy-via-konflux" })).toMatchObject({
      value: text,
      category: "user_facts",
      writer: { surface: "openclaw-chat", agent: "main", sessionKind: "main" },
    });
  });

  test("a different text with the same words gets another key; the same text gets the same key", async () => {
    const { memory, type } = await chat();
    await type("remember", "The wifi password is on the fridge");
    expect(await type("remember", "the wifi password: is on the fridge!")).toContain(
      "Remembered as wifi-password-fridge-2,",
    );
    expect(await type("remember", "The wifi password is on the fridge")).toContain(
      "Remembered already, as wifi-password-fridge, since 2026-11-20;",
    );
    expect(await keysOf(memory)).toEqual(["wifi-password-fridge", "wifi-password-fridge-2"]);
  });

  test("a key can be given; its value is replaced, and the reply names the only way back", async () => {
    const clock = new TestClock();
    const { memory, type } = await chat(clock);
    await type("remember", "house/style = We write short sentences.");
    clock.pass(DAY_MS);
    const told = await type("remember", "house/style = We write\nshort = good sentences.");
    expect(told).toBe(
      "Remembered as house/style, until 2027-02-19.\nIt replaced the value from 2026-11-20. To restore that: /undo house/style",
    );
    expect(await memory.getFact("main", { key: "house/style" })).toMatchObject({
      value: "We write\nshort = good sentences.",
    });
    const undone = await type("undo", "house/style");
    expect(undone).toMatch(
      /^Undid the store of house\/style on 2026-11-21.*\. Restored: house\/style, as of 2026-11-20.*\.\nThe undone value was deleted\./,
    );
    expect(await memory.getFact("main", { key: "house/style" })).toMatchObject({
      value: "We write short sentences.",
    });
  });

  test("no way back is named if the same value was there before", async () => {
    const { type } = await chat();
    await type("remember", "tea = Oolong");
    expect(await type("remember", "tea = Oolong")).toBe(
      "Remembered already, as tea, since 2026-11-20; now until 2027-02-18.",
    );
  });

  test("similar facts are shown", async () => {
    const similar = [{ key: "old\u202e", value: "We deploy by\nhand.", updatedAt: 0 }];
    const memory = fakeMemory({
      getFact: async () => undefined,
      storeFact: async (_, { key }) => ({
        ...{ key, category: "user_facts", expiresAt: 0, path: "p", sameAs: ["twin"], similar },
      }),
    });
    const told = await chatOver(memory)("remember", "we deploy by hand");
    expect(told).toContain(
      "\nThe same value is stored under twin.\nSimilar: old[U+202E]: We deploy by hand.\n",
    );
  });

  test("a credential is refused and not shown", async () => {
    const { memory, type } = await chat();
    const token = `ghp_${"a1B2c3D4e5F6g7H8i9J0".repeat(2).slice(0, 36)}`;
    const told = await type("remember", `my token is ${token}`);
    expect(told).toMatch(/looks like a credential|GITHUB/i);
    expect(told).toContain("What you typed stays in this chat's own transcript.");
    expect(told).not.toContain(token);
    expect(await keysOf(memory)).toEqual([]);
  });

  test.each([
    ["nothing", "", "/remember <text> stores the text"],
    ["a key that no fact can have", "a\u202eb = text", "key"],
    ["a text that OpenClaw may have cut", "x".repeat(4_096), "too long for a chat command"],
  ])("%s stores nothing", async (_, args, told) => {
    const { memory, type } = await chat();
    expect(await type("remember", args)).toContain(told);
    expect(await keysOf(memory)).toEqual([]);
  });
});

test.each([
  ["The colour of our house is blue", "colour-house-blue"],
  ["it is so", "it-is-so"],
  ["Der Schlüssel liegt unter der Matte", "der-schlüssel-liegt-unter"],
  ["猫は魚が好き", "猫は魚が好き"],
  ["🚀🚀", "note"],
  ["../../etc/passwd", "etc-passwd"],
  [`${"x".repeat(60)} y`, `${"x".repeat(40)}-y`.slice(0, 40)],
])("the key for %j", async (text, key) => {
  expect(await keyForText(text, async () => undefined)).toBe(key);
});

describe("/forget", () => {
  const FACTS = ["deploy", "style", "wifi"].map((key) => ({ key, value: `What we say\nof ${key}` }));

  async function stocked() {
    const all = await chat();
    await inTurn(FACTS, (fact) => all.memory.storeFact("main", fact));
    await all.memory.storeFact("main", { key: "lamp", value: "A lamp", category: "home" });
    return all;
  }

  test.each(["deploy", "key:deploy", "helmdeck/user_facts/deploy.md"])(
    "%s is forgotten at once",
    async (scope) => {
      const { memory, type } = await stocked();
      expect(await type("forget", scope)).toBe(`Forgot the fact ${scope.replace("key:", "")}, for good.`);
      expect(await keysOf(memory)).toEqual(["lamp", "style", "wifi"]);
    },
  );

  test("says in how many of OpenClaw's notes it still stands, or that it is too common to be looked for", async () => {
    const { memory } = await stocked();
    const workspace = await tempFolder();
    await writeFile(join(workspace, "MEMORY.md"), "- The spare key of the cabin lies under a flowerpot\n");
    const type = chatOver(memory, {}, workspace);
    await type("remember", "cabin = The spare key of the cabin lies under a flowerpot.");
    expect(await type("forget", "cabin")).toBe(
      "Forgot the fact cabin, for good. It also stands in 1 note of OpenClaw. To see where, and take it out: openclaw helmdeck traces (it asks for the words).",
    );
    await type("remember", "boat = The boathouse door sticks when the lake is high.");
    expect(await type("forget", "boat")).toBe("Forgot the fact boat, for good.");
    expect(await type("forget", "deploy")).toBe(
      "Forgot the fact deploy, for good. Whether OpenClaw's notes hold it, too, is not known. To look: openclaw helmdeck traces (it asks for the words).",
    );
  });

  test.each([
    ["all", "all 4 facts", "backups, exports, and what packs keep."],
    ["everything", "everything: 4 entries, with records of runs and what packs keep", "backups and exports."],
    ["category:user_facts", "all 3 facts of the category user_facts", "and so do records of runs."],
  ])("%s first shows what goes and what stays, and is forgotten with --yes", async (scope, what, staying) => {
    const { memory, type } = await stocked();
    const shown = await type("forget", scope);
    expect(shown).toContain(`This would delete ${what} for good; it cannot be undone. `);
    expect(shown).toContain(`${staying}\n- `);
    expect(shown).toContain("\n- deploy: What we say of deploy\n");
    expect(shown).toContain(`To do it: /forget ${scope} --yes 4`);
    expect(await type("forget", `${scope} --yes`)).toBe(shown);
    expect(await keysOf(memory)).toHaveLength(4);
    expect(await type("forget", `${scope} —yes 4`)).toMatch(/^Forgot .*[34] .*, for good\./);
    expect(await keysOf(memory)).toEqual(scope === "category:user_facts" ? ["lamp"] : []);
  });

  // verifies P-forget-exact
  test("what was stored after the preview stays, and is named", async () => {
    const { memory, type } = await stocked();
    await type("forget", "category:user_facts");
    await inTurn(["late", "style"], (key) => memory.storeFact("main", { key, value: `Stored late: ${key}` }));
    expect(await type("forget", "category:user_facts --yes 4")).toBe(
      'Forgot 2 facts of the category user_facts, for good. 2 entries stay: they were stored or changed after the preview ("late", "style").',
    );
    expect(await keysOf(memory)).toEqual(["lamp", "late", "style"]);
    expect(await type("forget", "category:user_facts --yes 4")).toBe(
      '2 entries stay: they were stored or changed after the preview ("late", "style").',
    );
  });

  test("records of tool runs need --yes too, even a single one", async () => {
    const { memory, type } = await stocked();
    await memory.recordPackRun("main", { pack: "a.b", outcome: "ok", at_unix: 1_795_000_000 });
    expect(await type("forget", "packs")).toContain("/forget packs --yes");
    expect(await type("forget", "all")).toContain(
      "This would delete all 4 facts and the only record of runs for good",
    );
  });

  test("--dry-run forgets nothing", async () => {
    const { memory, type } = await stocked();
    expect(await type("forget", "deploy --dry-run")).toBe(
      "This would delete the fact deploy for good; it cannot be undone. Everything else stays.\n- deploy: What we say of deploy\nTo do it: /forget deploy",
    );
    expect(await keysOf(memory)).toHaveLength(4);
  });

  test("a missing fact is reported, with similar keys", async () => {
    const { type } = await stocked();
    expect(await type("forget", "deplyo")).toContain('so nothing was forgotten. Similar: "key:deploy".');
    expect(await type("forget", "")).toContain("/forget <key> forgets one fact");
  });
});

describe("/undo", () => {
  test.each([
    ["", "/undo <key> undoes the last store of a fact"],
    ["tea", "There is nothing to undo"],
    ["coffee", "There is nothing to undo"],
  ])("%j changes nothing if there is nothing to undo", async (typed, told) => {
    const { memory, type } = await chat();
    await memory.storeFact("main", { key: "tea", value: "Oolong" });
    expect(await type("undo", typed)).toContain(told);
    expect(await keysOf(memory)).toEqual(["tea"]);
  });
});

describe("/memories", () => {
  test("lists the newest, each with its first words", async () => {
    const clock = new TestClock();
    const { memory, type } = await chat(clock);
    expect(await type("memories")).toBe("Nothing has been stored yet. Start with: /remember <text>");
    const keys = Array.from({ length: 11 }, (_, index) => `fact-${index}`);
    await inTurn(keys, async (key) => {
      clock.pass(1_000);
      await memory.storeFact("main", { key, value: `## ${key}\n${"long ".repeat(40)}` });
    });
    const lines = (await type("memories")).split("\n");
    expect(lines[0]).toMatch(/^- fact-10: ## fact-10( long)+… \(2026-11-20\)$/);
    expect(lines).toHaveLength(12);
    expect(lines[10]).toBe("The newest 10; openclaw helmdeck list shows all.");
  });

  test("with a query gives the answer of a search", async () => {
    const { memory, type } = await chat();
    await memory.storeFact("main", { key: "deploy", value: "We deploy via Konflux." });
    expect(await type("memories", "how do we deploy")).toBe(
      '1. fact "deploy" in user_facts, stored 2026-11-20\n   > We deploy via Konflux.',
    );
  });
});

// verifies P-alone-subjects
describe.each(["remember", "undo", "forget", "memories"] as const)("/%s", (command) => {
  const CLOSED: readonly [string, object, RegExp][] = [
    ["a group", GROUP_CONTEXT, /closed to groups/],
    ["a channel", { agentId: "main", sessionKey: "agent:main:slack:channel:c1" }, /closed to groups/],
    ["a hook", { agentId: "main", sessionKey: "agent:main:hook:1" }, /closed to hooks/],
    ["nobody", {}, /did not say which agent/],
    ["another's session", { agentId: "main", sessionKey: "agent:work:main" }, /belongs to another agent/],
  ];

  test.each(CLOSED)("is refused for %s, without a request to memory", async (_, context, told) => {
    const memory = fakeMemory();
    expect(await chatOver(memory)(command, "deploy", context)).toMatch(told);
    expect(memory.calls).toEqual([]);
  });

  test("is refused for a sandboxed agent", async () => {
    const memory = fakeMemory();
    const config = sandboxing("all");
    const parts = { access: accessTo(memory), policy: policyFor({}, { config }), log: recordingLogger() };
    const context: object = { ...MAIN_CONTEXT, args: "deploy" };
    const reply = await makeSlashCommand(command, parts).handler(context as SlashContext); // as above
    expect(reply.text).toContain("closed to sandboxed runs");
    expect(memory.calls).toEqual([]);
  });

  test("is refused in a group that the operator opened, because others can read the reply", async () => {
    const memory = fakeMemory();
    const told = await chatOver(memory, { allow: ["groups"] })(command, "deploy", GROUP_CONTEXT);
    expect(told).toBe(`Only in a direct chat with the agent, which nobody else can read: /${command}.`);
    expect(memory.calls).toEqual([]);
  });

  test("accesses only its own agent's memory", async () => {
    const memory = await openTestMemory();
    await memory.storeFact("work", { key: "deploy", value: "WORKS-ONLY" });
    const type = chatOver(memory);
    for (const args of ["deploy", "deploy = mine", "everything --yes", ""]) {
      expect(await type(command, args)).not.toContain("WORKS-ONLY");
    }
    expect(await memory.getFact("work", { key: "deploy" })).toMatchObject({ value: "WORKS-ONLY" });
  });

  test("a failure gives one fixed sentence", async () => {
    const type = chatOver(new HelmdeckError("key_wrong", "of /home/x"));
    expect(await type(command, "deploy")).toBe(
      "helmdeck memory is not available: the memory key belongs to another database; run openclaw helmdeck doctor.",
    );
  });
});

describe("/pin and /unpin", () => {
  // verifies P-pin-limits
  test("a person pins, confirms for another year, and unpins", async () => {
    const clock = new TestClock();
    const { memory, type } = await chat(clock);
    await type("remember", "allergies = Nuts.");
    expect(await type("pin", "allergies")).toBe(
      "Pinned allergies: it stands in every prompt of its agent until 2027-11-20. Then, or before, /pin allergies keeps it another year.",
    );
    clock.pass(300 * DAY_MS);
    expect(await type("pin", "allergies")).toContain("until 2028-09-15.");
    expect(await type("memories")).toMatch(/^- Pinned: allergies: Nuts\./);
    expect(await type("unpin", "allergies")).toBe("Unpinned allergies. It is kept until 2028-09-15.");
    expect(await memory.getFact("main", { key: "allergies" })).not.toHaveProperty("pinned");
    expect(await type("pin", "none")).toContain("There is nothing to pin or unpin");
    for (const command of ["pin", "unpin"] as const) expect(await type(command)).toContain("/pin <key>");
  });

  test.each(["--", "—", "–"])(
    "/remember %spin pins what it stores, which stays if that fails",
    async (dash) => {
      const { memory, type } = await chat();
      expect(await type("remember", `${dash}pin I am allergic to nuts`)).toMatch(
        /^Remembered as allergic-nuts, [\s\S]*\nPinned allergic-nuts: /m,
      );
      expect(await memory.getFact("main", { key: "allergic-nuts" })).toMatchObject({
        value: "I am allergic to nuts",
        pinned: true,
      });
      expect(await type("remember", `${dash}pin long = ${"x".repeat(1_300)}`)).toMatch(
        /Remembered as long[\s\S]*It is not pinned\. This fact cannot be pinned: .*300 tokens/,
      );
      expect(await memory.getFact("main", { key: "long" })).not.toHaveProperty("pinned");
    },
  );

  test("/memories says first what ends soon, and how to keep it", async () => {
    const clock = new TestClock();
    const { memory, type } = await chat(clock);
    await type("remember", "--pin allergies = Nuts.");
    clock.pass(355 * DAY_MS);
    await memory.storeFact("main", { key: "soon", value: "x", ttlSeconds: 86_400 });
    expect((await type("memories")).split("\n").slice(0, 2)).toEqual([
      "Expiring within 14 days: 2 facts: allergies (pinned), soon. /pin allergies keeps it another year. openclaw helmdeck renew <key> keeps a fact.",
      expect.stringMatching(/^- Pinned: allergies/),
    ]);
  });
});
