/**
 * On every page, stored text is only text: it runs nothing, ends no attribute, appears in no address, and hides nothing. A viewer with
 * access only to counts sees no key and no value.
 */
import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { problemOfName } from "../../engine/facts/hostile-text.ts";
import { makePages } from "../../pages/pages.ts";
import { NOW } from "../app/fixtures/memories.ts";
import { type Answered, BASE, COMMANDS, FORMS, fieldsOf, openRig, type Rig, textOf } from "./rig.ts";

const KEY = "k";
const SECTIONS = "/facts /timeline /ending /growth /unasked /health /callers /forget /remember /nowhere";
const OF_FACT = ["fact", "edit", "renew", "supersede", "undo", "forget"].map((name) => `/${name}?key=${KEY}`);
const GETS = [
  "",
  ...SECTIONS.split(" "),
  "/facts?q=zebra",
  "/facts?category=user_facts",
  "/facts?by=category",
  "/timeline?kind=run",
  ...OF_FACT,
];
const POSTS: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  [`/edit?key=${KEY}`, { step: "preview", value: "typed zebra", category: "c" }],
  [`/edit?key=${KEY}`, { step: "confirm", revision: "999", value: "typed zebra", category: "c" }],
  [`/edit?key=${KEY}`, { step: "change", value: "typed zebra" }],
  [`/renew?key=${KEY}`, { step: "preview", life: "604800" }],
  ["/renewals?which=all", { step: "confirm", revision: "999" }],
  ["/selected", { step: "categorise", chosen: KEY, category: "zoo" }],
  ["/selected", { step: "forget", chosen: KEY }],
  ["/selected", { step: "confirm", what: "renew", chosen: KEY, revision: "999999" }],
  [`/supersede?key=${KEY}`, { step: "preview", key: "other", value: "typed zebra" }],
  [`/undo?key=${KEY}`, { step: "confirm", revision: "999" }],
  ["/remember", { step: "preview", key: KEY, value: "typed zebra" }],
  ["/remember", { step: "preview", key: "", value: "" }],
  ["/forget", { step: "preview", scope: "all" }],
  ["/forget", { step: "confirm", scope: "all", typed: "no" }],
];

async function everyAnswer(rig: Rig): Promise<readonly Answered[]> {
  const answers: Answered[] = [];
  for (const path of GETS) answers.push(await rig.get(path));
  for (const [path, fields] of POSTS) answers.push(await rig.post(path, fields));
  return answers;
}

/** Stores a fact with a history, a similar one, one that expires, and a run, all with this text. */
async function store(rig: Rig, text: string): Promise<void> {
  const key = text.replaceAll(/\p{C}/gu, "") || "x";
  const fact = { category: "user_facts", tags: [text.replaceAll(/\p{C}/gu, "")] };
  const writer = { surface: text, agent: text, sessionKind: text };
  await rig.memory.storeFact("main", { ...fact, key: KEY, value: `${text} former zebra` }, writer);
  await rig.memory.storeFact("main", { ...fact, key: KEY, value: `${text}\nzebra` }, writer);
  await rig.memory.storeFact(
    "main",
    { ...fact, key, value: `zebra ${text} zebra`, ttlSeconds: 86_400 },
    writer,
  );
  const harmless = text.replaceAll(/\p{C}/gu, "");
  const run = { at_unix: NOW / 1_000, duration_ms: 5, inputs: { [harmless]: harmless } };
  await rig.memory.recordToolCall("main", { ...run, tool: `${harmless} zebra`, outcome: "failed" }, writer);
}

/** A receipt with this text as a key. */
const unaskedWith = (text: string) => () => [
  {
    at: NOW,
    message: text,
    added: [{ key: text, why: text }],
    withheld: [{ key: text, why: text }],
    kept: text,
  },
];

const TAG = /<(!?\/?[a-z][a-z0-9]*)((?:\s+[a-z0-9-]+(?:="[^"]*")?)*)\s*\/?>/gi;

/** Tags and attributes as a browser would parse them. The rest is text, which may not contain "<". */
function markupOf(page: string) {
  const own = page.replaceAll(/(<(style|script)>).*?(<\/\2>)/gs, "$1$3");
  const tags = [...own.matchAll(TAG)];
  return {
    names: tags.map(([, name = ""]) => name.replace("/", "").toLowerCase()),
    attributes: tags.flatMap(([, , attributes = ""]) =>
      attributes
        .replaceAll(/="[^"]*"/g, "")
        .trim()
        .split(/\s+/),
    ),
    text: own.replaceAll(TAG, ""),
  };
}

const HOSTILE = [
  "<script>alert(1)</script>",
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  "</textarea><iframe src=//evil.example></iframe>",
  "</pre></code></title></style><svg onload=alert(1)>",
  "<!--<a href=javascript:alert(1)>",
  "&lt;b&gt; &amp;#60;script> &quot;",
  "{{alert(1)}} `x` <%= 1 %>",
];

// verifies P-pages-text
describe.each([
  ["commands", COMMANDS],
  ["forms", FORMS],
] as const)("with %s", (_, changes) => {
  test.each(HOSTILE)("%s is text on every page", async (hostile) => {
    const rig = await openRig({ changes, seesCallers: true, unasked: unaskedWith(hostile) });
    await store(rig, hostile);
    const answers = await everyAnswer(rig);
    for (const { text } of answers) {
      const markup = markupOf(text);
      expect(markup.text).not.toContain("<");
      expect(markup.names.filter((name) => !OURS.has(name))).toEqual([]);
      expect(markup.names.filter((name) => name === "script")).toHaveLength(2);
      expect(markup.attributes.filter((name) => /^on|^style$|^src/.test(name))).toEqual([]);
    }
    const fact = answers.find(({ text }) => text.includes("About it"));
    expect(fact && textOf(fact)).toContain(`${hostile} zebra`.replaceAll(/\s+/g, " "));
  });

  test("no address contains a value", async () => {
    const rig = await openRig({ changes, seesCallers: true });
    await store(rig, "harmless");
    for (const { text, location } of await everyAnswer(rig)) {
      const addresses = [...text.matchAll(/(?:href|action|src)="([^"]*)"/g)].map(([, address = ""]) =>
        decodeURIComponent(address),
      );
      expect(addresses.length).toBeGreaterThan(0);
      for (const address of [...addresses, ...(location === undefined ? [] : [location])]) {
        expect(address).toMatch(new RegExp(`^(${BASE}(/|\\?|$)|#|/sign-out$)`));
        expect(address).not.toMatch(/zebra/);
      }
    }
  });
});

const OURS = new Set(
  "!doctype html head meta title style body a header div svg path nav ul li main h1 h2 h3 p strong em span section pre dl dt dd code button footer script form input label select option time ol details summary table caption thead tbody tr th td mark textarea fieldset legend g rect line polyline text".split(
    " ",
  ),
);

describe("after a change", () => {
  test("the address has the key and no value", async () => {
    const rig = await openRig({ changes: FORMS });
    const key = `a/b c&d=é?#"'<`;
    const first = await rig.post("/remember", { step: "preview", key, value: "secret zebra" });
    const { status, location } = await rig.post("/remember", { ...fieldsOf(first), step: "confirm" });
    expect(status).toBe(303);
    const to = new URL(location ?? "", "http://localhost");
    expect([...to.searchParams]).toEqual([
      ["key", key],
      ["done", "stored"],
    ]);
    expect(textOf(await rig.get(`${to.pathname.slice(BASE.length)}${to.search}`))).toContain(
      "Stored. secret zebra a/b c&d=é?#\"'<",
    );
  });

  test("the notice shows no text from the address", async () => {
    const rig = await openRig({ changes: FORMS });
    expect(textOf(await rig.get("/facts?done=Send+your+password"))).not.toContain("password");
  });
});

describe("headers", () => {
  test("allow only the page's own style and script, on every answer", async () => {
    for (const changes of [COMMANDS, FORMS]) {
      const rig = await openRig({ changes });
      await store(rig, "harmless");
      for (const { headers, text } of await everyAnswer(rig)) {
        const hashes = [...text.matchAll(/<(style|script)>(.*?)<\/\1>/gs)].map(
          ([, name, code = ""]) =>
            `${name}-src 'sha256-${createHash("sha256").update(code).digest("base64")}'`,
        );
        expect(hashes).toHaveLength(2);
        expect(headers.get("content-security-policy")).toBe(
          `default-src 'none'; ${hashes.join("; ")}; form-action 'self'; base-uri 'none'; frame-ancestors 'self'`,
        );
        expect(headers.get("referrer-policy")).toBe("no-referrer");
        expect(headers.get("x-content-type-options")).toBe("nosniff");
        expect(headers.get("cache-control")).toBe("no-store");
        expect(headers.get("content-type")).toBe("text/html; charset=UTF-8");
        expect(text).not.toMatch(/\sstyle=|https?:\/\/(?!www\.w3\.org)/);
      }
    }
  });

  test("are on an error page too, which shows no details", async () => {
    const pages = makePages({
      ...{ base: "", frameAncestors: "'none'" },
      viewerOf: () => Promise.reject(new Error("database at /home/someone/secret")),
    });
    const response = await pages.request("http://localhost/facts");
    expect(response.status).toBe(500);
    expect(response.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(await response.text()).not.toContain("someone");
  });
});

test("characters that reverse or hide text are escaped everywhere", async () => {
  for (const changes of [COMMANDS, FORMS]) {
    const rig = await openRig({ changes, seesCallers: true });
    await store(rig, "a\u202eb\u200bc\u0007d\u2066e\u0000f");
    for (const { text } of await everyAnswer(rig)) {
      expect(text).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}\u200b]/u);
    }
    expect(textOf(await rig.get(`/fact?key=${KEY}`))).toContain(
      "a[U+202E]b[U+200B]c[U+0007]d[U+2066]e[U+0000]f zebra",
    );
  }
});

test("a link in a value is not a link on the page", async () => {
  const rig = await openRig();
  await rig.memory.storeFact("main", {
    key: KEY,
    value: "see https://evil.example/?q=1 and javascript:alert(1)",
  });
  expect((await rig.get(`/fact?key=${KEY}`)).text).not.toMatch(/href="[^"]*(evil|javascript)/);
});

// verifies P-pages-counts
describe("a viewer who sees only counts", () => {
  test("sees no key and no value on any page", async () => {
    const text = fc
      .string({ unit: "grapheme", minLength: 6, maxLength: 30 })
      .map((word) => `qzx${word.replaceAll(/\p{C}|\s/gu, "")}`)
      .filter((word) => problemOfName(word) === undefined);
    await fc.assert(
      fc.asyncProperty(text, text, async (key, value) => {
        const rig = await openRig({ sees: "counts", changes: FORMS, unasked: unaskedWith(key) });
        await rig.memory.storeFact("main", {
          key,
          value,
          category: "qzxcategory",
          tags: ["qzxtag"],
          ttlSeconds: 86_400,
        });
        await rig.memory.storeFact("main", { key, value: `${value} again`, category: "qzxcategory" });
        await rig.memory.recordToolCall("main", {
          tool: "qzxtool",
          outcome: "ok",
          at_unix: NOW / 1_000,
          inputs: { title: "qzxinput" },
        });
        const paths = GETS.map((path) => path.replace(`key=${KEY}`, `key=${encodeURIComponent(key)}`));
        for (const path of paths) {
          const page = await rig.get(path);
          expect(page.text).not.toContain("qzx");
          if (path !== "/nowhere" && path !== "/callers") expect(page.status).toBe(200);
        }
        for (const [path, fields] of POSTS) {
          const page = await rig.post(path.replace(`key=${KEY}`, `key=${encodeURIComponent(key)}`), fields);
          expect(page.text).not.toContain("qzx");
          expect(page.status).toBe(403);
        }
        expect((await rig.memory.getFact("main", { key }))?.value).toBe(`${value} again`);
      }),
      { numRuns: 8 },
    );
  });

  test("sees the counts, the reason and what to do", async () => {
    const rig = await openRig({ sees: "counts" });
    await store(rig, "harmless");
    const text = textOf(await rig.get("/facts"));
    expect(text).toContain("You see only counts");
    expect(text).toContain("sign in with the right to read everything here.");
    expect(text).toContain("2 facts 1 record of what tools did 1 fact expires within 14 days");
  });
});

describe("on read-only pages", () => {
  test.each(POSTS)("POST %s is refused, and changes nothing", async (path, fields) => {
    const rig = await openRig();
    await store(rig, "harmless");
    const before = await rig.memory.listFacts("main", {});
    for (const step of ["preview", "confirm"]) {
      const { status, text } = await rig.post(path, { ...fields, step });
      expect([status, text.includes("These pages are read-only")]).toEqual([403, true]);
    }
    expect(await rig.memory.listFacts("main", {})).toEqual(before);
  });

  test.each(["/edit", "/renew", "/renewals", "/supersede", "/undo", "/forget", "/remember"])(
    "there is no form at %s",
    async (path) => {
      const rig = await openRig();
      await store(rig, "harmless");
      const { status, text } = await rig.get(`${path}?key=${KEY}`);
      expect([status, text.includes('method="post"')]).toEqual([403, false]);
    },
  );
});

test("an operator's page shows callers and counts only; others have no such page", async () => {
  const rig = await openRig({ seesCallers: true });
  await store(rig, "harmless");
  await rig.memory.storeFact("<b>work", { key: "secret-key", value: "secret value" });
  const text = textOf(await rig.get("/callers"));
  expect(text).toContain("<b>work 1");
  expect(text).toContain("main 3");
  expect(text).not.toMatch(/zebra|secret|harmless/);
  expect((await (await openRig()).get("/callers")).status).toBe(403);
});
