/** One write transaction: the subjects that it has locked, the numbers that it gives out, and what it leaves behind. */
import { HelmdeckError } from "../../errors.ts";
import type { UnixMs } from "../memory-store.ts";
import { type Namespace, ownerOf } from "../namespace.ts";
import type { Connection } from "./connection.ts";
import { lockSubject, type Subject, saveSubject } from "./subjects.ts";

interface Beginning {
  /** In one order everywhere, so that no two wait for each other. */
  readonly owners: readonly Namespace[];
  /** Asked once they are locked. */
  readonly now: () => UnixMs;
}

export class OneWriting {
  readonly connection: Connection;
  readonly now: UnixMs;
  readonly #subjects: ReadonlyMap<Namespace, Subject>;
  readonly #seqs: number[] = [];
  readonly #changed = new Set<Subject>();

  private constructor(connection: Connection, now: UnixMs, subjects: readonly Subject[]) {
    this.connection = connection;
    this.now = now;
    this.#subjects = new Map(subjects.map((subject) => [subject.owner, subject]));
  }

  /** Waits until nobody else writes for these subjects. */
  static async begin(connection: Connection, { owners, now }: Beginning): Promise<OneWriting> {
    const subjects = await Promise.all(owners.map((owner) => lockSubject(connection, owner)));
    return new OneWriting(connection, now(), subjects);
  }

  /** What the subject of this namespace has; the statements that follow are about its rows. */
  of(namespace: Namespace): Subject {
    const subject = this.#subjects.get(ownerOf(namespace));
    if (subject === undefined)
      throw new HelmdeckError("internal", "A write is about a subject that it has not locked.");
    this.connection.as(subject.owner);
    return subject;
  }

  /** To be asked ahead for as many numbers as will be needed, as far as that is known. */
  async takeSeqs(count: number): Promise<void> {
    const sql = "SELECT nextval('change_numbers') AS seq FROM generate_series(1, ?)";
    this.#seqs.push(...(await this.connection.query(sql, [count])).map(({ seq }) => Number(seq)));
  }

  /** The next number of this subject's changes. */
  async nextSeq(subject: Subject): Promise<number> {
    if (this.#seqs.length === 0) await this.takeSeqs(1);
    const seq = this.#seqs.shift() ?? 0;
    this.noteSeq(subject, seq);
    return seq;
  }

  /** One that the database gave out by itself; what was taken ahead came before it. */
  noteSeq(subject: Subject, seq: number): void {
    subject.newestSeq = Math.max(subject.newestSeq, seq);
    this.#changed.add(subject);
  }

  /** Sent with the commit. Answers whose memory has changed. */
  save(): readonly Namespace[] {
    for (const subject of this.#changed) saveSubject(this.connection.as(subject.owner), subject);
    return [...this.#changed].map(({ owner }) => owner);
  }
}

export type Writing = OneWriting;
