/** Checks the embedding service from OpenClaw's container, because a name that resolves here may not resolve there. */
import { HelmdeckError } from "../../engine/errors.ts";
import { EXIT } from "../installer-exit-codes.ts";
import { requireOpenClaw } from "../step-context.ts";
import { FIRST_EMBEDDING_MS } from "./service-for-embeddings.ts";
import type { StepDefinition } from "./step-definition.ts";

interface CheckFromContainer {
  readonly kind: "check-from-container";
  readonly container: string;
  readonly url: string;
  readonly model: string;
}

export const checkFromContainer: StepDefinition<CheckFromContainer> = {
  kind: "check-from-container",
  title: ({ container, url }) => `check that ${container} reaches ${url}`,
  exitCode: EXIT.openclaw,
  run: async ({ url, model, container }, context) => {
    const ran = await requireOpenClaw(context).exec(["node", "-e", ASK_FROM_INSIDE, url, model], {
      timeoutMs: FIRST_EMBEDDING_MS,
    });
    if (ran.exitCode === 0) return `${ran.stdout.trim()} dimensions`;
    const said = ran.stderr.trim().split("\n").at(-1) || "it printed nothing";
    throw new HelmdeckError(
      "embeddings_unavailable",
      `${container} gets no embedding from ${url}: ${said}. In a container, a loopback address means the container itself; use host.docker.internal for this machine.`,
    );
  },
};

const ASK_FROM_INSIDE = `
const [, url, model] = process.argv;
const body = JSON.stringify({ model, input: "search_query: ping" });
fetch(url + "/api/embed", { method: "POST", headers: { "content-type": "application/json" }, body })
  .then((response) => response.json())
  .then(({ embeddings, error }) => {
    if (!embeddings) throw new Error(error || "no embedding in the answer");
    console.log(embeddings[0].length);
  })
  .catch((error) => {
    console.error(error.cause ? error.cause.code || error.cause.message : error.message);
    process.exitCode = 1;
  });
`;
