/** Valid and invalid markers: each gives its named plan or a clear error, never another plan. */

import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { sized } from "../run/size.ts";
import { SeamHome } from "./fixtures.ts";

const MARKERS = sized(500, 5_000);
const TEN_MEGABYTES = 10 * 1_024 * 1_024;
/** Even the large number of runs takes a quarter of a minute. The limit is for a busy machine. */
const TIME_LIMIT_MS = 240_000;

/** Existing plans. Each contains its own name, so that a wrong one is detected. */
const PLANS = ["foo", "Foo-2", "日本", "a b", "...", "PLAN", "PLAN-x", "con.fig"] as const;
/** Existing entries that are not plans. */
const NO_PLANS = ["blank", "empty", "folder", "dangling"] as const;

interface Marker {
  /** Puts the marker at `.harness/active-plan`. */
  readonly put: (path: string) => void;
  /** The plan that the marker names. Undefined if it must fail. */
  readonly names: string | undefined;
  readonly shown: string;
}

const text = (content: string | Uint8Array, names: string | undefined): Marker => ({
  put: (path) => writeFileSync(path, content),
  names,
  shown: typeof content === "string" ? content.slice(0, 60) : `${content.length} bytes`,
});

const blanks = fc.string({ unit: fc.constantFrom(" ", "\n", "\t", "\r", "\ufeff", "\u00a0"), maxLength: 6 });
const surround = (name: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(blanks, name, blanks).map(([before, middle, after]) => `${before}${middle}${after}`);

const right = fc
  .tuple(fc.constantFrom(...PLANS), fc.constantFrom("", "PLAN-"), fc.constantFrom("", ".md"), blanks, blanks)
  .map(([plan, beginning, ending, before, after]) => {
    // "PLAN" alone is the single plan. "PLAN-x" alone is the plan x, which does not exist.
    const name = `${plan.startsWith("PLAN") ? "PLAN-" : beginning}${plan}${ending}`;
    return text(`${before}${name}${after}`, plan);
  });

/** None of these names an existing plan. */
const wrongNames = fc.oneof(
  fc.constantFrom("", ..."PLAN PLAN.md PLAN- PLAN-.md .md PLAN-x x . .. PLAN-.. ..md".split(" ")),
  fc.constantFrom(
    ..."FOO fo foo2 foo.md.md PLAN-PLAN-foo foo\u0000 foo\nfoo f\u200do\u202eo foo\tbar".split(" "),
  ),
  fc.constantFrom(...NO_PLANS),
  fc
    .tuple(fc.constantFrom("../", "/", "./", "a/", "\\", "..\\", "sub/../"), fc.constantFrom(...PLANS))
    .map((parts) => parts.join("")),
  fc
    .tuple(fc.constantFrom(...PLANS), fc.constantFrom("/", "/..", "\\", "\u0000", "\u001b[2J"))
    .map((parts) => parts.join("")),
  fc.string({ unit: "binary", minLength: 1, maxLength: 30 }).map((noise) => `~${noise.toWellFormed()}`),
  fc.integer({ min: 200, max: 4_000 }).map((length) => "x".repeat(length)),
);
const wrong = surround(wrongNames).map((content) => text(content, undefined));

const bytes = fc.oneof(
  fc.constant(text(Buffer.from([0xff, 0xfe, 0x66, 0x6f, 0x6f]), undefined)),
  fc
    .uint8Array({ minLength: 1, maxLength: 20 })
    .map((noise) => text(Buffer.concat([noise, Buffer.from([0x80])]), undefined)),
  fc.constant(text(Buffer.from("\ufefffoo", "utf8"), "foo")),
);

const rare: fc.Arbitrary<Marker> = fc.constantFrom<Marker>(
  text(Buffer.alloc(TEN_MEGABYTES, " "), undefined),
  text(`foo${" ".repeat(8_000)}`, undefined),
  { shown: "a folder", names: undefined, put: (path) => mkdirSync(path) },
  { shown: "a link to nothing", names: undefined, put: (path) => symlinkSync("nowhere", path) },
  { shown: "a link to itself", names: undefined, put: (path) => symlinkSync(path, path) },
  { shown: "a link to a folder", names: undefined, put: (path) => symlinkSync(".", path) },
  { shown: "a link to /dev/zero", names: undefined, put: (path) => symlinkSync("/dev/zero", path) },
  { shown: "a named pipe", names: undefined, put: (path) => void execFileSync("mkfifo", [path]) },
  {
    shown: "a link to a marker",
    names: "foo",
    put: (path) => {
      writeFileSync(`${path}.real`, "foo\n");
      symlinkSync("active-plan.real", path);
    },
  },
);

const markers = fc.oneof(
  { weight: 40, arbitrary: right },
  { weight: 50, arbitrary: wrong },
  { weight: 8, arbitrary: bytes },
  { weight: 2, arbitrary: rare },
);

test(
  "each marker gives the right plan or a clear error, never a wrong plan",
  async () => {
    const home = await SeamHome.make();
    await home.write(".harness/PLAN.md", "the single plan");
    for (const plan of PLANS) await home.write(`.harness/PLAN-${plan}.md`, `# ${plan}`);
    await home.write(".harness/PLAN-blank.md", " \n\t\n");
    await home.write(".harness/PLAN-empty.md", "");
    mkdirSync(join(home.repo, ".harness", "PLAN-folder.md"));
    symlinkSync("nowhere.md", join(home.repo, ".harness", "PLAN-dangling.md"));
    const path = join(home.repo, ".harness", "active-plan");
    const seam = home.seam();
    let answered = 0;
    const check = async ({ put, names }: Marker): Promise<void> => {
      rmSync(path, { recursive: true, force: true });
      put(path);
      const found = await seam.statePath({}, "plan").catch((error: unknown) => error);
      answered += 1;
      if (names !== undefined) {
        expect(found).toBe(join(home.repo, ".harness", `PLAN-${names}.md`));
        return;
      }
      expect(found).toMatchObject({ name: "HelmdeckError", code: "active_plan_corrupt", details: { path } });
      const message = found instanceof Error ? found.message : "";
      expect(message).toContain(path);
      expect(message).toContain("or delete it");
      expect(message.length - path.length).toBeLessThan(600 + home.repo.length);
      expect(message).not.toMatch(/\p{Cc}|\u202e/u);
    };
    await fc.assert(fc.asyncProperty(markers, check), {
      numRuns: MARKERS,
      interruptAfterTimeLimit: TIME_LIMIT_MS,
      markInterruptAsFailure: true,
    });
    expect(answered).toBeGreaterThanOrEqual(MARKERS);
  },
  2 * TIME_LIMIT_MS,
);

/** Root can read every file, so as root the child gives up its privileges first. */
test("a marker that cannot be read fails, as does one in a folder that cannot be entered", async () => {
  const home = await SeamHome.make();
  await home.write(".harness/PLAN.md", "the single plan");
  await home.write(".harness/active-plan", "foo");
  const child = join(import.meta.dirname, "children", "state-path-unprivileged.ts");
  for (const locked of [join(home.repo, ".harness", "active-plan"), join(home.repo, ".harness")]) {
    const answer = execFileSync(process.execPath, [child, home.repo, locked, home.folder], {
      encoding: "utf8",
    });
    expect(answer).toMatch(/^active_plan_corrupt: .*may not be read by this account/);
  }
});
