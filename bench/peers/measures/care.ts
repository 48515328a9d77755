/** How a memory treats what it holds: on the disk, between agents, when values contradict each other, and when its process dies. */
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { FactLine } from "../../recall/conversations.ts";
import { lineOf } from "../../recall/paraphrases.ts";
import { contradictions, plainFacts } from "../sets.ts";
import type { Answer, Running } from "../system.ts";
import { ask, isPassedOn, keysShown, type WriteLine, waysOf } from "./record.ts";

const OTHER_AGENT = "other";
const EXPIRES_AFTER_S = 40;
const KILL_AFTER_MS = 1_500;
const MOST_WRITES = 60;
const FILE_MAX_BYTES = 200_000_000;

export async function measureCare(running: Running, record: WriteLine): Promise<void> {
  await measureContradictions(running, record);
  await measureExpiry(running, record);
  await measureKill(running, record);
  await measureCanary(running, record);
}

/** All are stored before any is asked for, so that they are in each other's way. */
async function measureContradictions(running: Running, record: WriteLine): Promise<void> {
  const all = contradictions();
  for (const { facts } of all) for (const fact of facts) await running.store("main", fact);
  await running.ready("main");
  for (const [way, how] of waysOf(running)) {
    for (const { kind, question, facts } of all) {
      const { answer } = await ask(how, "main", question);
      const shown = valuesShown(answer, facts);
      const newest = String(facts.length - 1);
      const old = shown.filter((key) => key !== newest).length;
      record({
        measure: "contradiction",
        way,
        kind,
        question,
        isFirst: shown[0] === newest,
        isShown: shown.includes(newest),
        old,
      });
    }
  }
}

/** The places of the shown facts. By text, because facts of one name differ in nothing else; by name where only names are shown. */
function valuesShown({ hits, text }: Answer, facts: readonly FactLine[]): readonly string[] {
  const numbered = facts.map((fact, at) => ({ ...fact, key: String(at) }));
  return hits.flatMap((hit) => {
    const byText = keysShown({ hits: [{ text: hit.text }], text }, numbered);
    if (byText.length > 0) return byText;
    const at = facts.findLastIndex(({ key }) => key === hit.key);
    return at === -1 ? [] : [String(at)];
  });
}

async function measureExpiry(running: Running, record: WriteLine): Promise<void> {
  if (running.storeExpiring === undefined) return record({ measure: "expiry", has: false });
  const [fact] = [
    lineOf({ key: "parking/permit", fact: "The parking permit of the visitors is number 8812." }, 0),
  ];
  const question = "which number has the parking permit of the visitors";
  await running.storeExpiring("main", fact, EXPIRES_AFTER_S);
  await running.ready("main");
  for (const moment of ["before", "after"]) {
    if (moment === "after") await pause(EXPIRES_AFTER_S * 1_000);
    for (const [way, how] of waysOf(running)) {
      const { answer } = await ask(how, "main", question);
      record({ measure: "expiry", has: true, way, moment, found: answer.text.includes("8812") });
    }
  }
}

async function measureKill(running: Running, record: WriteLine): Promise<void> {
  const facts = plainFacts(MOST_WRITES);
  const acknowledged: FactLine[] = [];
  let isKilled = false;
  const killed = pause(KILL_AFTER_MS).then(() => {
    isKilled = true;
    return running.crash();
  });
  for (const fact of facts) {
    if (isKilled) break;
    const stored = await running.store("main", fact).then(
      () => true,
      () => false,
    );
    if (stored && !isKilled) acknowledged.push(fact);
  }
  await killed;
  await running.ready("main");
  for (const [way, how] of waysOf(running)) {
    const found: string[] = [];
    for (const fact of acknowledged) {
      const { answer } = await ask(how, "main", fact.value);
      if (keysShown(answer, [fact]).length > 0) found.push(fact.key);
    }
    record({ measure: "kill", way, acknowledged: acknowledged.length, found: found.length });
  }
}

async function measureCanary(running: Running, record: WriteLine): Promise<void> {
  const canary = `zq${randomBytes(8).toString("hex")}`;
  const fact = lineOf(
    { key: "harbour/canary", fact: `The canary of the harbour master is called ${canary}.` },
    0,
  );
  const question = "what is the canary of the harbour master called";
  const where = (moment: string) =>
    record({ measure: "canary", moment, files: filesWith(running.root, canary) });
  const isShown = async (agent: string, moment: string) => {
    const ways = agent === OTHER_AGENT ? waysOfOther(running) : waysOf(running);
    for (const [way, how] of ways) {
      const { answer } = await ask(how, agent, question);
      const { isError = false } = answer;
      record({
        measure: "canary shown",
        way,
        agent,
        moment,
        shown: agent === OTHER_AGENT ? isPassedOn(answer, fact) : keysShown(answer, [fact]).length > 0,
        isError,
      });
    }
  };
  await running.store("main", fact);
  await running.ready("main");
  where("stored");
  await isShown("main", "stored");
  await isShown(OTHER_AGENT, "stored");
  // What an agent's turn writes into OpenClaw's own records is no part of the memory's files.
  const turned = running.throughAgent === undefined ? [] : filesWith(running.root, canary);
  await running.forget("main", fact);
  await running.ready("main");
  await isShown("main", "forgotten");
  where("forgotten");
  await running.end();
  where("ended");
  record({ measure: "canary files of turns", files: turned });
}

/** Through an agent's turn, where the own tool is called directly otherwise. */
function waysOfOther(running: Running) {
  return running.throughAgent === undefined
    ? waysOf(running)
    : ([["own tool", running.throughAgent]] as const);
}

/** Paths inside the folder, without the parts that are random. */
function filesWith(root: string, text: string): readonly string[] {
  const bytes = Buffer.from(text);
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .map((name) => join(root, name))
    .filter((path) => {
      try {
        const facts = statSync(path);
        return facts.isFile() && facts.size < FILE_MAX_BYTES && readFileSync(path).includes(bytes);
      } catch {
        return false; // a socket, or it has gone
      }
    })
    .map((path) => relative(root, path));
}
