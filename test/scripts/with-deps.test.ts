/** The wrapper of the npm scripts: installs only missing dependencies, then runs on the pinned Node. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ROOT } from "../../scripts/build/build.ts";

const LOCK = {
  packages: {
    "": { name: "the-clone" },
    "node_modules/node": { version: "24.21.0", integrity: "sha512-node" },
    "node_modules/for-another-machine": { version: "1.0.0", integrity: "sha512-other", optional: true },
    "node_modules/library": { version: "2.0.0", integrity: "sha512-library" },
  },
};
const INSTALL = [
  "ci --ignore-scripts --no-audit --no-fund --loglevel=error --no-progress",
  "rebuild node --ignore-scripts=false --loglevel=error",
];

let clone: string;
beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), "helmdeck-with-deps-"));
  cpSync(join(ROOT, "scripts", "with-deps.mjs"), put("scripts/with-deps.mjs", ""));
  put("package-lock.json", JSON.stringify(LOCK));
  // Prints its arguments, and installs the pinned Node when the test requests it.
  const npm = `#!/bin/sh
echo "$*" >> "${clone}/npm.log"
if [ "$1" = rebuild ]; then mkdir -p node_modules/node/bin && : > node_modules/node/bin/node; fi
`;
  put("bin/npm", npm, 0o755);
  put("node_modules/.bin/program", '#!/bin/sh\necho "program $*"\n', 0o755);
});
afterEach(() => rmSync(clone, { recursive: true, force: true }));

function put(name: string, content: string, mode = 0o644): string {
  const path = join(clone, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content, { mode });
  return path;
}

/** npm's own list of installed packages. */
function putInstalled(change: Record<string, unknown> = {}): void {
  const { "": _root, "node_modules/for-another-machine": _other, ...rest } = LOCK.packages;
  put("node_modules/.package-lock.json", JSON.stringify({ packages: { ...rest, ...change } }));
}

function withDeps(...args: readonly string[]) {
  const env = { PATH: `${join(clone, "bin")}:/usr/bin:/bin` };
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(clone, "scripts", "with-deps.mjs"), ...args],
    {
      env,
      encoding: "utf8",
    },
  );
  const log = join(clone, "npm.log");
  return {
    status,
    stdout,
    stderr,
    npm: existsSync(log) ? readFileSync(log, "utf8").trimEnd().split("\n") : [],
  };
}

describe("with-deps", () => {
  test("installs everything on a fresh clone, once, and then runs the npm script", () => {
    expect(withDeps("test:run", "--x").npm).toEqual([...INSTALL, "run --silent test:run -- --x"]);
    rmSync(join(clone, "npm.log"));
    expect(withDeps("check:run").npm).toEqual(["run --silent check:run --"]);
  });

  test("fetches only the pinned Node after a manual npm ci", () => {
    putInstalled();
    expect(withDeps("--exec", "program", "a b")).toMatchObject({
      status: 0,
      stdout: "program a b\n",
      npm: INSTALL.slice(1),
    });
  });

  test.each([
    ["a package is missing", { "node_modules/library": undefined }],
    [
      "a package has another version",
      { "node_modules/library": { version: "1.9.0", integrity: "sha512-library" } },
    ],
    [
      "a package holds something else",
      { "node_modules/library": { version: "2.0.0", integrity: "sha512-x" } },
    ],
  ])("installs everything when %s", (_what, change) => {
    putInstalled(change);
    expect(withDeps("--exec", "program").npm).toEqual(INSTALL);
  });

  test("installs again when the lock has changed", () => {
    putInstalled();
    withDeps("--exec", "program");
    const packages = { ...LOCK.packages, "node_modules/new": { version: "1.0.0", integrity: "sha512-new" } };
    put("package-lock.json", JSON.stringify({ packages }));
    rmSync(join(clone, "npm.log"));
    expect(withDeps("--exec", "program").npm).toEqual(INSTALL);
  });

  test.runIf(existsSync("/usr/bin/script") && process.platform === "linux")(
    "shows the elapsed time on a terminal",
    () => {
      const command = `'${process.execPath}' '${join(clone, "scripts", "with-deps.mjs")}' --exec program`;
      const env = { PATH: `${join(clone, "bin")}:/usr/bin:/bin` };
      const { stdout } = spawnSync("script", ["-qec", command, "/dev/null"], { env, encoding: "utf8" });
      expect(stdout).toMatch(/==> Installing the locked dependencies \(once; about a minute\) \d+ s\r\n/);
      rmSync(join(clone, "node_modules", ".installed-lock.json"));
      const { stderr } = withDeps("--exec", "program");
      expect(stderr).toContain("==> Installing the locked dependencies");
      expect(stderr).not.toMatch(/ \d+ s/);
    },
  );

  test("ends as the program ends", () => {
    put("node_modules/.bin/program", "#!/bin/sh\nexit 7\n", 0o755);
    expect(withDeps("--exec", "program").status).toBe(7);
    expect(withDeps("--exec").status).toBe(2);
    expect(withDeps().status).toBe(2);
  });
});
