/** Changing memory with forms: nothing happens without a preview, concurrent changes are never overwritten, and typed text is kept. */
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { DAY_MS, NOW } from "../app/fixtures/memories.ts";
import { importLines } from "../transfer/import-lines.ts";
import { importNotes, textFile } from "../transfer/notes.ts";
import { type Answered, BASE, FORMS, fieldsOf, openRig, plain, type Rig, textOf } from "./rig.ts";

const KEY = "deploy/preference";
const OF = `?key=${encodeURIComponent(KEY)}`;

async function rigWithFact(): Promise<Rig> {
  const rig = await openRig({ changes: FORMS });
  await rig.memory.storeFact("main", {
    key: KEY,
    value: "Through Konflux.",
    category: "team",
    tags: ["ci", "a b"],
  });
  return rig;
}

async function importOf(rig: Rig, text: string, importId?: string): Promise<string> {
  const request = importId === undefined ? {} : { importId };
  return (await importNotes(rig.memory, "markdown", [textFile(text)], request)).importId ?? "";
}

/** The preview of the form at this address, with what a person typed. */
const previewOf = async (rig: Rig, path: string, typed: Readonly<Record<string, string>>) =>
  rig.post(path, { ...fieldsOf(await rig.get(path)), ...typed, step: "preview" });

const confirm = (rig: Rig, path: string, preview: Answered) =>
  rig.post(path, { ...fieldsOf(preview), step: "confirm" });

const factOf = (rig: Rig, key = KEY) => rig.memory.getFact("main", { key });

describe("an edit", () => {
  test("removes the fact's import tag", async () => {
    const rig = await openRig({ changes: FORMS });
    const line = { key: KEY, value: "Through Konflux.", tags: ["ci", "import:notes-1"] };
    const input = Readable.from([Buffer.from(JSON.stringify(line))]);
    await importLines({ memory: rig.memory, subject: "main", input });
    const preview = await previewOf(rig, `/edit${OF}`, { value: "Mine." });
    await confirm(rig, `/edit${OF}`, preview);
    expect(await factOf(rig)).toMatchObject({ value: "Mine.", tags: ["ci"] });
  });

  test("shows the fact before and after, then saves it; category and tags stay, and the usual 90 days begin anew", async () => {
    const rig = await rigWithFact();
    rig.clock.pass(10 * DAY_MS);
    const form = await rig.get(`/edit${OF}`);
    const typed = { ...fieldsOf(form), value: "Through Argo,\r\nnot Konflux." };
    expect(typed).toMatchObject({ form_token: "a-token", category: "team", tags: "ci\na b", life: "" });
    const preview = await rig.post(`/edit${OF}`, { ...typed, step: "preview" });
    expect(textOf(preview)).toContain(
      "Before: will be kept in its history Through Konflux. Category team · tags ci, a b",
    );
    expect(textOf(preview)).toContain(
      "After Through Argo, not Konflux. Category team · tags ci, a b · expires 2027-02-28 12:00 UTC (in 90 days)",
    );
    expect((await factOf(rig))?.value).toBe("Through Konflux.");
    const saved = await confirm(rig, `/edit${OF}`, preview);
    expect([saved.status, saved.location]).toEqual([303, `${BASE}/fact${OF}&done=edited`]);
    expect(await factOf(rig)).toMatchObject({
      ...{ value: "Through Argo,\nnot Konflux.", category: "team", tags: ["ci", "a b"] },
      ...{ expiresAt: NOW + 100 * DAY_MS, writer: FORMS.writer },
    });
    expect(textOf(await rig.get(`/fact${OF}&done=edited`))).toContain(
      "Saved. The former value is in its history.",
    );
  });

  test("keeps an end that somebody chose", async () => {
    const rig = await rigWithFact();
    await rig.memory.renewFact("main", { key: KEY, ttlSeconds: 7 * 86_400 });
    rig.clock.pass(DAY_MS);
    const preview = await previewOf(rig, `/edit${OF}`, { value: "Mine." });
    expect(textOf(preview)).toMatch(/After Mine\..*expires 2026-11-27 12:00 UTC \(in 6 days\)/);
    await confirm(rig, `/edit${OF}`, preview);
    expect((await factOf(rig))?.expiresAt).toBe(NOW + 7 * DAY_MS);
  });

  test("accepts a lifetime, a category and tags", async () => {
    const rig = await rigWithFact();
    const preview = await previewOf(rig, `/edit${OF}`, { life: "604800", category: "", tags: "x\n\n y " });
    await confirm(rig, `/edit${OF}`, preview);
    expect(await factOf(rig)).toMatchObject({
      category: "user_facts",
      tags: ["x", "y"],
      expiresAt: NOW + 7 * DAY_MS,
    });
  });

  // verifies P-pages-preview
  test.each(["preview", "confirm"])(
    "that conflicts with another change at its %s stores nothing and shows both values",
    async (step) => {
      const rig = await rigWithFact();
      const typed = { ...fieldsOf(await rig.get(`/edit${OF}`)), value: "Mine." };
      await rig.memory.storeFact("main", { key: KEY, value: "Theirs.", category: "team" });
      const conflict = await rig.post(`/edit${OF}`, { ...typed, step });
      expect(conflict.status).toBe(409);
      expect(textOf(conflict)).toMatch(/This fact has changed.*Stored now Theirs\..*Yours Mine\./);
      expect((await factOf(rig))?.value).toBe("Theirs.");
      const again = await rig.post(`/edit${OF}`, { ...fieldsOf(conflict), step: "preview" });
      await confirm(rig, `/edit${OF}`, again);
      expect((await factOf(rig))?.value).toBe("Mine.");
    },
  );

  test.each(["", "x", "1.5", "-1"])(
    "that carries the revision %j shows a preview instead",
    async (revision) => {
      const rig = await rigWithFact();
      const typed = { step: "confirm", value: "Blind.", category: "team", revision };
      expect(textOf(await rig.post(`/edit${OF}`, typed))).toContain("Nothing is stored yet.");
      expect((await factOf(rig))?.value).toBe("Through Konflux.");
    },
  );

  test.each(["preview", "confirm"])(
    "of a fact that was forgotten before its %s stores nothing and keeps what was typed",
    async (step) => {
      const rig = await rigWithFact();
      const typed = { ...fieldsOf(await rig.get(`/edit${OF}`)), value: "\nLong <b>work</b>." };
      await rig.memory.forget("main", { scope: `key:${KEY}` });
      const conflict = await rig.post(`/edit${OF}`, { ...typed, step });
      expect(conflict.status).toBe(409);
      expect(textOf(conflict)).toMatch(/Stored now Nothing is there\..*Yours Long <b>work<\/b>\./);
      expect(fieldsOf(conflict)).toMatchObject({ value: "\nLong <b>work</b>.", category: "team" });
      expect(await factOf(rig)).toBeUndefined();
    },
  );

  test("that fails shows the typed text and no other field", async () => {
    const rig = await rigWithFact();
    const typed = { ...fieldsOf(await rig.get(`/edit${OF}`)), value: "\nLong <b>work</b>." };
    await rig.memory.close();
    const { text } = await rig.post(`/edit${OF}`, { ...typed, step: "preview" });
    expect(text).toContain("<h2>What you typed</h2>");
    expect(text).toMatch(
      /<textarea id="typed-value" [^>]*readonly>\n\nLong &lt;b&gt;work&lt;\/b&gt;\.<\/textarea>/,
    );
    expect(/<main.*<\/main>/s.exec(text)?.[0]).not.toContain("a-token");
  });

  test.each(["one\r\ntwo\r\n\r\nthree", "a\rb", "pay\u202elap", "a\u2028b"])(
    "of category and tags keeps the value %j byte for byte",
    async (value) => {
      const rig = await openRig({ changes: FORMS });
      await rig.memory.storeFact("main", { key: KEY, value });
      const form = fieldsOf(await rig.get(`/edit${OF}`));
      const shown = form.value?.replaceAll("\n", "\r\n") ?? "";
      const sent = { ...form, value: shown, category: "team", tags: "a, b", step: "preview" };
      const preview = await rig.post(`/edit${OF}`, sent);
      expect(textOf(preview)).not.toContain("will be kept in its history");
      const { location } = await confirm(rig, `/edit${OF}`, preview);
      expect(location).toBe(`${BASE}/fact${OF}&done=saved`);
      expect(await factOf(rig)).toMatchObject({ value, category: "team", tags: ["a, b"] });
    },
  );

  test("sent twice is saved once", async () => {
    const rig = await rigWithFact();
    const typed = { ...fieldsOf(await rig.get(`/edit${OF}`)), value: "New.", step: "preview" };
    const preview = fieldsOf(await rig.post(`/edit${OF}`, typed));
    for (let sent = 0; sent < 2; sent += 1) {
      rig.clock.pass(5);
      const { location } = await rig.post(`/edit${OF}`, { ...preview, step: "confirm" });
      expect(location).toBe(`${BASE}/fact${OF}&done=edited`);
    }
    expect((await rig.memory.factHistory("main", { key: KEY }))?.former).toHaveLength(1);
  });

  test.each(["a b", "100%", "a+b", "a#b?c=d&e", "🦔", "e\u0301", "\u0301", "..", "category:x", '"<i>'])(
    "changes the key %j and no other",
    async (key) => {
      const rig = await openRig({ changes: FORMS });
      await rig.memory.storeFact("main", { key, value: "Old." });
      const link = /href="[^"]*(\/fact\?[^"]*)"/.exec((await rig.get("/facts")).text)?.[1] ?? "";
      const page = await rig.get(plain(link));
      const edit = plain(/href="[^"]*(\/edit\?[^"]*)"/.exec(page.text)?.[1] ?? "");
      const typed = { ...fieldsOf(await rig.get(edit)), value: "New.", step: "preview" };
      const preview = fieldsOf(await rig.post(edit, typed));
      expect((await rig.post(edit, { ...preview, step: "confirm" })).status).toBe(303);
      expect((await factOf(rig, key))?.value).toBe("New.");
      const forget = plain(/href="[^"]*(\/forget\?[^"]*)"/.exec(page.text)?.[1] ?? "");
      const forgetting = fieldsOf(await rig.get(forget));
      expect((await rig.post("/forget", { ...forgetting, step: "confirm" })).status).toBe(303);
      expect(await factOf(rig, key)).toBeUndefined();
    },
  );

  test("of a value with hidden characters shows them escaped, with a note", async () => {
    const rig = await openRig({ changes: FORMS });
    await rig.memory.storeFact("main", { key: KEY, value: "pay\u202elap" });
    const form = await rig.get(`/edit${OF}`);
    expect(fieldsOf(form).value).toBe("pay[U+202E]lap");
    expect(textOf(form)).toContain("They are shown escaped");
  });

  test("can be changed after its preview, and keeps 64 KiB, markup and white space", async () => {
    const rig = await rigWithFact();
    const value = `<b>"'&amp;</b>\n\t x\n${"long text ".repeat(6_000)}`.trim();
    const preview = await previewOf(rig, `/edit${OF}`, { value });
    const form = await rig.post(`/edit${OF}`, { ...fieldsOf(preview), step: "change" });
    expect(fieldsOf(form).value).toBe(value);
    const second = await rig.post(`/edit${OF}`, { ...fieldsOf(form), step: "preview" });
    await confirm(rig, `/edit${OF}`, second);
    expect((await factOf(rig))?.value).toBe(value);
  });
});

describe("a refused form", () => {
  const token = `ghp_${"a1B2".repeat(9)}`;
  test.each([
    ["no key and no value", { key: "", value: " " }, "value is missing; give the text to remember.", "value"],
    ["an empty value", { value: "" }, "value is missing; give the text to remember.", "value"],
    [
      "a key with control characters",
      { key: "a\u0007", value: "x" },
      "key holds the control or invisible character U+0007",
      "key",
    ],
    ["a category in capitals", { value: "x", category: "Team" }, "category must be 1 to 64", "category"],
    ["a lifetime of a minute", { value: "x", life: "60" }, "ttl_seconds must be a whole number", "life"],
    ["a lifetime in words", { value: "x", life: "long" }, "ttl_seconds must be a whole number", "life"],
    [
      "a value that is too long",
      { value: "x".repeat(65_537) },
      "value may have at most 65536 bytes",
      "value",
    ],
    ["a credential", { value: `the token is ${token}` }, "looks like", "value"],
  ] as const)("shows the reason and keeps the typed text: %s", async (_, typed, message, field) => {
    const rig = await openRig({ changes: FORMS });
    for (const step of ["preview", "confirm"]) {
      const answer = await rig.post("/remember", { key: "k", category: "c", tags: "t", ...typed, step });
      expect(answer.status).toBe(400);
      expect(textOf(answer)).toContain(message);
      const expected = { key: "k", category: "c", tags: "t", ...typed };
      const { life: __, ...kept } = { life: "", ...expected };
      expect(fieldsOf(answer)).toMatchObject(kept);
      const invalid = /name="([a-z]+)"[^>]* aria-invalid="true"/.exec(answer.text)?.[1];
      expect(invalid).toBe(field);
    }
    expect((await rig.memory.listFacts("main", {})).facts).toEqual([]);
  });
});

describe("remembering", () => {
  test("under an existing key keeps its category, tags and end if these are left empty", async () => {
    const rig = await rigWithFact();
    await rig.memory.renewFact("main", { key: KEY, ttlSeconds: 7 * 86_400 });
    const preview = await previewOf(rig, "/remember", { key: KEY, value: "Mine." });
    expect(textOf(preview)).toMatch(/After Mine\. Category team · tags ci, a b · expires 2026-11-27/);
    await confirm(rig, "/remember", preview);
    expect(await factOf(rig)).toMatchObject({
      ...{ value: "Mine.", category: "team", tags: ["ci", "a b"], expiresAt: NOW + 7 * DAY_MS },
    });
  });

  test("makes a key if none is given, and stores what the preview shows", async () => {
    const rig = await openRig({ changes: FORMS });
    const preview = await rig.post("/remember", {
      step: "preview",
      key: "",
      value: "The wifi is called Kolibri.",
      life: "2592000",
    });
    expect(textOf(preview)).toContain(
      "Under the key wifi-called-kolibri : Before Nothing is there. After The wifi is called Kolibri.",
    );
    const { location } = await confirm(rig, "/remember", preview);
    expect(location).toBe(`${BASE}/fact?key=wifi-called-kolibri&done=stored`);
    expect(await factOf(rig, "wifi-called-kolibri")).toMatchObject({
      expiresAt: NOW + 30 * DAY_MS,
      writer: FORMS.writer,
    });
  });

  test("under an existing key shows what it replaces, and a conflict if that has changed", async () => {
    const rig = await rigWithFact();
    const typed = { key: KEY, value: "New.", category: "team" };
    const preview = await rig.post("/remember", { ...typed, step: "preview" });
    expect(textOf(preview)).toContain("Before: will be kept in its history Through Konflux.");
    await rig.memory.storeFact("main", { key: KEY, value: "Theirs." });
    const conflict = await confirm(rig, "/remember", preview);
    expect([conflict.status, (await factOf(rig))?.value]).toEqual([409, "Theirs."]);
  });

  test("shows similar facts, and facts with the same value", async () => {
    const rig = await rigWithFact();
    const same = await rig.post("/remember", { step: "preview", key: "other", value: "Through Konflux." });
    expect(textOf(same)).toContain(`The same value is already stored under ${KEY} .`);
  });
});

describe("superseding", () => {
  test("stores the new fact and retires the old one", async () => {
    const rig = await rigWithFact();
    const form = await rig.get(`/supersede${OF}`);
    expect(fieldsOf(form)).toMatchObject({ key: "", value: "Through Konflux.", category: "team" });
    const preview = await rig.post(`/supersede${OF}`, {
      ...fieldsOf(form),
      key: "deploy/argo",
      value: "Through Argo.",
      step: "preview",
    });
    expect(textOf(preview)).toContain(`Retired with it: ${KEY} Searches no longer find it`);
    const { location } = await confirm(rig, `/supersede${OF}`, preview);
    expect(location).toBe(`${BASE}/fact?key=deploy%2Fargo&done=superseded`);
    expect(await factOf(rig)).toBeUndefined();
    expect(textOf(await rig.get("/fact?key=deploy%2Fargo"))).toMatch(
      /Through Konflux\. stored just now stored under deploy\/preference , which this fact superseded/,
    );
    const gone = await rig.get(`/fact${OF}`);
    expect([gone.status, textOf(gone).includes("Another one superseded it: deploy/argo")]).toEqual([
      404,
      true,
    ]);
  });

  test("under the old key is refused with a hint to edit the fact", async () => {
    const rig = await rigWithFact();
    const answer = await rig.post(`/supersede${OF}`, { step: "preview", key: KEY, value: "x" });
    expect([answer.status, textOf(answer).includes("To change only the value, edit the fact")]).toEqual([
      400,
      true,
    ]);
  });
});

describe("renewing", () => {
  test.each([
    ["31536000", "2028-02-08 12:00 UTC (in 12 months)", 445],
    ["", "2027-05-09 12:00 UTC (in 90 days)", 170],
  ])("for %j seconds shows both expiry times, and then changes only the expiry", async (life, end, days) => {
    const rig = await rigWithFact();
    rig.clock.pass(80 * DAY_MS);
    const preview = await rig.post(`/renew${OF}`, { step: "preview", life });
    expect(textOf(preview)).toContain(`Expires now 2027-02-18 12:00 UTC (in 10 days) Would expire ${end}`);
    expect((await factOf(rig))?.expiresAt).toBe(NOW + 90 * DAY_MS);
    const { location } = await confirm(rig, `/renew${OF}`, preview);
    expect(location).toBe(`${BASE}/fact${OF}&done=renewed`);
    expect(await factOf(rig)).toMatchObject({ value: "Through Konflux.", expiresAt: NOW + days * DAY_MS });
  });

  // verifies P-pages-preview
  test("many at once changes what its preview counted, from the page of what expires soon, and is undone there", async () => {
    const rig = await rigWithFact();
    rig.clock.pass(80 * DAY_MS);
    await rig.memory.storeFact("main", { key: "fresh", value: "x" });
    for (const which of ["expiring", "all"])
      expect((await rig.get("/ending")).text).toContain(`href="${BASE}/renewals?which=${which}"`);
    const preview = await rig.get("/renewals?which=expiring");
    expect(textOf(preview)).toContain("Would renew 1 fact until 2027-05-09.");
    await rig.memory.storeFact("main", { key: "soon", value: "x", ttlSeconds: 86_400 });
    const { location = "" } = await confirm(rig, "/renewals?which=expiring", preview);
    expect(location).toBe(`${BASE}/ending?done=renewedMany&newer=1`);
    const ends = async () =>
      Object.fromEntries(
        (await rig.memory.listFacts("main", {})).facts.map(({ key, expiresAt = 0 }) => [
          key,
          (expiresAt - NOW) / DAY_MS,
        ]),
      );
    expect(await ends()).toEqual({ soon: 81, fresh: 170, [KEY]: 170 });
    const after = await rig.get(location.slice(BASE.length));
    expect(textOf(after)).toContain(
      "Renewed. They are kept as long as new facts, pinned ones for a year. 1 fact changed since",
    );
    expect(after.text).toContain(`href="${BASE}/renewals?which=undo"`);
    const undo = await rig.get("/renewals?which=undo");
    expect(textOf(undo)).toContain("Would give 1 fact the former end back: the first ends on 2027-02-18.");
    await confirm(rig, "/renewals?which=undo", undo);
    expect(await ends()).toEqual({ soon: 81, fresh: 170, [KEY]: 90 });
    expect(textOf(await rig.get("/renewals?which=undo"))).toContain(
      "There is no renewal of many facts to undo.",
    );
    expect((await rig.get("/renewals?which=theirs")).status).toBe(404);
  });

  test.each(["1", "x", "99999999999999999999"])("for %s seconds is refused at the form", async (life) => {
    const rig = await rigWithFact();
    for (const step of ["preview", "confirm"]) {
      const answer = await rig.post(`/renew${OF}`, { step, life });
      expect([answer.status, textOf(answer).includes("ttl_seconds must be a whole number")]).toEqual([
        400,
        true,
      ]);
    }
  });
});

test.each([
  ["renew", { life: "31536000" }, /A fact here has changed.*Nothing was done\..*Value now Theirs\./],
  ["supersede", { key: "new", value: "x" }, /This fact has changed.*Nothing was stored\./],
  ["undo", {}, /Theirs\./],
])("a preview of %s does nothing to a fact that changed after it", async (path, typed, told) => {
  const rig = await rigWithFact();
  await rig.memory.storeFact("main", { key: KEY, value: "Two." });
  const shown = await rig.get(`/${path}${OF}`);
  const preview = path === "undo" ? shown : await previewOf(rig, `/${path}${OF}`, typed);
  await rig.memory.storeFact("main", { key: KEY, value: "Theirs.", ttlSeconds: 7 * 86_400 });
  const answer = await confirm(rig, `/${path}${OF}`, preview);
  expect(answer.status).toBe(409);
  expect(textOf(answer)).toMatch(told);
  expect(await factOf(rig)).toMatchObject({ value: "Theirs.", expiresAt: NOW + 7 * DAY_MS });
});

// verifies P-pin-limits
describe("pinning", () => {
  test("shows the value, pins it for a year, keeps it another year, and unpins it", async () => {
    const rig = await rigWithFact();
    const shown = await rig.get(`/pin${OF}`);
    expect(textOf(shown)).toContain("Through Konflux.");
    const pinned = await rig.post(`/pin${OF}`, { ...fieldsOf(shown), step: "pin" });
    expect(pinned.location).toBe(`${BASE}/fact${OF}&done=pinned`);
    expect(await factOf(rig)).toMatchObject({ pinned: true, expiresAt: NOW + 365 * DAY_MS });
    rig.clock.pass(360 * DAY_MS);
    expect(textOf(await rig.get("/facts"))).toMatch(/1 expires within 14 days : deploy\S* \(pinned\)/);
    expect(textOf(await rig.get("/ending"))).toContain("Keep pinned");
    const again = await rig.get(`/pin${OF}`);
    expect(textOf(again)).toContain("Keep it another year");
    await rig.post(`/pin${OF}`, { ...fieldsOf(again), step: "pin" });
    expect((await factOf(rig))?.expiresAt).toBe(NOW + 725 * DAY_MS);
    await rig.post(`/pin${OF}`, { ...fieldsOf(await rig.get(`/pin${OF}`)), step: "unpin" });
    expect(await factOf(rig)).not.toHaveProperty("pinned");
  });

  test("pins nothing that changed after it was shown, and nothing beyond the limit", async () => {
    const rig = await rigWithFact();
    const shown = await rig.get(`/pin${OF}`);
    await rig.memory.storeFact("main", { key: KEY, value: "x".repeat(1_300) });
    const changed = await rig.post(`/pin${OF}`, { ...fieldsOf(shown), step: "pin" });
    expect(changed.status).toBe(409);
    expect(textOf(changed)).toContain("Nothing was done.");
    const refused = await rig.post(`/pin${OF}`, { ...fieldsOf(changed), step: "pin" });
    expect([refused.status, textOf(refused).includes("about 300 tokens")]).toEqual([400, true]);
    expect(await factOf(rig)).not.toHaveProperty("pinned");
  });
});

describe("undoing", () => {
  test("shows what is erased and what is restored, including superseded facts", async () => {
    const rig = await rigWithFact();
    await rig.memory.storeFact("main", { key: "old", value: "Old one." });
    await rig.memory.storeFact("main", { key: KEY, value: "Wrong.", supersedes: ["old"] });
    const preview = await rig.get(`/undo${OF}`);
    expect(textOf(preview)).toMatch(
      /Now: will be deleted Wrong\..*After Through Konflux\..*Restored: old Now Nothing is there\. After Old one\./,
    );
    const { location } = await confirm(rig, `/undo${OF}`, preview);
    expect(location).toBe(`${BASE}/fact${OF}&done=undone`);
    expect([(await factOf(rig))?.value, (await factOf(rig, "old"))?.value]).toEqual([
      "Through Konflux.",
      "Old one.",
    ]);
  });

  test("of a fact that never changed reports that there is nothing to undo", async () => {
    const rig = await rigWithFact();
    expect(textOf(await rig.get(`/undo${OF}`))).toContain("There is nothing to undo");
    expect((await rig.get(`/fact${OF}`)).text).not.toContain("/undo?");
  });
});

describe("forgetting", () => {
  test("says in how many of OpenClaw's notes it still stands, to whoever runs the server", async () => {
    const asked: string[] = [];
    const notesHolding = async (scope: string) => ({ count: asked.push(scope) + 1, isComplete: true });
    const rig = await openRig({ changes: FORMS, notesHolding });
    await rig.memory.storeFact("main", { key: "cabin", value: "The spare key" });
    const preview = await rig.get("/forget?key=cabin");
    expect(asked).toEqual([]);
    const { location = "" } = await confirm(rig, "/forget", preview);
    expect(asked).toEqual(["key:cabin"]);
    expect(location).toBe(`${BASE}/facts?done=forgotten&notes=2`);
    expect(textOf(await rig.get(location.slice(BASE.length)))).toContain(
      "Forgotten, and erased from the database. It also stands in 2 notes of OpenClaw. To see where, and take it out: helmdeck-memory traces",
    );
    const some = textOf(await rig.get("/facts?done=forgotten&notes=0-or-more"));
    expect(some).toContain(
      "Whether OpenClaw's notes hold it, too, is not known. To look: helmdeck-memory traces",
    );
    expect(textOf(await rig.get("/facts?done=forgotten&notes=1e9+lies"))).not.toContain("lies");
  });

  test("one fact shows it in a preview, and then erases only that fact", async () => {
    const rig = await rigWithFact();
    await rig.memory.storeFact("main", { key: "keep", value: "Stays." });
    const preview = await rig.get(`/forget${OF}`);
    expect(textOf(preview)).toContain(`This deletes the fact ${KEY} for good`);
    expect(textOf(preview)).toContain(`${KEY}: Through Konflux.`);
    const { location } = await confirm(rig, "/forget", preview);
    expect(location).toBe(`${BASE}/facts?done=forgotten`);
    expect((await rig.memory.listFacts("main", {})).facts.map(({ key }) => key)).toEqual(["keep"]);
  });

  test.each([
    [`key:${KEY}`, /^Nothing was forgotten .* 1 entry stays: it was stored or changed after the preview/],
    ["category:team", /1 entry stays: it was stored or changed after the preview \("more"\)/],
    ["tools", /^Forgot 1 record of tools .* 1 entry stays: it was stored or changed after the preview/],
  ])("%s forgets nothing that was stored after the preview, and names it", async (scope, told) => {
    const rig = await rigWithFact();
    const run = { tool: "t", outcome: "ok", at_unix: NOW / 1_000 } as const;
    await rig.memory.recordToolCall("main", run);
    const preview = await rig.post("/forget", { step: "preview", scope });
    await rig.memory.recordToolCall("main", { ...run, tool: "u" });
    await rig.memory.storeFact("main", { key: "more", value: "x", category: "team", supersedes: [KEY] });
    const answer = await confirm(rig, "/forget", preview);
    expect(textOf(answer)).toMatch(told);
    expect((await rig.memory.listFacts("main", {})).facts).toMatchObject([{ key: "more" }]);
    expect((await rig.memory.factHistory("main", { key: KEY }))?.former).toMatchObject([
      { value: "Through Konflux." },
    ]);
    expect((await rig.memory.listRuns("main", {})).runs).toHaveLength(scope === "tools" ? 1 : 2);
  });

  test("all requires a typed phrase", async () => {
    const rig = await rigWithFact();
    const preview = await rig.post("/forget", { step: "preview", scope: "all" });
    expect(textOf(preview)).toContain("To forget everything, type forget all");
    for (const typed of ["", "yes", "forget everything"]) {
      const answer = await rig.post("/forget", { ...fieldsOf(preview), step: "confirm", typed });
      expect([answer.status, (await factOf(rig))?.key]).toEqual([409, KEY]);
    }
    expect(
      (await rig.post("/forget", { ...fieldsOf(preview), step: "confirm", typed: " forget all " })).status,
    ).toBe(303);
    expect(await factOf(rig)).toBeUndefined();
  });

  test("offers the existing categories, none of them of records, and refuses an unknown scope", async () => {
    const rig = await rigWithFact();
    expect(textOf(await rig.get("/forget"))).toContain("Category team (1) All records of tool calls");
    await rig.memory.storeFact("main", { key: "allergy", value: "Hazelnuts.", category: "medical_history" });
    await rig.memory.recordToolCall("main", { tool: "edit", outcome: "ok", at_unix: 1_700_000_000 });
    const { text } = await rig.get("/forget");
    expect(text).toContain('value="category:medical_history"');
    expect(text).not.toContain('value="category:tool_history"');
    for (const scope of ["", "key:", "category:Team"]) {
      expect((await rig.post("/forget", { step: "preview", scope })).status).toBe(400);
    }
    expect(textOf(await rig.post("/forget", { step: "preview", scope: "packs" }))).toContain(
      "There is nothing to forget.",
    );
  });

  test("twice with one form reports that nothing is left to forget", async () => {
    const rig = await rigWithFact();
    const preview = { ...fieldsOf(await rig.get(`/forget${OF}`)), step: "confirm" };
    await rig.post("/forget", preview);
    expect((await rig.post("/forget", preview)).location).toBe(`${BASE}/facts?done=nothing`);
  });

  test("an import shows it in a preview, and keeps facts that were edited since", async () => {
    const rig = await rigWithFact();
    const id = await importOf(rig, "- Coffee is black.\n- Tea is green.\n");
    const { facts } = await rig.memory.listFacts("main", { tag: `import:${id}` });
    const [brought, edited] = [facts[0]?.key ?? "", facts[1]?.key ?? ""];
    await rig.memory.storeFact("main", { key: edited, value: "Mine now." });
    const page = await rig.get(`/fact?key=${encodeURIComponent(brought)}`);
    expect(textOf(page)).toContain(`Imported with import ${id}`);
    const ofImport = plain(/href="[^"]*(\/facts\?tag=import[^"]*)"/.exec(page.text)?.[1] ?? "");
    expect(textOf(await rig.get(ofImport))).toContain(`Facts from import ${id} , without those edited since`);
    expect((await rig.get(ofImport)).text).toContain(`/forget?import=${id}`);
    expect(textOf(await rig.get("/forget"))).toContain(
      `Import ${id} (1 fact, and 1 in the history of facts that were changed since)`,
    );
    const preview = await rig.get(`/forget?import=${id}`);
    expect(textOf(preview)).toContain(`${brought}: `);
    expect(textOf(preview)).toContain("edited since the import are not included and stay");
    await confirm(rig, "/forget", preview);
    expect((await rig.memory.listFacts("main", {})).facts.map(({ key }) => key).sort()).toEqual(
      [KEY, edited].sort(),
    );
  });

  test("an import forgets nothing that the import added after the preview", async () => {
    const rig = await rigWithFact();
    const id = await importOf(rig, "- Coffee is black.\n");
    const preview = await rig.get(`/forget?import=${id}`);
    await importOf(rig, "- Tea is green.\n", id);
    const answer = await confirm(rig, "/forget", preview);
    expect(textOf(answer)).toContain("1 entry stays: it was stored or changed after the preview");
    expect((await rig.memory.listFacts("main", { tag: `import:${id}` })).facts).toMatchObject([
      { value: "Tea is green." },
    ]);
  });

  test.each(["", "NONE", "a b", "no-such-import"])("an unknown import %j deletes nothing", async (id) => {
    const rig = await rigWithFact();
    expect([200, 400]).toContain((await rig.get(`/forget?import=${encodeURIComponent(id)}`)).status);
    expect(await factOf(rig)).toBeDefined();
  });
});

// verifies P-pages-preview, P-alone-subjects
describe("a selection", () => {
  const VALUES = { bike: "A <red> bike.", car: "No car.", tram: "By tram." };
  async function rigOfThree(): Promise<Rig> {
    const rig = await openRig({ changes: FORMS });
    for (const [key, value] of Object.entries(VALUES))
      await rig.memory.storeFact("main", { key, value, category: key === "tram" ? "town" : "road" });
    await rig.memory.storeFact("other", { key: "theirs", value: "Not yours." });
    rig.clock.pass(60 * DAY_MS);
    return rig;
  }
  const select = (rig: Rig, chosen: readonly string[], more: Readonly<Record<string, string>>) => {
    const fields = new URLSearchParams({ ...more, subject: "other" });
    fields.delete("chosen");
    for (const key of chosen) fields.append("chosen", key);
    return rig.post("/selected", fields);
  };
  const stateOf = async (rig: Rig) =>
    Object.fromEntries(
      (await rig.memory.listFacts("main", {})).facts.map(({ key, value, category, expiresAt = 0 }) => [
        key,
        `${value} ${category} ${(expiresAt - NOW) / DAY_MS}`,
      ]),
    );
  const BEFORE = { bike: "A <red> bike. road 90", car: "No car. road 90", tram: "By tram. town 90" };

  test("can be made of all facts of a page, each by its box", async () => {
    const rig = await rigOfThree();
    const page = await rig.get("/facts?category=road");
    expect(page.text).toContain(
      '<input type="checkbox" name="chosen" value="bike" aria-label="Select bike">',
    );
    const all = await rig.get(plain(/href="[^"]*(\/facts\?[^"]*select=all)"/.exec(page.text)?.[1] ?? ""));
    expect(all.text.match(/type="checkbox" [^>]* checked/g)).toHaveLength(2);
    expect((await (await openRig()).get("/facts")).text).not.toContain('name="chosen"');
  });

  test.each([
    ["renew", "", "Would renew 2 facts until 2027-04-19.", { ...BEFORE, tram: "By tram. town 150" }],
    ["categorise", "town", "Would put 1 fact into the category town . 1 fact would not change", BEFORE],
    [
      "categorise",
      "",
      "Would put 2 facts out of their categories.",
      { ...BEFORE, tram: "By tram. user_facts 90" },
    ],
    ["forget", "", "This deletes 2 facts for good, each with its history. This cannot be undone", {}],
  ])(
    "%s %j shows what would happen, and does it to no fact that changed since",
    async (step, category, told, after) => {
      const rig = await rigOfThree();
      const preview = await select(rig, ["bike", "tram", "theirs", "none"], { step, category });
      expect(textOf(preview)).toContain("2 facts selected. Nothing is changed yet.");
      expect(textOf(preview)).toContain(told);
      expect(textOf(preview)).toMatch(/ A <red> bike\. bike .* By tram\. tram /);
      expect(textOf(preview)).not.toContain("Not yours.");
      expect(await stateOf(rig)).toEqual(BEFORE);
      await rig.memory.storeFact("main", { key: "bike", value: "Sold.", ttlSeconds: 7 * 86_400 });
      const sold = { bike: "Sold. road 67", car: BEFORE.car };
      const done = await select(rig, ["bike", "tram", "theirs"], { ...fieldsOf(preview), step: "confirm" });
      expect(await stateOf(rig)).toEqual({ ...sold, ...("tram" in after && { tram: after.tram }) });
      expect(await rig.memory.getFact("other", { key: "theirs" })).toMatchObject({ value: "Not yours." });
      if (step === "forget") return expect(textOf(done)).toContain('changed after the preview ("bike")');
      expect(textOf(await rig.get((done.location ?? "").slice(BASE.length)))).toContain(
        "1 fact changed since",
      );
      await confirm(rig, "/renewals?which=undo", await rig.get("/renewals?which=undo"));
      expect(await stateOf(rig)).toEqual({ ...sold, tram: BEFORE.tram });
    },
  );

  test.each([
    [{ step: "confirm", what: "forget" }, 409],
    [{ step: "confirm", what: "renew", revision: "x" }, 409],
    [{ step: "confirm", what: "forget", revision: "99999" }, 409],
    [{ step: "categorise", category: "Not Allowed" }, 400],
    [{ step: "erase" }, 404],
  ] as const)("sent as %j changes nothing: status %i", async (fields, status) => {
    const rig = await rigOfThree();
    expect((await select(rig, ["bike"], fields)).status).toBe(status);
    expect(await stateOf(rig)).toEqual(BEFORE);
  });

  test("of nothing says so", async () => {
    const rig = await rigOfThree();
    expect(textOf(await select(rig, [], { step: "forget" }))).toContain("No fact is selected.");
  });
});

test("every form that changes something contains the token", async () => {
  const rig = await rigWithFact();
  await rig.memory.storeFact("main", { key: KEY, value: "Two." });
  const ofFact = ["edit", "renew", "supersede", "undo", "forget", "fact"].map((name) => `/${name}${OF}`);
  for (const path of [...ofFact, "/forget", "/remember"]) {
    const { text } = await rig.get(path);
    const forms = [...text.matchAll(/<form method="post".*?<\/form>/gs)].map(([form]) => form);
    expect(forms.length).toBeGreaterThan(0);
    for (const form of forms)
      expect(form).toContain('<input type="hidden" name="form_token" value="a-token">');
  }
});
