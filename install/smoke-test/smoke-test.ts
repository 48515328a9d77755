/**
 * The proof: OpenClaw embeds its notes; a fact that is stored through its gateway is found by its own memory_search, by its
 * words and, where helmdeck embeds, by other words; then it is forgotten.
 *
 * OpenClaw's command line carries the calls and finds the gateway's token by itself.
 */
import type { OpenClaw } from "../openclaw-commands.ts";
import { requireOpenClaw, type Work } from "../step-context.ts";
import type { Step } from "../steps/step-kinds.ts";
import { forgetMarker, isFound, QUESTIONS, storeMarker } from "./marker.ts";
import { untilFactsUse, untilFoundByMeaning } from "./meaning-check.ts";
import { notProved } from "./not-proved.ts";
import { embeddedNotes, untilSearchUses } from "./notes-check.ts";
import { withGateway } from "./smoke-test-gateway.ts";

type ProveStep = Extract<Step, { kind: "prove" }>;

/** What was proved, in a few words. */
export async function prove(step: ProveStep, work: Work): Promise<string> {
  const openclaw = requireOpenClaw(work);
  if (step.gateway === "running") return proveThrough(openclaw, step, work);
  return withGateway(openclaw, work.world, (gateway, pause) =>
    proveThrough(gateway, step, { ...work, world: { ...work.world, pause } }),
  );
}

async function proveThrough(openclaw: OpenClaw, step: ProveStep, work: Work): Promise<string> {
  const proved: string[] = [];
  if (step.embeddings !== undefined) {
    await untilSearchUses(openclaw, step.embeddings.provider, work.world);
    proved.push(`OpenClaw embeds its own notes (${await embeddedNotes(openclaw)})`);
  }
  if (step.facts !== undefined) await untilFactsUse(openclaw, step.facts, work.world);
  return [...proved, await findFact(openclaw, step, work)].join("; ");
}

/** The marker is forgotten whatever happens. */
async function findFact(openclaw: OpenClaw, step: ProveStep, work: Work): Promise<string> {
  try {
    const marker = await storeMarker(openclaw);
    if (!(await isFound(openclaw, marker, QUESTIONS.inItsWords)))
      throw notProved(
        "OpenClaw's memory_search did not find a stored fact by its own words. See: openclaw helmdeck doctor; then: install.sh --verify",
      );
    const found = "memory_search finds a stored fact by its own words";
    if (step.facts === undefined) return found;
    await untilFoundByMeaning(openclaw, marker, step.facts, work.world);
    return `${found}, and by other words (${QUESTIONS.inOtherWords})`;
  } finally {
    await forgetMarker(openclaw, step, work);
  }
}
