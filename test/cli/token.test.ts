/** `helmdeck-memory token` prints a token that the server accepts, and never the secret. */
import { chown, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { InProcessHome } from "./in-process.ts";

const SECRET = "a-secret-for-the-tests-of-the-token-command";
const GIVEN = { HELMDECK_JWT_SECRET: SECRET };

const home = InProcessHome.forEachTest();

function files() {
  return {
    HELMDECK_JWT_SECRET_FILE: home.path("secret"),
    HELMDECK_JWT_REVOKED_FILE: home.path("revoked"),
  };
}

function claimsOf(token: string): unknown {
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
}

describe("token", () => {
  it("prints only the token, valid for thirty days", async () => {
    const { code, stdout, stderr } = await home.run(["token", "--subject", "alice"], { env: GIVEN });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    const claims = claimsOf(stdout) as { iat: number; exp: number };
    expect(claims).toMatchObject({ iss: "helmdeck", sub: "alice" });
    expect(claims.exp - Math.floor(claims.iat)).toBe(30 * 86_400);
  });

  it("accepts lifetime, scopes, name and client, and reads the secret from a file", async () => {
    await writeFile(home.path("secret"), `${SECRET}\n`, { mode: 0o600 });
    const options = "--ttl 2h --scope admin --scope metrics --name Al --client curl".split(" ");
    const { code, stdout } = await home.run(["token", "--subject", "alice", "--json", ...options], {
      env: { HELMDECK_JWT_SECRET_FILE: home.path("secret") },
    });
    expect(code).toBe(0);
    const answer = JSON.parse(stdout);
    expect(answer).toMatchObject({ subject: "alice", scopes: ["admin", "metrics"] });
    const claims = claimsOf(answer.token) as { exp: number };
    expect(claims).toMatchObject({ scopes: ["admin", "metrics"], name: "Al", client: "curl" });
    expect(answer.expires_at).toBe(new Date(claims.exp * 1_000).toISOString());
  });

  it.each([
    ["a new file", "new.token", undefined],
    ["a file that others could read", "held.token", "former"],
    ["a missing folder", "none/t", "its folder does not exist"],
    ["a path through a file", "held.token/t", "a part of the path is not a folder"],
    ["a folder", "folder", "a folder, a link or a device"],
    ["a link to a file", "link", "a folder, a link or a device"],
    ["a link to nothing", "dangling", "a folder, a link or a device"],
    ["a device", "/dev/null", "a folder, a link or a device"],
    ["a folder without permission", "/sys/t", "permission was denied"],
  ])(
    "writes the token to %s whole, for the owner alone, or refuses in one line",
    async (_what, name, expected) => {
      const at = (path: string) => (path.startsWith("/") ? path : home.path(`out/${path}`));
      await mkdir(at("folder"), { recursive: true });
      await writeFile(at("held.token"), "former", { mode: 0o644 });
      if (process.getuid?.() === 0) await chown(at("held.token"), 1_234, 1_234);
      for (const [link, target] of [
        ["link", "held.token"],
        ["dangling", "nothing"],
      ] as const)
        await symlink(at(target), at(link));
      const { uid } = await stat(at("held.token"));
      const before = await readdir(home.path("out"));
      const done = await home.run(["token", "--subject", "alice", "--output", at(name)], { env: GIVEN });
      expect(`${done.stdout}${done.stderr}`).not.toMatch(/eyJ/);
      if (name.endsWith(".token")) {
        expect(done).toMatchObject({ code: 0, stderr: "" });
        expect(done.stdout).toMatch(/^Wrote a token of alice, valid until .*Z, to .*\n$/);
        expect(claimsOf(await readFile(at(name), "utf8"))).toMatchObject({ sub: "alice" });
        const written = await stat(at(name));
        expect(written.mode & 0o777).toBe(0o600);
        expect(written.uid).toBe(expected === undefined ? process.getuid?.() : uid); // who reads it, still can
        expect((await readdir(home.path("out"))).sort()).toEqual([...new Set([...before, name])].sort());
      } else {
        expect([done.code, done.stdout]).toEqual([1, ""]);
        expect(done.stderr).toMatch(new RegExp(`^invalid_input: .*${expected}.*\\n$`));
        expect(await readdir(home.path("out"))).toEqual(before);
        expect(await readFile(at("held.token"), "utf8")).toBe("former");
      }
    },
  );

  it("shows what a token may do, and fails if it is not accepted", async () => {
    const env = files();
    await writeFile(env.HELMDECK_JWT_SECRET_FILE, `${SECRET}\n`, { mode: 0o600 });
    await home.run(["token", "--revoke", "--subject", "nobody"], { env });
    const made = await home.run(["token", "--subject", "alice", "--scope", "record"], { env });
    const input = made.stdout;
    const shown = await home.run(["token", "--show"], { env, input });
    expect(shown).toMatchObject({ code: 0, stderr: "" });
    expect(shown.stdout).toMatch(
      /^subject {3}alice\nscopes {4}record\nissued {4}\S+Z\nexpires {3}\S+Z\nsigned by the first secret\nrevoked {3}no\naccepted {2}yes\n$/,
    );
    await writeFile(env.HELMDECK_JWT_SECRET_FILE, `another-${SECRET}\n${SECRET}\n`);
    const older = JSON.parse((await home.run(["token", "--show", "--json"], { env, input })).stdout);
    expect(older).toMatchObject({ secret: 2, revoked: false, accepted: true });
    await home.run(["token", "--revoke", "--subject", "alice"], { env });
    const revoked = await home.run(["token", "--show", "--json"], { env, input });
    expect(revoked.code).toBe(1);
    expect(JSON.parse(revoked.stdout)).toMatchObject({ secret: 2, revoked: true, accepted: false });
    await writeFile(env.HELMDECK_JWT_SECRET_FILE, `another-${SECRET}\n`);
    const { stdout } = await home.run(["token", "--show"], { env, input });
    expect(stdout).toContain("signed by none of the secrets here");
    expect(stdout).toContain("accepted  no.");
  });

  it("revokes the tokens of a subject that were made until now, and makes new ones", async () => {
    const env = { HELMDECK_JWT_SECRET: SECRET, HELMDECK_JWT_REVOKED_FILE: home.path("revoked") };
    const { code, stdout } = await home.run(["token", "--revoke", "--subject", "alice", "--json"], { env });
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      { revoked: "alice", until: expect.any(String), file: env.HELMDECK_JWT_REVOKED_FILE },
    ]);
    const { mode } = await stat(env.HELMDECK_JWT_REVOKED_FILE);
    expect(mode & 0o777).toBe(0o600);
    expect((await home.run(["token", "--subject", "alice"], { env })).code).toBe(0);
    await home.run(["token", "--revoke", "--until", "2999-01-01"], { env });
    const refused = await home.run(["token", "--subject", "alice"], { env });
    expect([refused.code, refused.stdout]).toEqual([1, ""]);
  });

  const broken = "a\nb a\rb a\u2028b a\u0085b a\u202eb a\u200bb".split(" ");
  it.each([...broken, " a", "a ", "x".repeat(600)])(
    "names no subject %j, whoever gives it, and revokes others as before",
    async (subject) => {
      const env = { HELMDECK_JWT_SECRET_FILE: home.path("secret") };
      await writeFile(env.HELMDECK_JWT_SECRET_FILE, SECRET, { mode: 0o600 });
      for (const args of [
        ["token", "--revoke", "--subject", subject],
        ["token", "--subject", subject],
        ["list", "--caller", subject],
        ["store", "k", "v", "--caller", subject],
      ])
        expect((await home.run(args, { env })).stderr).toContain(
          "invalid_input: subject must be 1 to 512 bytes",
        );
      const input = (await home.run(["token", "--subject", "alice"], { env })).stdout;
      expect((await home.run(["token", "--revoke", "--subject", "alice"], { env })).code).toBe(0);
      expect((await home.run(["token", "--show"], { env, input })).stdout).toContain("revoked   yes");
    },
  );

  it("keeps the list of revoked tokens beside the secret unless another place is named", async () => {
    const env = { HELMDECK_JWT_SECRET_FILE: home.path("secret") };
    await writeFile(env.HELMDECK_JWT_SECRET_FILE, SECRET, { mode: 0o600 });
    const input = (await home.run(["token", "--subject", "alice"], { env })).stdout;
    await home.run(["token", "--revoke"], { env });
    expect((await home.run(["token", "--show"], { env, input })).stdout).toContain("revoked   yes");
    expect((await stat(home.path("secret.revoked"))).size).toBeGreaterThan(0);
    const elsewhere = { ...env, HELMDECK_JWT_REVOKED_FILE: home.path("none") };
    expect((await home.run(["token", "--show"], { env: elsewhere, input })).stderr).toContain(
      "key_unreadable",
    );
    expect((await home.run(["token", "--revoke"], { env: GIVEN })).stderr).toContain("invalid_input");
  });

  it.each([
    [["--show", "--subject", "a"]],
    [["--show", "--output", "t"]],
    [["--revoke", "--output", "t"]],
    [["--revoke", "--scope", "admin"]],
    [["--subject", "a", "--until", "2026-11-20"]],
    [["--revoke", "--until", "soon"]],
  ])("refuses the options %j", async (args) => {
    const env = { HELMDECK_JWT_SECRET: SECRET, HELMDECK_JWT_REVOKED_FILE: home.path("revoked") };
    expect((await home.run(["token", ...args], { env })).code).toBe(2);
  });

  it.each<[string, readonly string[], Record<string, string>, number, string]>([
    ["no secret", ["--subject", "a"], {}, 1, "key_missing"],
    ["a short secret", ["--subject", "a"], { HELMDECK_JWT_SECRET: "short-secret" }, 1, "key_malformed"],
    ["no subject", [], GIVEN, 2, "invalid_input"],
    ["a life too long", ["--subject", "a", "--ttl", "400d"], GIVEN, 1, "invalid_input"],
    [
      "an unknown scope",
      ["--subject", "a", "--scope", "root"],
      GIVEN,
      1,
      "(?=.*record, admin, metrics)invalid_input",
    ],
    ["a life that is none", ["--subject", "a", "--ttl", "soon"], GIVEN, 2, "invalid_input"],
  ])("refuses %s in one line", async (_what, args, env, exitCode, error) => {
    const { code, stdout, stderr } = await home.run(["token", ...args], { env });
    expect([code, stdout]).toEqual([exitCode, ""]);
    expect(stderr).toMatch(new RegExp(`^${error}: .+\\n$`));
    expect(stderr).not.toContain(env.HELMDECK_JWT_SECRET ?? SECRET);
  });
});
