/** The address of a database server: libpq's notation, TLS for other machines, and no password in argv. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type AddressOptions,
  addressAs,
  readStoreAddress,
} from "../../../app/database-server/store-address.ts";

let homeDir: string;
beforeAll(async () => {
  homeDir = await mkdtemp(join(tmpdir(), "helmdeck-address-"));
  const service =
    "[memory]\nhost=db.example\nuser=engine\ndbname=memory\npassword=kept-here\n[other]\nhost=no.example\n";
  await writeFile(join(homeDir, ".pg_service.conf"), service);
});
afterAll(() => rm(homeDir, { recursive: true }));

function read(text: string, from: AddressOptions["from"] = "argument") {
  return readStoreAddress(text, { env: {}, homeDir, from });
}

describe("the address of a database server", () => {
  it("names hosts, database and user", async () => {
    expect(await read("postgres://engine@db.example:5433/memory?schema=mine&pool_size=20")).toEqual({
      hosts: [{ host: "db.example", port: 5433 }],
      ...{ database: "memory", user: "engine", schema: "mine", connections: 20 },
      ...{ tls: "verify-full", needs: "any" },
    });
  });

  it("may name a socket's folder", async () => {
    const { hosts, tls } = await read("postgres://engine@/memory?host=%2Fvar%2Frun%2Fpostgresql");
    expect([hosts, tls]).toEqual([[{ host: "/var/run/postgresql", port: 5432 }], "none"]);
  });

  it("with several servers requires the writable one", async () => {
    const { hosts, needs } = await read("postgresql://engine@one.example,two.example:6000/memory");
    expect(hosts).toEqual([
      { host: "one.example", port: 5432 },
      { host: "two.example", port: 6000 },
    ]);
    expect(needs).toBe("read-write");
    expect((await read("postgres://e@a.example,b.example/m?target_session_attrs=any")).needs).toBe("any");
  });

  it("may name a service, whose password stays in its file", async () => {
    expect(await read("postgres://?service=memory")).toMatchObject({
      hosts: [{ host: "db.example" }],
      ...{ database: "memory", user: "engine", password: "kept-here" },
    });
  });

  it.each([
    "postgres://owner@db.example:5433/memory?schema=mine",
    "postgres://db.example:5433/memory?user=owner&schema=mine",
    "postgresql://other@db.example:5433/memory?schema=mine&user=owner",
    "postgres://?service=memory",
  ])("can be written for another role: %s", async (text) => {
    const changed = await read(addressAs("en/gine", text));
    expect(changed).toEqual({ ...(await read(text)), user: "en/gine" });
  });

  it("may contain a password only in the environment", async () => {
    const shown = "postgres://engine:s3cret-pass@db.example/memory";
    expect((await read(shown, "environment")).password).toBe("s3cret-pass");
    for (const text of [shown, "postgres://engine@db.example/memory?password=s3cret-pass"]) {
      const refused = await read(text).catch((error: unknown) => error);
      expect(refused).toMatchObject({
        code: "invalid_input",
        message: expect.stringContaining("_PASSWORD_FILE"),
      });
      expect(String(refused)).not.toContain("s3cret-pass");
    }
  });

  it.each([
    ["localhost", "none"],
    ["127.0.0.1", "none"],
    ["[::1]", "none"],
    ["127.0.0.1.evil.example", "verify-full"],
    ["localhost,db.example", "verify-full"],
    ["10.0.0.7", "verify-full"],
  ])("to %s uses TLS: %s", async (host, tls) => {
    expect((await read(`postgres://e@${host}/m`)).tls).toBe(tls);
  });

  it.each([
    ["disable", "none"],
    ["require", "verify-full"],
    ["verify-full", "verify-full"],
    ["verify-ca", "verify-ca"],
  ])("with sslmode=%s means %s", async (mode, tls) => {
    expect((await read(`postgres://e@db.example/m?sslmode=${mode}`)).tls).toBe(tls);
  });

  it.each([
    "mysql://e@db.example/m",
    "postgres://db.example",
    "postgres://e@db.example/m?sslmode=prefer",
    "postgres://e@db.example/m?sslmode=allow",
    "postgres://e@db.example/m?sslrootcer=x",
    "postgres://e@db.example/m?target_session_attrs=standby",
    "postgres://e@db.example:99999/m",
    "postgres://e@db.example/m?pool_size=0",
    "postgres://e@db.example/%FF",
    "postgres://?service=nowhere",
  ])("is refused as %s", async (text) => {
    await expect(read(text)).rejects.toMatchObject({ code: "invalid_input", details: { field: "store" } });
  });
});
