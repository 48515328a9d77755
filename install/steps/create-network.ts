/** The sidecar's Docker network. */

import { NETWORK } from "../install-names.ts";
import { EXIT, type StepDefinition } from "./step-definition.ts";

interface CreateNetwork {
  readonly kind: "create-network";
  readonly network: string;
}
interface RemoveNetwork {
  readonly kind: "remove-network";
  readonly network: string;
}

export const createNetwork: StepDefinition<CreateNetwork, RemoveNetwork> = {
  kind: "create-network",
  title: ({ network }) => `create the Docker network ${network}`,
  exitCode: EXIT.sidecar,
  record: () => ({ madeNetwork: true }),
  run: (_, { environment }) => environment.docker.createNetwork(),
  undo: {
    kind: "remove-network",
    title: ({ network }) => `remove the Docker network ${network} if nothing is on it`,
    exitCode: EXIT.sidecar,
    plan: ({ journal, docker }) =>
      docker !== undefined && journal.madeNetwork ? { kind: "remove-network", network: NETWORK } : undefined,
    run: async (_, { environment, warn }) => {
      const isGone = await environment.docker.removeNetwork();
      if (!isGone) warn(`The network ${NETWORK} was not removed, because something still uses it.`);
    },
    forgets: ["madeNetwork"],
  },
};
