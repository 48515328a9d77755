/** The addresses to which a token may be sent. */
import { describe, expect, it } from "vitest";
import { checkEngineAddress, isPrivateAddress } from "../../../../app/remote/engine/engine-address.ts";

const check = (url: string, more: object = {}) =>
  checkEngineAddress({ url, ...more }, (field) => `source.${field}`);

// verifies P-engine-token
describe("the address of an engine", () => {
  it.each([
    "http://127.0.0.1:3848",
    "http://127.8.9.10",
    "http://[::1]:3848",
    "http://localhost:3848",
    "http://helmdeck-memory:3848",
    "http://172.18.0.4:3848",
    "https://memory.example",
    "https://192.168.1.7:8443/helmdeck",
  ])("%s is accepted", (url) => {
    expect(check(`${url}/`).url).toBe(url);
  });

  it.each([
    "http://memory.example",
    "http://192.168.1.7:3848",
    "http://10.0.0.3:3848",
    "http://172.32.0.1",
    "http://8.8.8.8",
    "http://[2001:db8::1]:3848",
    "http://[::ffff:8.8.8.8]",
    "http://localhost.example",
    "http://127.0.0.1.example",
    "http://2130706433.example",
  ])("%s is refused, unless plain HTTP is allowed", (url) => {
    expect(() => check(url)).toThrow(/source.url must begin with https:\/\//);
    expect(check(url, { allowPlainHttp: true }).isPlain).toBe(true);
  });

  it.each([
    ["", /must begin with https/],
    ["memory.example:3848", /must begin with https/],
    ["ftp://memory.example", /must begin with https/],
    ["https://user:hunter2@memory.example", /must not contain a user name or a password/],
    ["https://memory.example?token=hunter2", /must not have a query/],
    ["https://memory.example#hunter2", /must not have a query/],
  ])("%j is refused and not shown", (url, says) => {
    const refused = (() => {
      try {
        return check(url);
      } catch (error) {
        return String(error);
      }
    })();
    expect(refused).toMatch(says);
    expect(refused).not.toContain("hunter2");
  });

  it("a name without dots must resolve to a private network", () => {
    expect(check("http://helmdeck-memory:3848").mustBePrivate).toBe(true);
    expect(
      ["127.0.0.1", "::1", "10.1.2.3", "172.31.0.1", "192.168.3.4", "fd00::1"].every(isPrivateAddress),
    ).toBe(true);
    expect(["8.8.8.8", "172.32.0.1", "2001:db8::1", "169.254.169.254"].some(isPrivateAddress)).toBe(false);
  });

  it("accepts fingerprints only in the formats of openssl and browsers", () => {
    const digits = "ab".repeat(32);
    const written = check("https://e.example", { fingerprint256: digits }).fingerprint256;
    expect(written).toBe(Array(32).fill("AB").join(":"));
    expect(check("https://e.example", { fingerprint256: written }).fingerprint256).toBe(written);
    expect(() => check("https://e.example", { fingerprint256: "ab" })).toThrow(/source.fingerprint256/);
    expect(() => check("http://127.0.0.1", { fingerprint256: digits })).toThrow(/https/);
  });
});
