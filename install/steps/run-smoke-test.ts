/**
 * The smoke test: OpenClaw embeds its notes; memory_search finds a fact that was stored through the gateway, in other words or,
 * without embeddings, by its words; then the fact is forgotten.
 *
 * OpenClaw's command line makes the calls and finds the gateway's token itself.
 */

import type { EmbedsFacts, MemoryLocation } from "../installation-facts.ts";
import type { OpenClaw } from "../run-openclaw.ts";
import {
  requireFoundByWords,
  waitUntilFactsUse,
  waitUntilFoundByParaphrase,
  waitUntilMemoryIsAt,
} from "../smoke-test/facts-check.ts";
import { forgetMarker, QUESTIONS, storeMarker } from "../smoke-test/marker.ts";
import { embeddedNotes, waitUntilSearchUses } from "../smoke-test/notes-check.ts";
import { withGateway } from "../smoke-test/smoke-test-gateway.ts";
import { EXIT, requireOpenClaw, type StepContext, type StepDefinition } from "./step-definition.ts";

export interface RunSmokeTest {
  readonly kind: "prove";
  /** The provider for OpenClaw's own notes. */
  readonly embeddings: { readonly provider: string } | undefined;
  /** What embeds helmdeck's facts. */
  readonly facts: EmbedsFacts | undefined;
  /** The engine that keeps memory, if it is not this host. */
  readonly engineUrl: string | undefined;
  readonly gateway: "running" | "for-the-proof";
  /** The local memory, in which the marker can be forgotten if the gateway has stopped. */
  readonly memory: MemoryLocation | undefined;
}

export const runSmokeTest: StepDefinition<RunSmokeTest> = {
  kind: "prove",
  title: ({ embeddings, facts, gateway, engineUrl }) => {
    const meaning = facts === undefined ? "" : ", in other words";
    const notes = embeddings === undefined ? "" : ", and that OpenClaw's own notes are embedded";
    const kept = engineUrl === undefined ? "" : `, kept by the engine at ${engineUrl}`;
    const where = gateway === "running" ? "" : ", through a gateway started for this";
    return `check that memory_search finds a stored fact${kept}${meaning}${notes}${where}`;
  },
  exitCode: EXIT.smokeTest,
  run: async (step, context) => {
    const openclaw = requireOpenClaw(context);
    if (step.gateway === "running") return testThrough(openclaw, step, context);
    return withGateway(openclaw, context.environment, (gateway, pause) =>
      testThrough(gateway, step, { ...context, environment: { ...context.environment, pause } }),
    );
  },
};

/** A short list of what works. */
async function testThrough(openclaw: OpenClaw, step: RunSmokeTest, context: StepContext): Promise<string> {
  const works: string[] = [];
  if (step.embeddings !== undefined) {
    await waitUntilSearchUses(openclaw, step.embeddings.provider, context.environment);
    works.push(`OpenClaw embeds its own notes (${await embeddedNotes(openclaw)})`);
  }
  if (step.engineUrl !== undefined) await waitUntilMemoryIsAt(openclaw, step.engineUrl, context.environment);
  if (step.facts !== undefined) await waitUntilFactsUse(openclaw, step.facts, context.environment);
  return [...works, await findFact(openclaw, step, context)].join("; ");
}

/** The marker is forgotten whatever happens. */
async function findFact(openclaw: OpenClaw, step: RunSmokeTest, context: StepContext): Promise<string> {
  try {
    const marker = await storeMarker(openclaw);
    if (step.facts === undefined) {
      await requireFoundByWords(openclaw, marker);
      return "memory_search finds a stored fact by its own words";
    }
    await waitUntilFoundByParaphrase(openclaw, marker, step.facts, context.environment);
    return `memory_search finds a stored fact in other words (${QUESTIONS.paraphrased})`;
  } finally {
    await forgetMarker(openclaw, step.memory, context);
  }
}
