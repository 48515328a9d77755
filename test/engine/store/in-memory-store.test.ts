/** The in-memory store passes the contract suite. */
import { createInMemoryStore } from "../../../engine/store/in-memory-store.ts";
import { describeMemoryStore } from "../../contract/memory-store.ts";
import { START } from "../../contract/rig.ts";

describeMemoryStore({
  name: "the in-memory store",
  capabilities: { persistent: false, shared: false },
  canDamage: false,
  modelRuns: 300,
  open: async ({ eraseAtOnce: _, ...options } = {}) => {
    const clock = { now: START };
    const store = createInMemoryStore({ now: () => clock.now, ...options });
    return { store, clock, dispose: () => store.close() };
  },
});
