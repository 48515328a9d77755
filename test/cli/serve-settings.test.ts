/** The settings of `serve`: by option, variable and file, in this order, checked without starting anything. */

import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { SERVE_SETTINGS } from "../../cli/serve-settings.ts";
import { SERVE_PAGE, withCurrentSettings } from "../../scripts/serve-reference.ts";
import { InProcessHome } from "./in-process.ts";

const KEY = "0f".repeat(32);
/** Each level has ten of the one before. */
const BOMB = [..."abcdefgh"]
  .map((name, at, all) => `${name}: &${name} [${Array(10).fill(at === 0 ? "x" : `*${all[at - 1]}`)}]`)
  .join("\n");
const SECRET = "canary-secret-of-thirty-two-bytes-or-more";

const home = InProcessHome.forEachTest();

interface Checked {
  readonly settings: readonly { readonly name: string; readonly value: string; readonly from: string }[];
  readonly problems: readonly { readonly where: string; readonly problem: string }[];
}

async function check(args: readonly string[], env: Record<string, string> = {}) {
  const { code, stdout } = await home.run(["serve", "--check-config", "--json", ...args], { env });
  const { settings, problems }: Checked = JSON.parse(stdout);
  const of = (name: string) => settings.find((setting) => setting.name === name);
  return { code, of, problems };
}

async function write(text: string): Promise<string> {
  await home.write("serve.yml", text);
  return home.path("serve.yml");
}

describe("serve --check-config", () => {
  it("says where each setting comes from: an option before a variable, before the file, before the default", async () => {
    const config = await write(
      "port: 1\nrate-limit: 7\nhost: 127.0.0.2\nallow-host: [a.example, b.example]\n",
    );
    const env = { HELMDECK_SERVE_CONFIG: config, HELMDECK_SERVE_PORT: "2", HELMDECK_SERVE_RATE_LIMIT: "8" };
    const { code, of, problems } = await check(["--port", "3"], env);
    expect([code, problems]).toEqual([0, []]);
    expect(of("port")).toEqual({ name: "port", value: "3", from: "option" });
    expect(of("rate-limit")).toEqual({ name: "rate-limit", value: "8", from: "HELMDECK_SERVE_RATE_LIMIT" });
    expect(of("host")).toEqual({ name: "host", value: "127.0.0.2", from: config });
    expect(of("allow-host")?.value).toBe("a.example, b.example");
    expect(of("pages")).toEqual({ name: "pages", value: "true", from: "default" });
  });

  it("shows the limits of single callers", async () => {
    const limits = "limits:\n  ci:\n    rate: 60\n    bytes: 1000\n  __proto__: {entries: 1}\n  7: {}\n";
    const { code, of } = await check(["--config", await write(limits)]);
    const shown =
      '{"subject":"7"}, {"rate":60,"bytes":1000,"subject":"ci"}, {"entries":1,"subject":"__proto__"}';
    expect([code, of("limits")?.value]).toEqual([0, shown]);
    const env = { HELMDECK_SERVE_LIMITS: '{"ci": {"rate": 0}}' };
    expect((await check([], env)).of("limits")?.value).toBe('{"rate":0,"subject":"ci"}');
  });

  it("takes what a running server takes from a file: key, secret, store and quota", async () => {
    await home.write("key", KEY);
    await home.write("secret", SECRET);
    for (const name of ["key", "secret"]) await chmod(home.path(name), 0o600);
    const config = await write(
      `key-file: ${home.path("key")}\njwt-secret-file: ${home.path("secret")}\nhost: 0.0.0.0\nmax-entries: 5\nstore: postgres://engine@db.example/memory\n`,
    );
    const { code, of, problems } = await check(["--config", config]);
    expect([code, problems]).toEqual([0, []]);
    expect(of("store")?.value).toBe("postgres://db.example:5432/memory");
  });

  it.each<[string, string, Record<string, string>, string, string]>([
    ["a life out of bounds", "lifetime-days: 366", {}, "lifetime-days in the settings file", "from 1 to 365"],
    ["a number that is none", "port: 99999", {}, "port in the settings file", "from 0 to 65535"],
    [
      "a variable",
      "",
      { HELMDECK_SERVE_LOG_LEVEL: "loud" },
      "HELMDECK_SERVE_LOG_LEVEL",
      "one of debug, info",
    ],
    ["an unknown entry", "colour: red", {}, "colour in the settings file", "no such setting"],
    [
      "an entry with a name that every object has",
      "constructor: 1",
      {},
      "constructor in the",
      "no such setting",
    ],
    ["another one", "toString: 1", {}, "an entry in the settings file", "no such setting"],
    ["an object's prototype", "__proto__: {port: 1}", {}, "an entry in the settings file", "no such setting"],
    ["a name that is a list", "? [a]\n: 1", {}, "serve.yml", "Line 1"],
    ["a reference", "host: &a x\nstore: *a", {}, "serve.yml", "(*name): write each value out"],
    ["an alias bomb", BOMB, {}, "serve.yml", "(*name): write each value out"],
    ["endless depth", "[".repeat(30_000), {}, "serve.yml", "Line 1 is not valid"],
    ["too much", "#".repeat(65_537), {}, "serve.yml", "more than 65536 bytes"],
    ["a group", "host: {a: 1}", {}, "host in the settings file", "one value"],
    ["no YAML", "port: 1\n\thost: [", {}, "serve.yml", "Line 2"],
    ["an open address without a secret", "host: 0.0.0.0", {}, "host", "loopback only"],
    ["a short secret", "", { HELMDECK_JWT_SECRET: "short" }, "jwt-secret-file", "needs 32"],
    ["a missing key file", "key-file: /none", {}, "key-file", "missing"],
    ["a store without a key", "store: postgres://e@db.example/m", {}, "key-file", "There is no key"],
    ["a malformed store", "store: mysql://db", { HELMDECK_MEMORY_KEY: KEY }, "store", "postgres://USER@HOST"],
    ["a missing folder", "pipelines: /none", {}, "pipelines", "not a folder"],
    ["a quota of none", "max-entries: 0", {}, "max-entries in the settings file", "from 1"],
    [
      "other limits",
      "limits: {ci: {x: 1}}",
      {},
      "limits in",
      "subject and a group of some of rate (0 to 9999999), e",
    ],
    ["a variable without JSON", "", { HELMDECK_SERVE_LIMITS: "ci: 5" }, "HELMDECK_SERVE_LIMITS", "number 1"],
    ["a caller twice", "limits: {ci: {}, ci: {}}", {}, "serve.yml", "Line 1 is not valid"],
    ["an unusable embedding service", "", { HELMDECK_EMBEDDINGS_PROVIDER: "x" }, "embeddings", ""],
  ])("finds %s, says what to do, and exits 1", async (_what, text, env, where, words) => {
    const { code, problems } = await check(["--config", await write(text)], env);
    expect(code).toBe(1);
    expect(problems).toEqual([
      { where: expect.stringContaining(where), problem: expect.stringContaining(words) },
    ]);
  });

  it.each([
    ["limits: 5", 1],
    ["limits: [{ci: {rate: 1}}]", 1],
    ["limits: {a: {}, ci: 5}", 2],
    ["limits: {a: {}, ci: {files: 5}}", 2],
    ["limits: {ci: {__proto__: 5}}", 1],
    ["limits: {ci: {subject: x}}", 1],
    ["limits: {ci: {rate: '60'}}", 1],
    ["limits: {ci: {entries: 0}}", 1],
    ["limits: {ci: {rate: -1}}", 1],
    ["limits: {ci: {rate: 10000000}}", 1],
    ["limits: {ci: {bytes: 1.5}}", 1],
    ["limits: {ci: {bytes: .inf}}", 1],
    ["limits: {ci: {bytes: }}", 1],
    ['limits: {"": {rate: 1}}', 1],
    ['limits: {" ci": {rate: 1}}', 1],
  ])("finds %s wrong, and says at which place", async (text, place) => {
    const { code, problems } = await check(["--config", await write(text)]);
    const problem = expect.stringContaining(`number ${place} is not so`);
    expect([code, problems]).toEqual([1, [{ where: "limits in the settings file", problem }]]);
  });

  it("lists every problem at once, and serve does not start with one", async () => {
    const config = await write("port: x\nhost: 0.0.0.0\nrate-limit: y\n");
    const { problems, of } = await check(["--config", config]);
    expect(problems).toHaveLength(3);
    expect(of("port")).toEqual({ name: "port", value: "not usable", from: "port in the settings file" });
    const { code, stderr } = await home.run(["serve", "--config", config]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^invalid_input: port in .* 1 more: serve --check-config/),
    ]);
  });

  // verifies P-alone-code
  it.each<[string, (path: string) => unknown, string]>([
    ["a missing file", (path) => rmSync(path), "cannot be read (ENOENT): check its path"],
    ["a folder", (path) => [rmSync(path), mkdirSync(path)], "is not a regular file"],
    ["a named pipe", (path) => [rmSync(path), execFileSync("mkfifo", [path])], "is not a regular file"],
    ["a device", (path) => [rmSync(path), symlinkSync("/dev/zero", path)], "is not a regular file"],
    ["no text", (path) => writeFileSync(path, Buffer.from([0xff, 0xfe])), "is not UTF-8 text"],
    ["a file that its group may write", (path) => chmodSync(path, 0o664), "(mode 0664): chmod go-w it"],
    ["a file that everybody may write", (path) => chmodSync(path, 0o602), "(mode 0602): chmod go-w it"],
    ["a file in such a folder", (path) => chmodSync(dirname(path), 0o777), "(mode 0777): chmod go-w it"],
  ])("refuses %s as settings file, and says what to do", async (_what, spoil, words) => {
    const path = home.path("settings/serve.yml");
    mkdirSync(dirname(path));
    writeFileSync(path, "port: 1\n", { mode: 0o600 });
    spoil(path);
    const { code, of, problems } = await check(["--config", path]);
    expect([code, of("port")?.value]).toEqual([1, "3848"]);
    expect(problems).toEqual([expect.objectContaining({ problem: expect.stringContaining(words) })]);
  });

  // verifies P-quiet-words
  it("shows no secret, wherever somebody put it", async () => {
    await home.write("secret", SECRET);
    await chmod(home.path("secret"), 0o600);
    const config = await write(
      `jwt-secret: canary-in-file\nport: canary-port\nlog-level: canary-level\nhost: {canary: canary-group}\nlimits: {canary-a: {}, canary-b: {canary-field: canary-limit}}\ncanary-Entry: 1\n`,
    );
    const env = {
      HELMDECK_MEMORY_KEY: "canary".padEnd(64, "0"),
      HELMDECK_JWT_SECRET: SECRET,
      HELMDECK_MEMORY_STORE: "postgres://canary-user:canary-password@db.example/memory?user=canary-other",
      HELMDECK_SERVE_RATE_LIMIT: "canary-rate",
    };
    for (const more of [[], ["--json"]]) {
      for (const file of [config, await write('port: "canary\nhost: [')]) {
        const args = ["serve", "--check-config", "--config", file, ...more];
        const { stdout, stderr } = await home.run(args, { env });
        expect(stdout + stderr).toContain("HELMDECK_JWT_SECRET");
        expect((stdout + stderr).toLowerCase()).not.toContain("canary");
      }
    }
  });
});

describe("the settings", () => {
  it("have a variable each", () => {
    const variables = Object.values(SERVE_SETTINGS).map(({ env }) => env);
    expect(new Set(variables).size).toBe(variables.length);
  });

  it("are listed in the reference, which node scripts/serve-reference.ts writes", () => {
    const page = readFileSync(SERVE_PAGE, "utf8");
    expect(withCurrentSettings(page)).toBe(page);
  });
});
