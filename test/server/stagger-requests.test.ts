import { Hono } from "hono";
import { expect, test } from "vitest";
import { nextTurn } from "../../engine/timing.ts";
import { STARTED_PER_TURN, staggerRequests } from "../../server/guards/rate.ts";

test("many simultaneous requests are started a few per turn, in the order of arrival", async () => {
  const begun: number[] = [];
  const app = new Hono().get("/:number", staggerRequests(), (c) => {
    begun.push(Number(c.req.param("number")));
    return c.body(null, 204);
  });
  const numbers = Array.from({ length: 5 * STARTED_PER_TURN }, (_, number) => number);
  const answers = numbers.map((number) => app.request(`/${number}`));
  const inEachTurn: number[] = [];
  while (begun.length < numbers.length) {
    const before = begun.length;
    await nextTurn();
    inEachTurn.push(begun.length - before);
  }
  await Promise.all(answers);
  expect(begun).toEqual(numbers);
  expect(Math.max(...inEachTurn)).toBeLessThanOrEqual(STARTED_PER_TURN);
});
