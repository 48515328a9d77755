/** The server's errors become our codes with a remedy, and the text contains nothing of the server's message. */
import { expect, test } from "vitest";
import { HelmdeckError } from "../../../../engine/errors.ts";
import { explainPostgresError, isLost } from "../../../../engine/store/postgres/postgres-errors.ts";

const failure = (code: string | undefined, message = "said with a value") =>
  Object.assign(new Error(message), { ...(code !== undefined && { code }), detail: "Key (key)=(a value)" });

test.each([
  ["08006", "store_unavailable"],
  ["ECONNREFUSED", "store_unavailable"],
  ["57P01", "store_unavailable"],
  ["28P01", "store_unavailable"],
  ["53300", "store_unavailable"],
  ["25P03", "store_unavailable"],
  ["42501", "store_unavailable"],
  ["55P03", "store_locked"],
  ["57014", "store_locked"],
  ["40001", "store_locked"],
  ["40P01", "store_locked"],
  ["53100", "store_full"],
  ["25006", "store_readonly"],
  ["55000", "store_readonly"],
  ["XX001", "store_corrupt"],
  ["42P01", "store_replaced"],
  ["0A000", "store_replaced"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "store_unavailable"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "store_unavailable"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "store_unavailable"],
  ["23505", "internal"],
])("%s is %s", (state, code) => {
  const explained = explainPostgresError(failure(state), "memory at db:5432");
  expect(explained).toMatchObject({ code, details: { postgres: state } });
  expect(`${explained} ${JSON.stringify(explained)}`).not.toContain("value");
  expect(explained.cause).toBeUndefined();
});

test.each(["08006", "57P01", "57P05", "25P03", "25P04"])(
  "after %s the connection counts as lost",
  (state) => {
    expect(isLost(failure(state))).toBe(true);
  },
);

test("a pool without free connections has its own error, and does not count as a lost server", () => {
  const busy = failure(undefined, "timeout exceeded when trying to connect");
  expect(isLost(busy)).toBe(false);
  expect(explainPostgresError(busy, "m")).toMatchObject({
    code: "store_unavailable",
    message: expect.stringContaining("no free connection"),
  });
});

test("a connection that ended has its own error, and a HelmdeckError is unchanged", () => {
  const ended = explainPostgresError(failure(undefined, "Connection terminated unexpectedly"), "m");
  expect(ended.code).toBe("store_unavailable");
  const ours = new HelmdeckError("key_wrong", "ours");
  expect(explainPostgresError(ours, "m")).toBe(ours);
});
