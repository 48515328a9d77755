/** The page "Tidy up": what a review found, and what settles it, each after a preview. */
import { describe, expect, test } from "vitest";
import { growMemory } from "../transfer/grown-memory.ts";
import { BASE, FORMS, fieldsOf, openRig, type Rig, textOf } from "./rig.ts";

async function grownRig(options: Parameters<typeof openRig>[0] = { changes: FORMS }): Promise<Rig> {
  const rig = await openRig(options);
  await growMemory(rig.memory);
  return rig;
}

/** The addresses of this form's links, as a browser reads them. */
function linksTo({ text }: { readonly text: string }, path: string): readonly string[] {
  const links = [...text.matchAll(/href="([^"]+)"/g)].map(([, href = ""]) => href.replaceAll("&amp;", "&"));
  return links.filter((href) => href.startsWith(`${BASE}${path}?`)).map((href) => href.slice(BASE.length));
}

const confirmed = async (rig: Rig, path: string) =>
  rig.post(path, { ...fieldsOf(await rig.get(path)), step: "confirm" });

const everything = async (rig: Rig) =>
  (await rig.memory.listFacts("main", {})).facts
    .map(({ revision: _, ...fact }) => fact)
    .toSorted((one, other) => one.key.localeCompare(other.key));

const afterwards = ({ location = "" }: { readonly location?: string | undefined }) =>
  location.slice(BASE.length);

describe("the page", () => {
  test("shows what was found and where it comes from, with links to forms", async () => {
    const rig = await grownRig();
    const page = await rig.get("/tidy");
    expect(textOf(page)).toMatch(
      /Tidy up \d+ duplicates?, \d+ conflicts?.* Nothing changes before a preview\./,
    );
    expect(textOf(page)).toContain("The same under 4 keys");
    expect(textOf(page)).toMatch(/import mem0-/);
    expect(linksTo(page, "/merge").length).toBeGreaterThan(4);
    expect(linksTo(page, "/apart").length).toBeGreaterThan(1);
    expect(linksTo(page, "/forget").length).toBeGreaterThan(4);
  });

  test("says who stored a fact in the words of the other pages", async () => {
    const rig = await openRig({ changes: FORMS });
    const writer = { surface: "openclaw", agent: "main", sessionKind: "direct" } as const;
    await rig.memory.storeFact("main", { key: "sprint", value: "Invoices", ttlSeconds: 86_400 }, writer);
    expect(textOf(await rig.get("/tidy"))).toContain("by agent main, in OpenClaw (direct)");
  });

  test("has commands to copy where pages change nothing", async () => {
    const rig = await grownRig({});
    const page = await rig.get("/tidy");
    expect(textOf(page)).toContain("openclaw helmdeck tidy --agent work");
    expect(textOf(page)).toMatch(
      /openclaw helmdeck tidy --keep \S+ --over \S+ \S+ \S+ --up-to \d+ --agent work/,
    );
    expect(linksTo(page, "/merge")).toEqual([]);
    expect((await rig.get('/merge?key=health/allergy&over=["work/standup"]')).status).toBe(403);
    expect(
      (await rig.post('/apart?keys=["health/allergy","work/standup"]', { step: "confirm", up_to: "99" }))
        .status,
    ).toBe(403);
  });

  test("shows only counts to somebody who may see no more", async () => {
    const rig = await grownRig({ changes: FORMS, sees: "counts" });
    for (const path of [
      "/tidy",
      '/merge?key=health/allergy&over=["work/standup"]',
      '/apart?keys=["a","b"]',
    ]) {
      const text = textOf(await rig.get(path));
      expect(text).toContain("You see only counts.");
      expect(text).not.toContain("enicillin");
    }
  });
});

describe("a merge", () => {
  // verifies P-tidy-loses-nothing, P-pages-preview
  test("shows what stays and what becomes history, then does it; the link afterwards undoes it", async () => {
    const rig = await grownRig();
    const before = await everything(rig);
    const [path = ""] = linksTo(await rig.get("/tidy"), "/merge");
    const preview = await rig.get(path);
    expect(textOf(preview)).toMatch(
      /Preview: Keep .* stays; .* become its history\..*Stays:.*Becomes its history:/,
    );
    expect(await everything(rig)).toEqual(before);
    const done = await confirmed(rig, path);
    expect(done.status).toBe(303);
    expect(await everything(rig)).not.toEqual(before);
    const page = await rig.get(afterwards(done));
    expect(textOf(page)).toContain("Merged. The values of the others are in its history.");
    expect(textOf(page)).not.toContain("The same under 4 keys");
    const [undo = ""] = linksTo(page, "/undo");
    expect((await confirmed(rig, undo)).status).toBe(303);
    expect(await everything(rig)).toEqual(before);
  });

  // verifies P-pages-preview
  test("does nothing if one of the facts was changed after the preview, and shows them anew", async () => {
    const rig = await grownRig();
    const [path = ""] = linksTo(await rig.get("/tidy"), "/merge");
    const preview = await rig.get(path);
    const [other = ""] = JSON.parse(new URLSearchParams(path.split("?")[1]).get("over") ?? "[]") as string[];
    await rig.memory.storeFact("main", { key: other, value: "theirs" });
    const before = await everything(rig);
    const refused = await rig.post(path, { ...fieldsOf(preview), step: "confirm" });
    expect(refused.status).toBe(409);
    expect(textOf(refused)).toMatch(/A fact here has changed.*Nothing was done.*theirs/);
    expect(await everything(rig)).toEqual(before);
  });

  test.each([{}, { step: "confirm" }, { step: "confirm", up_to: "x" }, { up_to: "99999" }])(
    "without a confirmed preview (%j) changes nothing",
    async (fields) => {
      const rig = await grownRig();
      const before = await everything(rig);
      const [path = ""] = linksTo(await rig.get("/tidy"), "/merge");
      expect(textOf(await rig.post(path, fields))).toContain("Preview:");
      expect(await everything(rig)).toEqual(before);
    },
  );

  test.each([
    '/merge?key=nothing&over=["health/allergy"]',
    "/merge?key=health/allergy&over=[]",
    "/merge?key=health/allergy&over={",
    "/merge",
    '/apart?keys=["health/allergy"]',
    "/apart?keys=7",
    "/apart",
  ])("of facts that are not there (%s) is not found", async (path) => {
    expect((await (await grownRig()).get(path)).status).toBe(404);
  });
});

describe("keeping both", () => {
  test("shows them no more, and the link afterwards takes it back", async () => {
    const rig = await grownRig();
    const before = await everything(rig);
    const { found } = await rig.memory.review("main", {});
    const [path = ""] = linksTo(await rig.get("/tidy"), "/apart");
    expect(textOf(await rig.get(path))).toMatch(/Preview: Keep (both|all).*not shown again until/);
    const done = await confirmed(rig, path);
    const page = await rig.get(afterwards(done));
    expect(textOf(page)).toContain("They stay, and are not shown again");
    expect((await rig.memory.review("main", {})).found).not.toEqual(found);
    const [again = ""] = linksTo(page, "/apart").filter((link) => link.includes("again"));
    expect(textOf(await rig.get(again))).toContain("Show them again");
    expect(textOf(await rig.get(afterwards(await confirmed(rig, again))))).toContain(
      "shown beside each other again",
    );
    expect((await rig.memory.review("main", {})).found).toEqual(found);
    expect(await everything(rig)).toEqual(before);
  });
});
