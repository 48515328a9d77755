import { MessageChannel } from "node:worker_threads";
import { expect, it } from "vitest";
import { nextTurn } from "../../engine/timing.ts";
import { withinDeadline } from "../../plugin/within-deadline.ts";

const DEADLINE_MS = 5;

it("reads an answer that arrived while the host held the thread past the deadline", async () => {
  const { port1, port2 } = new MessageChannel();
  const answer = new Promise((resolve) => port1.once("message", resolve));
  try {
    await nextTurn(); // the next thing that the loop looks at are timers
    port2.postMessage("in time");
    const waiting = withinDeadline(DEADLINE_MS, answer);
    holdThread(DEADLINE_MS * 4);
    expect(await waiting).toBe("in time");
  } finally {
    port1.close();
  }
});

function holdThread(forMs: number): void {
  const endsAt = performance.now() + forMs;
  while (performance.now() < endsAt);
}
