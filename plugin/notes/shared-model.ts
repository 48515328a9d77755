/**
 * One process of the model for all registrations in a gateway: OpenClaw evaluates a plugin several times there, and each copy would
 * start its own. The copies have no module variable in common, so they use a process-wide registry; the last lease ends the process.
 */
import { findModel } from "../../model/artefact.ts";
import { BuiltInModel } from "../../model/run-model.ts";

interface Shared {
  readonly model: BuiltInModel;
  leases: number;
}

/** Set by the build: a fingerprint of the sources. After an upgrade, another build's copy may still be loaded. */
declare const __HELMDECK_BUILD__: string | undefined;
const BUILD = typeof __HELMDECK_BUILD__ === "string" ? __HELMDECK_BUILD__ : "source";
const REGISTRY = Symbol.for("helmdeck-memory-notes/model/1");

export interface ModelLease {
  readonly model: BuiltInModel;
  /** Idempotent. */
  readonly release: () => void;
}

/** Starts nothing. */
export function leaseModel(stateFolder: string): ModelLease {
  const models = processModels();
  const id = `${BUILD} ${stateFolder}`;
  const shared = models.get(id) ?? {
    model: new BuiltInModel({ find: () => findModel(stateFolder) }),
    leases: 0,
  };
  models.set(id, shared);
  shared.leases += 1;
  let isHeld = true;
  const release = (): void => {
    if (!isHeld) return;
    isHeld = false;
    shared.leases -= 1;
    if (shared.leases > 0) return;
    models.delete(id);
    shared.model.close();
  };
  return { model: shared.model, release };
}

function processModels(): Map<string, Shared> {
  const found: unknown = Reflect.get(globalThis, REGISTRY);
  // Only this function, in this or another copy of the module, writes under this symbol.
  if (found !== undefined) return found as Map<string, Shared>;
  const made = new Map<string, Shared>();
  Reflect.set(globalThis, REGISTRY, made);
  return made;
}
