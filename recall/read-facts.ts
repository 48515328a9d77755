/** What was read of facts to compare new ones with them: kept, since a memory's facts are compared again and again. */
import type { Claim, Stem } from "./claims.ts";
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
  readonly #topics = new Readings<Topic>(MOST_TOPICS, ({ document, passage }, stem) =>
    topicOf(document.content.slice(passage.start, passage.end), stem),
  );
  readonly #claims = new Readings<Claim>(MOST_CLAIMS, claimOfHit);

  topicOf(one: Passage, stem: Stem): Topic {
    return this.#topics.of(one, stem);
  }

  claimOf(one: Passage, stem: Stem): Claim {
    return this.#claims.of(one, stem);
  }
}

class Readings<Reading extends object> {
  readonly #most: number;
  readonly #read: (one: Passage, stem: Stem) => Reading;
  #kept = new WeakMap<IndexedDocument, Reading>();
  #count = 0;

  constructor(most: number, read: (one: Passage, stem: Stem) => Reading) {
    this.#most = most;
    this.#read = read;
  }

  of(one: Passage, stem: Stem): Reading {
    const { document } = one;
    const known = this.#kept.get(document);
    if (known !== undefined) return known;
    const reading = this.#read(one, stem);
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
