/** The artifacts of one run: stored at once, and deleted if the run fails. */
import type { Subject } from "../../engine/store/namespace.ts";
import type { ArtifactRef, ArtifactSink, ArtifactStore, NewArtifact } from "./pack-contract.ts";
import { cancelled } from "./run-limits.ts";

export class RunArtifacts {
  readonly #store: ArtifactStore;
  readonly #caller: Subject;
  readonly #putting: Promise<ArtifactRef>[] = [];
  #open = true;

  constructor(store: ArtifactStore, caller: Subject) {
    this.#store = store;
    this.#caller = caller;
  }

  /** The sink that the handler sees. */
  readonly sink: ArtifactSink = { put: (artifact) => this.#put(artifact) };

  /** All stored artifacts in order, without refused ones. Accepts no more afterwards. */
  async collect(): Promise<readonly ArtifactRef[]> {
    this.#open = false;
    const settled = await Promise.allSettled(this.#putting);
    return settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  }

  /** Best effort: the artifact store expires anything that cannot be deleted now. */
  async takeBack(): Promise<void> {
    const refs = await this.collect();
    await Promise.allSettled(refs.map(({ id }) => this.#store.delete(this.#caller, id)));
  }

  #put(artifact: NewArtifact): Promise<ArtifactRef> {
    if (!this.#open) return Promise.reject(cancelled());
    const putting = this.#store.put(this.#caller, artifact);
    putting.catch(() => {}); // a handler that does not await this must not crash the process
    this.#putting.push(putting);
    return putting;
  }
}
