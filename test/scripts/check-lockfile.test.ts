/** `npm run check:lockfile` finds, for example, another origin, a missing checksum or an unknown install script. */
import { describe, expect, test } from "vitest";
import { problemsOfLockfile } from "../../scripts/supply-chain/check-lockfile.ts";

const LIBRARY = { version: "1.0.0", integrity: `sha512-${"A".repeat(86)}==` };
const AT = "node_modules/library";
const KNOWN = { known: "A test's." };

function problemsWith(library: object, root: object = {}): readonly string[] {
  const known = { ...LIBRARY, hasInstallScript: true };
  const packages = { "": root, "node_modules/known": known, [AT]: library };
  return problemsOfLockfile({ lockfileVersion: 3, packages }, KNOWN);
}

// verifies P-supply-lockfile
describe("check:lockfile", () => {
  test("is content with versions from the registry that have checksums", () => {
    const dependencies = { a: "1.0.0", b: "^2.0.0 || >=3.1.0-beta.1", c: "*", d: "1.x" };
    const resolved = "https://registry.npmjs.org/library/-/library-1.0.0.tgz";
    expect(problemsWith({ ...LIBRARY, resolved, dependencies })).toEqual([]);
    expect(problemsWith({ version: "1.0.0", inBundle: true })).toEqual([]);
  });

  test.each([
    "https://registry.example.org/library.tgz",
    "https://registry.npmjs.org.example.org/library.tgz",
    "http://registry.npmjs.org/library.tgz",
    "git+ssh://git@github.com/somebody/library.git#abc",
    "file:../library",
  ])("fails on a package from %s", (resolved) => {
    const problem = `${AT}: comes from ${resolved}, not from npm's registry`;
    expect(problemsWith({ ...LIBRARY, resolved })).toEqual([problem]);
  });

  test.each([
    ["no checksum", undefined],
    ["a weak checksum", "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk="],
    ["half a checksum", "sha512-AAAA"],
  ])("fails on a package with %s", (_, integrity) => {
    expect(problemsWith({ version: "1.0.0", integrity })).toEqual([`${AT}: has no SHA-512 checksum`]);
  });

  test("fails on a link to a folder", () => {
    expect(problemsWith({ link: true, resolved: "library" })).toEqual([`${AT}: is a link to a folder`]);
  });

  test.each([
    "git+https://example.org/x.git",
    "github:somebody/x",
    "somebody/x",
    "file:../x",
    "https://example.org/x.tgz",
    "npm:other@1.0.0",
    "latest",
  ])("fails on a dependency that is asked for as %s", (spec) => {
    expect(problemsWith(LIBRARY, { devDependencies: { x: spec } })).toEqual([
      `package.json: asks for x as ${spec}, not by version`,
    ]);
    expect(problemsWith({ ...LIBRARY, optionalDependencies: { x: spec } })).toHaveLength(1);
  });

  test("fails on another lockfile's format", () => {
    expect(() => problemsOfLockfile({ lockfileVersion: 1, packages: {} }, {})).toThrow();
  });
});

// verifies P-supply-scripts
describe("install scripts", () => {
  test("of a package that is not named fail", () => {
    const problem = "library: has an install script that is not named in check-lockfile.ts";
    expect(problemsWith({ ...LIBRARY, hasInstallScript: true })).toEqual([problem]);
    // A package under another name in the tree still counts as that package.
    expect(problemsWith({ ...LIBRARY, name: "constructor", hasInstallScript: true })).toEqual([
      problem.replace("library", "constructor"),
    ]);
  });

  test("that are named and gone fail", () => {
    const packages = { [AT]: LIBRARY };
    expect(problemsOfLockfile({ lockfileVersion: 3, packages }, KNOWN)).toEqual([
      "known: is named in check-lockfile.ts and has no install script any more",
    ]);
  });
});
