/** The files that a release writes, and the states in which it is refused. */
import { describe, expect, test } from "vitest";
import { repositoryFields } from "../../scripts/build/repository.ts";
import { closeChangelog, newerVersion, withVersion } from "../../scripts/release/release-texts.ts";

describe("a version", () => {
  test.each(["0.1.1", "0.2.0", "0.10.0", "1.0.0"])("%s comes after 0.1.0", (version) => {
    expect(newerVersion([version], "0.1.0")).toBe(version);
  });

  test.each([
    [["0.1.0"], /not later/],
    [["0.0.9"], /not later/],
    [["v0.2.0"], /usage/],
    [["0.2"], /usage/],
    [["0.02.0"], /usage/],
    [["0.2.0", "0.3.0"], /usage/],
    [[], /usage/],
  ])("%j is refused", (given, message) => {
    expect(() => newerVersion(given, "0.1.0")).toThrow(message);
  });
});

describe("a place", () => {
  const release = { from: "0.1.0", version: "0.2.0" };

  test("gets the new version as often as it is meant, from its beginning", () => {
    const lock =
      '{ "version": "0.1.0", "packages": { "": { "version": "0.1.0" }, "x": { "version": "0.1.0" } } }';
    expect(withVersion("package-lock.json", lock, release, 2)).toBe(
      '{ "version": "0.2.0", "packages": { "": { "version": "0.2.0" }, "x": { "version": "0.1.0" } } }',
    );
    expect(withVersion("page.md", "$ x --version\n0.1.0\nsince 0.1.0\n", release, 1)).toBe(
      "$ x --version\n0.2.0\nsince 0.1.0\n",
    );
  });

  test("that does not name the old one is told", () => {
    expect(() => withVersion("package.json", '{ "version": "0.1.1" }', release, 1)).toThrow(
      /package\.json names 0\.1\.0 0 times/,
    );
  });
});

describe("the changelog", () => {
  const before =
    "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n\n## [0.1.0] - 2026-01-01\n\n- Begun.\n";

  test("gets a section with date, and an empty one for what comes next", () => {
    const { changelog, notes } = closeChangelog(before, "0.2.0", "2026-11-23");
    expect(changelog).toBe(
      before.replace("## [Unreleased]\n", "## [Unreleased]\n\n## [0.2.0] - 2026-11-23\n"),
    );
    expect(notes).toBe("helmdeck memory 0.2.0\n\n### Added\n\n- A thing.");
  });

  test.each([
    ["without such a section", "# Changelog\n", /no section/],
    ["with nothing in it", "## Unreleased\n\n## [0.1.0]\n- x\n", /nothing under/],
  ])("%s is refused", (_name, text, message) => {
    expect(() => closeChangelog(text, "0.2.0", "2026-11-23")).toThrow(message);
  });
});

describe("the address of the repository", () => {
  test("is in the packages only if HELMDECK_REPOSITORY names it", () => {
    expect(repositoryFields({})).toEqual({});
    expect(repositoryFields({ HELMDECK_REPOSITORY: "https://git.example/ada/memory" })).toEqual({
      repository: { type: "git", url: "git+https://git.example/ada/memory.git" },
      homepage: "https://git.example/ada/memory#readme",
      bugs: { url: "https://git.example/ada/memory/issues" },
    });
  });

  test.each(["git@git.example:ada/memory", "https://git.example", "https://git.example/a/b/", "http://x/a"])(
    "is no %s",
    (address) => {
      expect(() => repositoryFields({ HELMDECK_REPOSITORY: address })).toThrow(/https:\/\/HOST\/OWNER/);
    },
  );
});
