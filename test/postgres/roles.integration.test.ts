/**
 * The init script of the PostgreSQL container in compose.engine.yml: it creates two roles with the passwords of its secrets, and
 * sets the database's owner.
 */
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../scripts/build/build.ts";
import { SUPERUSER, startPostgres, whyWithoutPostgres } from "./server.ts";

const why = whyWithoutPostgres();

test.skipIf(why !== undefined)(
  "makes two roles without rights, with passwords, and gives one the database",
  async () => {
    await using server = await startPostgres();
    const secrets = await mkdtemp(join(tmpdir(), "hdm-secrets-"));
    try {
      await writeFile(join(secrets, "helmdeck_postgres_password"), "it's the \"owner's\"\n");
      await writeFile(join(secrets, "helmdeck_engine_password"), "$(engine)\n");
      await server.query("CREATE DATABASE helmdeck");
      const script = await readFile(join(ROOT, "install/postgres-roles.sh"), "utf8");
      const { PATH = "" } = process.env;
      execFileSync("sh", ["-c", script.replaceAll("/run/secrets", secrets)], {
        env: { PATH, PGHOST: server.socketFolder, POSTGRES_USER: SUPERUSER, POSTGRES_DB: "helmdeck" },
      });
    } finally {
      await rm(secrets, { recursive: true });
    }
    const roles = await server.query(
      "SELECT rolname AS name, rolsuper OR rolbypassrls OR rolcreaterole AS rights, left(rolpassword, 5) AS kept FROM pg_authid WHERE rolname LIKE 'helmdeck%' ORDER BY 1",
    );
    expect(roles).toEqual([
      { name: "helmdeck_engine", rights: false, kept: "SCRAM" },
      { name: "helmdeck_owner", rights: false, kept: "SCRAM" },
    ]);
    const owner = "SELECT pg_get_userbyid(datdba) AS owner FROM pg_database WHERE datname = 'helmdeck'";
    expect(await server.query(owner)).toEqual([{ owner: "helmdeck_owner" }]);
  },
);
