/** `helmdeck-memory token` prints a token that the server accepts, and never the secret. */
import { writeFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { InProcessHome } from "./in-process.ts";

const SECRET = "a-secret-for-the-tests-of-the-token-command";

let home: InProcessHome;
beforeEach(() => {
  home = new InProcessHome();
});
afterEach(() => home.remove());

function claimsOf(token: string): unknown {
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
}

describe("token", () => {
  it("prints only the token, valid for thirty days", async () => {
    const { code, stdout, stderr } = await home.run(["token", "--subject", "alice"], {
      env: { HELMDECK_JWT_SECRET: SECRET },
    });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    const claims = claimsOf(stdout) as { iat: number; exp: number };
    expect(claims).toMatchObject({ iss: "helmdeck", sub: "alice" });
    expect(claims.exp - claims.iat).toBe(30 * 86_400);
  });

  it("accepts lifetime, scopes, name and client, and reads the secret from a file", async () => {
    await writeFile(home.path("secret"), `${SECRET}\n`, { mode: 0o600 });
    const options = [
      "--ttl",
      "2h",
      "--scope",
      "admin",
      "--scope",
      "metrics",
      "--name",
      "Al",
      "--client",
      "curl",
    ];
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

  it.each<[string, readonly string[], Record<string, string>, number, string]>([
    ["no secret", ["--subject", "a"], {}, 1, "key_missing"],
    ["a short secret", ["--subject", "a"], { HELMDECK_JWT_SECRET: "short-secret" }, 1, "key_malformed"],
    ["no subject", [], { HELMDECK_JWT_SECRET: SECRET }, 2, "invalid_input"],
    [
      "a life too long",
      ["--subject", "a", "--ttl", "400d"],
      { HELMDECK_JWT_SECRET: SECRET },
      1,
      "invalid_input",
    ],
    [
      "a life that is none",
      ["--subject", "a", "--ttl", "soon"],
      { HELMDECK_JWT_SECRET: SECRET },
      2,
      "invalid_input",
    ],
  ])("refuses %s in one line", async (_what, args, env, exitCode, error) => {
    const { code, stdout, stderr } = await home.run(["token", ...args], { env });
    expect([code, stdout]).toEqual([exitCode, ""]);
    expect(stderr).toMatch(new RegExp(`^${error}: .+\\n$`));
    expect(stderr).not.toContain(env.HELMDECK_JWT_SECRET ?? SECRET);
  });
});
