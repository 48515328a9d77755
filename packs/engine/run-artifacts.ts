/** What one run makes: kept in the store as the handler puts it, and taken back when the run comes to nothing. */
import type { Subject } from "../../engine/index.ts";
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

  /** What the handler sees of it. */
  readonly sink: ArtifactSink = { put: (artifact) => this.#put(artifact) };

  /** All that were put, in order; those that the store refused are not among them. Takes no more. */
  async collect(): Promise<readonly ArtifactRef[]> {
    this.#open = false;
    const settled = await Promise.allSettled(this.#putting);
    return settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  }

  /** Best effort: what cannot be deleted is the artifact store's to expire. */
  async takeBack(): Promise<void> {
    const refs = await this.collect();
    await Promise.allSettled(refs.map(({ id }) => this.#store.delete(this.#caller, id)));
  }

  #put(artifact: NewArtifact): Promise<ArtifactRef> {
    if (!this.#open) return Promise.reject(cancelled());
    const putting = this.#store.put(this.#caller, artifact);
    putting.catch(() => {}); // a handler that does not wait must not bring the process down
    this.#putting.push(putting);
    return putting;
  }
}
