/** The prompt over some turns of one conversation in which facts are stored: its size, and how much the next request repeats. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { textOf } from "../../../test/gateway/stand-in-model.ts";
import { lineOf } from "../../recall/paraphrases.ts";
import type { Gateway } from "../gateway.ts";
import type { Running } from "../system.ts";
import type { WriteLine } from "./record.ts";

/** A fact is stored before every third turn. */
const EVERY = 3;

export async function measurePrompt(running: Running, turns: number, record: WriteLine): Promise<void> {
  const { gateway } = running;
  if (gateway === undefined) return;
  await endBootstrap(gateway);
  let before: string | undefined;
  for (let turn = 1; turn <= turns; turn += 1) {
    if (turn % EVERY === 0) {
      const fact = `The sluice number ${turn} is opened at ${turn} o'clock.`;
      await running.store("main", lineOf({ key: `sluice/${turn}`, fact }, turn));
      await running.ready("main");
    }
    const request = await requestOf(gateway, `This is message ${turn}; say ok.`);
    record({
      measure: "turn",
      turn,
      ...request.sizes,
      kept: before === undefined ? 1 : keptShare(before, request.text),
    });
    before = request.text;
  }
}

/** A new workspace has instructions for the first conversation, which then go. OpenClaw leaves them out where it finds notes. */
async function endBootstrap(gateway: Gateway): Promise<void> {
  await gateway.say("main", "first", "Hello.");
  await rm(join(gateway.workspaceOf("main"), "BOOTSTRAP.md"), { force: true });
}

async function requestOf(gateway: Gateway, message: string) {
  await gateway.say("main", "prompt", message);
  const request = (await gateway.requests()).at(-1);
  const messages = request?.messages ?? [];
  const system = messages
    .filter(({ role }) => role === "system" || role === "developer")
    .map(textOf)
    .join("\n");
  const tools = JSON.stringify(request?.tools ?? []);
  const sizes = { systemCharacters: system.length, toolCharacters: tools.length };
  return { text: tools + messages.map(textOf).join("\n"), sizes };
}

/** The part of the former request that the next one begins with. */
function keptShare(before: string, now: string): number {
  let same = 0;
  while (same < before.length && before[same] === now[same]) same += 1;
  return same / before.length;
}
