/** What was read of facts to compare new ones with them: kept, since a memory's facts are compared again and again. */
import type { Claim } from "./claims.ts";
import { claimOfHit } from "./hit-conflicts.ts";
import type { IndexedDocument } from "./lexical/indexed-document.ts";
import type { Candidate } from "./lexical/lexical-search.ts";
import { type Topic, topicOf } from "./topic.ts";

/** Of a document. */
type Passage = Pick<Candidate, "document" | "passage">;

/** Then all are dropped. A topic takes about two kilobytes, a claim about six. */
const MOST_TOPICS = 8_000;
const MOST_CLAIMS = 2_000;

/** Of facts of one passage; a reading goes with its document, so nothing of a forgotten fact stays. */
export class ReadFacts {
  readonly #topics = new Readings<Topic>(MOST_TOPICS, ({ document, passage }) =>
    topicOf(document.content.slice(passage.start, passage.end)),
  );
  readonly #claims = new Readings<Claim>(MOST_CLAIMS, (one) => claimOfHit(one));

  topicOf(one: Passage): Topic {
    return this.#topics.of(one);
  }

  claimOf(one: Passage): Claim {
    return this.#claims.of(one);
  }
}

class Readings<Reading extends object> {
  readonly #most: number;
  readonly #read: (one: Passage) => Reading;
  #kept = new WeakMap<IndexedDocument, Reading>();
  #count = 0;

  constructor(most: number, read: (one: Passage) => Reading) {
    this.#most = most;
    this.#read = read;
  }

  of(one: Passage): Reading {
    const { document } = one;
    const known = this.#kept.get(document);
    if (known !== undefined) return known;
    const reading = this.#read(one);
    if (document.units.length === 1) this.#keep(document, reading);
    return reading;
  }

  #keep(document: IndexedDocument, reading: Reading): void {
    if (this.#count === this.#most) {
      this.#kept = new WeakMap();
      this.#count = 0;
    }
    this.#kept.set(document, reading);
    this.#count += 1;
  }
}
