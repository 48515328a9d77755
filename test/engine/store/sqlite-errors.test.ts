/** SQLite's errors, as reported by both libraries, become our codes. */
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { HelmdeckError } from "../../../engine/errors.ts";
import {
  explainSqliteError,
  isBusy,
  isFailedSync,
  isSchemaMismatch,
} from "../../../engine/store/sqlite/sqlite-errors.ts";

const PATH = "/somewhere/memory.sqlite";

/** An error of better-sqlite3: `code` is the name of the extended code. */
function byName(code: string): Error {
  return Object.assign(new Error("text of SQLite's"), { code });
}

/** An error of node:sqlite: `errcode` is the number of the extended code. */
function byNumber(errcode: number): Error {
  return Object.assign(new Error("text of SQLite's"), { code: "ERR_SQLITE_ERROR", errcode });
}

describe("a failure of SQLite", () => {
  test.each([
    ["SQLITE_BUSY", 5, "store_locked"],
    ["SQLITE_BUSY_RECOVERY", 5 | (1 << 8), "store_locked"],
    ["SQLITE_BUSY_SNAPSHOT", 5 | (2 << 8), "store_locked"],
    ["SQLITE_LOCKED", 6, "store_locked"],
    ["SQLITE_PROTOCOL", 15, "store_locked"],
    ["SQLITE_FULL", 13, "store_full"],
    ["SQLITE_IOERR_SHMSIZE", 10 | (19 << 8), "store_unavailable"],
    ["SQLITE_IOERR_WRITE", 10 | (3 << 8), "store_unavailable"],
    ["SQLITE_IOERR_FSYNC", 10 | (4 << 8), "store_unavailable"],
    ["SQLITE_IOERR_DIR_FSYNC", 10 | (5 << 8), "store_unavailable"],
    ["SQLITE_CORRUPT", 11, "store_corrupt"],
    ["SQLITE_CORRUPT_INDEX", 11 | (3 << 8), "store_corrupt"],
    ["SQLITE_CONSTRAINT_PRIMARYKEY", 19 | (6 << 8), "store_corrupt"],
    ["SQLITE_NOTADB", 26, "store_not_ours"],
    ["SQLITE_READONLY", 8, "store_readonly"],
    ["SQLITE_READONLY_DBMOVED", 8 | (4 << 8), "store_readonly"],
    ["SQLITE_CANTOPEN", 14, "store_unavailable"],
    ["SQLITE_CANTOPEN_ISDIR", 14 | (2 << 8), "store_unavailable"],
    ["SQLITE_PERM", 3, "store_unavailable"],
    ["SQLITE_NOMEM", 7, "store_unavailable"],
    ["SQLITE_ERROR", 1, "internal"],
    ["SQLITE_MISUSE", 21, "internal"],
  ])("%s (%i) is %s from either library, with the path and a remedy", (name, number, code) => {
    for (const error of [byName(name), byNumber(number)]) {
      const explained = explainSqliteError(error, PATH);
      expect(explained).toMatchObject({ code, cause: error, details: { path: PATH } });
      expect(explained.message).toContain(PATH);
      expect(explained.message).not.toContain("text of SQLite's");
    }
  });

  test.runIf(existsSync("/proc/self"))(
    "to grow the log's index counts as a full disk only if no space is left",
    () => {
      const noRoom = explainSqliteError(byName("SQLITE_IOERR_SHMSIZE"), "/proc/memory.sqlite");
      expect(noRoom).toMatchObject({ code: "store_full" });
      const room = explainSqliteError(byName("SQLITE_IOERR_SHMSIZE"), join(tmpdir(), "memory.sqlite"));
      expect(room).toMatchObject({ code: "store_unavailable" });
    },
  );

  test("to sync requires the store to be reopened", () => {
    for (const error of [byName("SQLITE_IOERR_FSYNC"), byNumber(10 | (5 << 8))]) {
      expect(isFailedSync(error)).toBe(true);
      expect(explainSqliteError(error, PATH).details).toMatchObject({ reopen: true });
    }
    expect(isFailedSync(byName("SQLITE_IOERR_WRITE"))).toBe(false);
  });

  test("that is already a HelmdeckError is unchanged", () => {
    const ours = new HelmdeckError("key_wrong", "The key is wrong.");
    expect(explainSqliteError(ours, PATH)).toBe(ours);
  });

  test.each([new TypeError("a defect"), "a string", undefined, byName("EACCES"), byName("SQLITISH_BUSY")])(
    "that is not SQLite's (%s) is internal",
    (error) => {
      expect(explainSqliteError(error, PATH)).toMatchObject({ code: "internal" });
      expect([isBusy(error), isSchemaMismatch(error)]).toEqual([false, false]);
    },
  );

  test("is retried only for locks", () => {
    expect([byName("SQLITE_BUSY"), byNumber(261), byName("SQLITE_FULL"), byNumber(11)].map(isBusy)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});
