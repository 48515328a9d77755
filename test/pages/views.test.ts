/** The timeline, expiring facts, growth, health, one fact, several memories, and a memory that does not open. */
import { describe, expect, test } from "vitest";
import type { DoctorReport, Memory } from "../../app/memory.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { DAY_MS, inTurn, NOW } from "../app/fixtures/memories.ts";
import { BASE, COMMANDS, FORMS, nextOf, openRig, type Rig, textOf } from "./rig.ts";

async function recordTool(rig: Rig, tool: string, more: object = {}): Promise<void> {
  const at_unix = Math.floor(rig.clock.time / 1_000);
  await rig.memory.recordToolCall(
    "main",
    { tool, outcome: "ok", at_unix, ...more },
    { surface: "openclaw", agent: "main" },
  );
}

describe("the timeline", () => {
  test("says which records there can be if there are none", async () => {
    const rig = await openRig();
    await rig.memory.storeFact("main", { key: "tea", value: "Oolong" });
    expect(textOf(await rig.get("/timeline?kind=run"))).toContain(
      'There are no records yet. Runs of packs and pipelines appear here, and calls of other tools if OpenClaw records them (auditTools: "all"). Storing, finding and forgetting facts leaves no record.',
    );
    expect(textOf(await rig.get("/timeline?kind=pack"))).toContain("No record matches. Show all of them");
  });

  test("shows each run by day, with time, outcome, duration and kept inputs", async () => {
    const rig = await openRig();
    await recordTool(rig, "exec", { duration_ms: 1_234, inputs: { title: "a <b>" } });
    rig.clock.pass(DAY_MS + 61_000);
    await recordTool(rig, "web_search", { outcome: "failed" });
    const page = await rig.get("/timeline?kind=run");
    expect(textOf(page)).toContain(
      "Saturday 21 November 2026 12:01:01 web_search tool by agent main, in OpenClaw ✗ failed Friday 20 November 2026 12:00:00 exec tool 1.2 s by agent main, in OpenClaw ✓ ok title: a <b>",
    );
    expect(page.text).toMatch(/class="chip bad">✗ failed/);
    expect(page.text).toMatch(/class="chip ok">✓ ok/);
  });

  test("has filters and pages, and keeps its filters on the next page", async () => {
    const rig = await openRig();
    await inTurn([...Array(120).keys()], async (number) => {
      rig.clock.pass(1_000);
      await recordTool(rig, `t-${number}.`, { outcome: number % 2 ? "failed" : "ok" });
    });
    const seen: string[] = [];
    let next: string | undefined = "/timeline?kind=tool&outcome=failed";
    while (next !== undefined) {
      const page = await rig.get(next);
      seen.push(...[...page.text.matchAll(/<h3>t-(\d+)\./g)].map(([, number = ""]) => number));
      next = nextOf(page);
      expect(next ?? "kind=tool&outcome=failed").toContain("kind=tool&outcome=failed");
    }
    expect(seen).toEqual([...Array(60).keys()].map((at) => `${119 - 2 * at}`));
  });

  test("begins at the run that a search's hit links to", async () => {
    const rig = await openRig();
    await recordTool(rig, "zebra_tool", { inputs: { title: "zebra" } });
    rig.clock.pass(DAY_MS);
    await recordTool(rig, "later");
    const { text } = await rig.get("/facts?q=zebra_tool");
    const link = /href="([^"]*\/timeline\?until=[^"]*)"/.exec(text)?.[1] ?? "";
    const found = textOf(await rig.get(link.slice(BASE.length)));
    expect(found).toContain("zebra_tool");
    expect(found).not.toContain("later");
  });

  test.each(["?cursor=x", "?until=x", "?kind=x", "?outcome=%00"])(
    "%s does not cause a server error",
    async (query) => {
      const rig = await openRig();
      await recordTool(rig, "exec");
      expect((await rig.get(`/timeline${query}`)).status).toBe(query === "?cursor=x" ? 400 : 200);
    },
  );
});

test.each([
  ["/ending", "Nothing expires within 14 days."],
  ["/growth", "Nothing has been stored yet."],
  ["/facts?q=zebra", "Nothing has been stored yet."],
  ["/tidy", "Nothing to tidy up"],
])("%s of an empty memory says: %s", async (path, text) => {
  expect(textOf(await (await openRig({ changes: FORMS })).get(path))).toContain(text);
});

describe("the list of facts that expire soon", () => {
  test("is sorted by expiry, with a link to renew each fact", async () => {
    const rig = await openRig({ changes: FORMS });
    await inTurn([9, 2, 40], (days) =>
      rig.memory.storeFact("main", { key: `in-${days}`, value: "x", ttlSeconds: days * 86_400 }),
    );
    const page = await rig.get("/ending");
    expect(textOf(page)).toMatch(/x in-2 stored just now expires in 2 days Renew in-2.*x in-9 /);
    expect(textOf(page)).not.toContain("in-40");
    expect(page.text).toContain(`href="${BASE}/renew?key=in-2"`);
  });
});

describe("what was done unasked", () => {
  const turns = [
    {
      at: NOW,
      message: "Which <tea>?",
      added: [{ key: "tea", why: "sure: it has what the message asks for" }],
      withheld: [],
      kept: "stairs",
    },
    { at: NOW - 60_000, added: [], withheld: [{ key: "car", why: "shares no word with the message" }] },
    { at: NOW - 120_000, outcome: "too short to ask for anything", added: [], withheld: [] },
  ];

  test("is listed by message, with its words: what was added, what was not and why, and kept", async () => {
    const rig = await openRig({ unasked: () => turns });
    const page = await rig.get("/unasked");
    expect(textOf(page)).toContain(
      "“Which <tea>?” 2026-11-20 12:00 UTC (just now) 1 fact was added to the message. added tea : sure: it has what the message asks for kept your request, as stairs , where it can be forgotten A message 2026-11-20 11:59 UTC (1 minute ago) Nothing was added: no fact is sure to answer it. not added car : shares no word with the message A message 2026-11-20 11:58 UTC (2 minutes ago) Nothing was added: too short to ask for anything.",
    );
    expect(page.text).toContain(`href="${BASE}/fact?key=stairs"`);
    expect(page.text).toContain(`href="${BASE}/unasked" aria-current="page"`);
  });

  test("says how to turn it on if there is nothing", async () => {
    const rig = await openRig({ unasked: () => [] });
    expect(textOf(await rig.get("/unasked"))).toContain("autoRecall and captureRequests");
  });

  test("is no page in a process that does not know it", async () => {
    const rig = await openRig();
    expect((await rig.get("/facts")).text).not.toContain("/unasked");
    const page = await rig.get("/unasked");
    expect([page.status, textOf(page)]).toEqual([404, expect.stringContaining("in OpenClaw's Control UI")]);
  });

  test("shows no key to somebody who may see only counts", async () => {
    const rig = await openRig({ unasked: () => turns, sees: "counts" });
    const text = textOf(await rig.get("/unasked"));
    expect(text).toContain("You see only counts.");
    expect(text).not.toMatch(/tea|car|stairs/);
  });
});

describe("growth", () => {
  test("has a table with a bar for each period", async () => {
    const rig = await openRig();
    await rig.memory.storeFact("main", { key: "a", value: "x" });
    await rig.memory.storeFact("main", { key: "b", value: "x" });
    await recordTool(rig, "t");
    rig.clock.pass(3 * DAY_MS);
    await rig.memory.storeFact("main", { key: "c", value: "x" });
    const page = await rig.get("/growth");
    expect(textOf(page)).toContain("2026-11-23 1 0 3 1 2026-11-20 2 1 2 1");
    const bars = [...page.text.matchAll(/<rect class="(a|b)"[^>]* width="([\d.]+)"/g)];
    expect(bars.map(([, name, width]) => `${name} ${Math.round(Number(width))}`)).toEqual([
      "a 33",
      "b 0",
      "a 67",
      "b 33",
    ]);
    expect(textOf(await rig.get("/growth?by=week"))).toContain("2026-11-23 1 0 3 1 2026-11-16 2 1 2 1");
    expect(textOf(await rig.get("/growth?by=month"))).toContain("2026-11 3 1 3 1");
    expect(page.text).toContain(
      '<a class="button small primary" href="/plugins/helmdeck-memory/growth?by=day" aria-current="true">',
    );
  });

  test("uses weeks and months for an older memory, and counts what was stored before the chart's range", async () => {
    const rig = await openRig();
    await rig.memory.storeFact("main", { key: "a", value: "x", ttlSeconds: 365 * 86_400 });
    rig.clock.pass(100 * DAY_MS);
    await rig.memory.storeFact("main", { key: "b", value: "x" });
    expect((await rig.get("/growth")).text).toContain('by=week" aria-current="true"');
    expect(textOf(await rig.get("/growth?by=day"))).toContain("2027-02-28 1 0 2 0");
    rig.clock.pass(250 * DAY_MS);
    expect(textOf(await rig.get("/growth?by=day"))).toContain("memory");
  });
});

describe("health", () => {
  test("shows doctor's findings, remedies, and the location of memory", async () => {
    const rig = await openRig();
    await rig.memory.storeFact("main", { key: "a", value: "x" });
    const text = textOf(await rig.get("/health"));
    expect(text).toMatch(
      /1 problem needs attention: key\..*Key ! warning A new key was just created.*What to do: Keep a copy of the key/,
    );
    expect(text).toMatch(
      /State ✓ open Database .*memory\.sqlite \(better-sqlite3\) Key .*helmdeck-memory\.key Search keyword Holds 1 fact, 0 records/,
    );
    expect(text).toContain("Off, so only keyword search works");
  });

  test("has one heading for all of doctor's findings about one subject", async () => {
    const finding = { level: "ok", check: "key" } as const;
    const findings = [
      { ...finding, message: "It comes from a file." },
      { level: "ok", check: "rows", message: "Every row can be opened." } as const,
      { ...finding, message: "It is k1." },
    ];
    const { text } = await (await openRig({ doctor: async () => ({ findings }) })).get("/health");
    expect(text.match(/<h3>[^<]*<\/h3>/g)).toEqual(["<h3>Key</h3>", "<h3>Rows</h3>"]);
  });

  test("says once why there is no semantic search, however often it is asked", async () => {
    const problem = "The built-in model is not installed in /state/helmdeck-memory-model/0f0f.";
    const base = await openRig();
    const status: Memory["status"] = async (subject) => ({
      ...(await base.memory.status(subject)),
      embeddings: { provider: "none", problem },
    });
    const memory = { ...base.memory, status };
    const shown = async (doctor: () => Promise<DoctorReport>) =>
      textOf(await (await openRig({ memory, doctor })).get("/health"));
    const finding = { level: "ok", check: "semantic search", message: `Off: ${problem}` } as const;
    const text = await shown(async () => ({ findings: [finding] }));
    expect(text.split(problem)).toHaveLength(2);
    expect(text).toContain("Off, so only keyword search works.");
    expect((await shown(() => Promise.reject(new Error("late")))).split(problem)).toHaveLength(2);
  });

  test("shows an embedding service's progress and last failure", async () => {
    const base = await openRig();
    const status: Memory["status"] = async (subject) => ({
      ...(await base.memory.status(subject)),
      embeddings: {
        ...{ provider: "ollama", url: "http://127.0.0.1:11434", model: "nomic-embed-text", state: "idle" },
        ...{ embedded: 1_200, waiting: 30, refused: 1, failure: "It does not answer." },
      },
    });
    const text = textOf(await (await openRig({ memory: { ...base.memory, status } })).get("/health"));
    expect(text).toContain(
      "1,200 of 1,231 entries of the open memories, 30 waiting, 1 refused (keyword search only)",
    );
    expect(text).toContain(
      "Last failure It does not answer. Keyword search still works; the service is retried automatically.",
    );
  });

  test("of a memory that cannot be opened shows the reason and a remedy; the other pages link to it", async () => {
    const { memory } = await openRig();
    const error = new HelmdeckError("key_wrong", "The key does not belong to this database.");
    const refuse = () => Promise.reject(error);
    const status = await memory.status();
    const broken = {
      ...memory,
      ...{ myMemory: refuse, listFacts: refuse, getFact: refuse },
      ...{ search: refuse, listRuns: refuse, growth: refuse },
      status: async () => ({
        ...status,
        state: "failed" as const,
        error: { code: error.code, message: error.message },
      }),
    };
    const finding = {
      level: "error",
      check: "memory",
      message: "key_wrong: it does not open",
      remedy: "Find the key.",
    } as const;
    const rig = await openRig({ memory: broken, doctor: async () => ({ findings: [finding] }) });
    const text = textOf(await rig.get("/health"));
    expect(text).toContain(
      "Memory does not open. The key does not belong to this database. What to do: Find the key of this database, and put it",
    );
    expect(text).toContain("Memory ✗ error key_wrong: it does not open What to do: Find the key.");
    for (const path of ["/facts", "/facts?q=x", "/fact?key=x", "/timeline", "/ending", "/growth"]) {
      const page = await rig.get(path);
      expect(page.status).toBe(503);
      expect(page.text).toContain(`<a href="${BASE}/health">Health</a> for the reason and the remedy.`);
    }
  });

  test("of another operator's server shows whether memory works, but not where it is", async () => {
    const rig = await openRig({ doctor: "none" });
    await rig.memory.storeFact("main", { key: "a", value: "x" });
    const text = textOf(await rig.get("/health"));
    expect(text).toContain("State ✓ open Search keyword Holds 1 fact, 0 records");
    expect(text).toContain("sign in with a token that has the scope admin");
    expect(text).not.toMatch(/memory\.sqlite|\.key|better-sqlite3|embedding/);
  });

  test("is shown even if doctor takes too long", async () => {
    const doctor = () => Promise.reject(new HelmdeckError("deadline_exceeded", "It took longer than 3 s."));
    const text = textOf(await (await openRig({ doctor })).get("/health"));
    expect(text).toContain("did not finish in time for this page: It took longer than 3 s.");
    expect(text).toContain("State ✓ open");
  });
});

describe("one fact", () => {
  test("shows its complete value with white space, and its details", async () => {
    const rig = await openRig();
    const value = `first\n\n\tindented  twice\n${"word ".repeat(13_000)}`.trim();
    await rig.memory.storeFact(
      "main",
      { key: "k", value, category: "c", tags: ["t"] },
      { surface: "openclaw", agent: "main", sessionKind: "direct" },
    );
    rig.clock.pass(2 * 3_600_000);
    const page = await rig.get("/fact?key=k");
    expect(page.text).toContain(`<pre class="value">${value}</pre>`);
    const fact = await rig.memory.getFact("main", { key: "k" });
    expect(textOf(page)).toContain(
      "Stored by agent main, in OpenClaw (direct) First stored 2026-11-20 12:00 UTC (2 hours ago) Last stored 2026-11-20 12:00 UTC (2 hours ago) Expires 2027-02-18 12:00 UTC (in 90 days) Category c Tags t",
    );
    expect(textOf(page)).toMatch(/ word… k first .* Former values .* About it .* For programs /);
    expect(textOf(page)).toContain(`Fingerprint ${fact?.fingerprint} Size 63 KiB Path helmdeck/c/k.md`);
  });

  test("of a date without a time has that date", async () => {
    const rig = await openRig();
    rig.clock.time = Date.UTC(2026, 10, 21);
    await rig.memory.storeFact("main", { key: "k", value: "v" });
    rig.clock.pass(2 * 3_600_000);
    expect(textOf(await rig.get("/fact?key=k"))).toContain(
      "First stored 2026-11-21 Last stored 2026-11-21 Exp",
    );
    expect(textOf(await rig.get("/facts"))).toContain("stored 2026-11-21 expires");
  });

  test("shows its former values and similar facts", async () => {
    const rig = await openRig();
    await rig.memory.storeFact("main", { key: "k", value: "We deploy by hand." });
    await rig.memory.storeFact("main", { key: "k", value: "We deploy through Konflux." });
    await rig.memory.storeFact("main", { key: "like", value: "Konflux is how we deploy things." });
    const text = textOf(await rig.get("/fact?key=k"));
    expect(text).toMatch(/1 former value, newest first\. Searches do not find them\. We deploy by hand\./);
    expect(text).toMatch(/Similar Konflux is how we deploy things\. like /);
  });

  test("that does not exist gives a page that says so", async () => {
    const rig = await openRig();
    for (const path of ["/fact", "/fact?key=none", "/fact?key=%FF%00"]) {
      const page = await rig.get(path);
      expect([page.status, textOf(page).includes("There is no such fact.")]).toEqual([404, true]);
    }
  });

  test("that cannot be decrypted is shown as such, with a remedy", async () => {
    const { memory } = await openRig();
    const unreadable = new HelmdeckError("entry_unreadable", "It does not authenticate.");
    const damaged = {
      ...memory,
      getFact: () => Promise.reject(unreadable),
      listFacts: async () => ({ facts: [], unreadable: ["<b>damaged"] }),
    };
    const rig = await openRig({ memory: damaged, changes: FORMS });
    expect(textOf(await rig.get("/fact?key=damaged"))).toContain(
      "It does not authenticate. Store that fact again, or restore a backup. Other entries are not affected. Forget it",
    );
    expect(textOf(await rig.get("/facts"))).toContain(
      "One fact cannot be opened: changed, moved, or encrypted with another key.",
    );
    expect(textOf(await rig.get("/facts"))).toContain("<b>damaged");
  });
});

describe("a search", () => {
  test("shows the agent's hits, sure or possible, with explanations in words", async () => {
    const rig = await openRig();
    await rig.memory.storeFact("main", { key: "deploy/how", value: "Deployments go through Konflux." });
    await rig.memory.storeFact("main", { key: "wifi", value: "The wifi at home is called Kolibri." });
    const asked = await rig.memory.search("main", { query: "how do we deploy with Konflux" });
    const sure = await rig.get("/facts?q=how+do+we+deploy+with+Konflux");
    expect(
      [...sure.text.matchAll(/fact\?key=([^"]*)"/g)].map(([, key = ""]) => decodeURIComponent(key)),
    ).toEqual(asked.results.map(({ key }) => key));
    expect(textOf(sure)).toContain("Words of the query in it: “deploy”, “konflux”.");
    expect(sure.text).toContain("<mark>Konflux</mark>");
    expect(textOf(sure)).not.toMatch(/score|weight/i);
    const possible = textOf(await rig.get("/facts?q=what+is+the+wifi+password"));
    expect(possible).toContain("No sure answer. The agent sees these hits, marked as only possibly related");
    expect(possible).toContain(" only possibly related: words ");
    expect(possible).toContain("Against it: ");
  });

  test("says which hits contradict each other, and links to them", async () => {
    const rig = await openRig();
    await rig.memory.storeFact("main", { key: "standup/time", value: "The standup is at 9:30" });
    rig.clock.pass(DAY_MS);
    await rig.memory.storeFact("main", { key: "daily", value: "standup moved to 10:00" });
    const page = await rig.get("/facts?q=when+is+the+standup");
    expect(textOf(page)).toMatch(
      /daily .*contradicts standup\/time , stored .* standup\/time .*contradicts daily , stored /,
    );
  });

  test("without hits shows how much was searched", async () => {
    const rig = await openRig();
    await rig.memory.storeFact("main", { key: "wifi", value: "Kolibri" });
    const text = textOf(await rig.get("/facts?q=zebra"));
    expect(text).toContain("No answer in this memory. 1 fact, none matched; the agent is told so.");
    expect(text).toContain("Semantic search is off: helmdeck-memory model install turns it on");
  });

  test("is a plain form for the page's own address, and keeps the words", async () => {
    const rig = await openRig({ choices: TWO });
    const { text } = await rig.get(`/facts?agent=work&q=${encodeURIComponent(`"a' <b>`)}`);
    expect(text).toContain(
      `<form class="search" method="get" action="${BASE}/facts" role="search"><input type="hidden" name="agent" value="work">`,
    );
    expect(text).toContain('name="q" value="&quot;a&#39; &lt;b&gt;"');
  });
});

const TWO = [
  { id: "main", isShown: false },
  { id: "work", isShown: true },
];

describe("several memories", () => {
  test("can be chosen from, and every link and form stays with the shown one", async () => {
    for (const changes of [COMMANDS, FORMS]) {
      const rig = await openRig({ choices: TWO, changes, seesCallers: true });
      await rig.memory.storeFact("main", { key: "k", value: "x" });
      await rig.memory.storeFact("main", { key: "k", value: "y", ttlSeconds: 86_400 });
      const paths = "/facts /fact?key=k /timeline /ending /growth /health /callers /facts?q=y".split(" ");
      const formsOf = changes === FORMS ? ["/edit?key=k", "/undo?key=k", "/forget"] : [];
      for (const path of [...paths, ...formsOf]) {
        const { text } = await rig.get(path);
        const links = [...text.matchAll(/(?:href|method="post" action)="([^"#]+)"/g)].map(
          ([, link = ""]) => link,
        );
        const others = links.filter((link) => !link.includes("agent=work") && link !== "/sign-out");
        expect(others.filter((link) => !link.endsWith("agent=main"))).toEqual([]);
        expect(others).toHaveLength(1);
        for (const [form] of text.matchAll(/<form [^>]*method="get".*?<\/form>/gs)) {
          expect(form).toContain('<input type="hidden" name="agent" value="work">');
        }
      }
    }
  });

  test("have addresses that begin at the root if there is no base path", async () => {
    const rig = await openRig({}, "");
    await rig.memory.storeFact("main", { key: "k", value: "x" });
    expect((await rig.get("/")).text).toContain('href="/fact?key=k"');
  });
});

test("a page is small, also with fifty facts", async () => {
  const rig = await openRig({ changes: FORMS, choices: TWO });
  await inTurn([...Array(60).keys()], (number) =>
    rig.memory.storeFact("main", { key: `project/topic-${number}`, value: "x", ttlSeconds: 86_400 }),
  );
  for (const path of ["/facts", "/ending", "/growth", "/facts?q=x", "/health"]) {
    expect((await rig.get(path)).text.length).toBeLessThan(60_000);
  }
});

test("pages label their parts for a screen reader", async () => {
  const rig = await openRig({ changes: FORMS });
  await rig.memory.storeFact("main", { key: "k", value: "x", ttlSeconds: 86_400 });
  const sections = "/facts /timeline /ending /growth /health /remember /forget /nowhere".split(" ");
  for (const path of [...sections, "/fact?key=k", "/edit?key=k"]) {
    const { text } = await rig.get(path);
    expect(text).toMatch(/<html lang="en">/);
    expect(text).toContain('<a class="skip" href="#content">');
    expect(text.match(/<main [^>]*id="content"/g)).toHaveLength(1);
    expect(text.match(/<h1>/g)).toHaveLength(1);
    const named = [
      ...text.matchAll(/<(?:input|textarea|select) (?![^>]*type="(?:hidden|radio)")[^>]*?\bid="([^"]*)"/g),
    ].map(([, id]) => id);
    for (const id of named)
      expect(text).toContain(`<label ${id === "q" ? 'class="visually-hidden" ' : ""}for="${id}">`);
  }
  expect((await rig.get("/facts")).text).toContain('aria-current="page">Facts</a>');
});

test("an unexpected failure shows nothing of its content", async () => {
  const memory = { ...(await openRig()).memory, listFacts: () => Promise.reject(new Error("secret value")) };
  const page = await (await openRig({ memory })).get("/facts");
  expect([page.status, page.text.includes("secret value")]).toEqual([500, false]);
});

test("ages follow the clock", async () => {
  const rig = await openRig();
  await rig.memory.storeFact("main", { key: "k", value: "x" });
  for (const [pass, said] of [
    [0, "just now"],
    [59_000, "just now"],
    [61_000, "2 minutes ago"],
    [3 * 3_600_000, "3 hours ago"],
    [3 * DAY_MS, "3 days ago"],
  ] as const) {
    rig.clock.pass(pass);
    expect(textOf(await rig.get("/facts"))).toContain(`stored ${said}`);
  }
  expect(rig.clock.time).toBeGreaterThan(NOW);
});
