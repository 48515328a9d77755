/** One write transaction: its locked subjects, its sequence numbers, and its effects. */
import { HelmdeckError } from "../../errors.ts";
import type { UnixMs } from "../memory-store.ts";
import { type Namespace, ownerOf } from "../namespace.ts";
import type { Connection } from "./connection.ts";
import { lockSubject, type Subject, saveSubject } from "./subjects.ts";

interface Beginning {
  /** In a fixed order everywhere, to avoid deadlocks. */
  readonly owners: readonly Namespace[];
  /** Called once they are locked. */
  readonly now: () => UnixMs | Promise<UnixMs>;
  /** How many numbers it will need, if known. */
  readonly numbers?: number;
}

export class OneWriting {
  readonly connection: Connection;
  readonly now: UnixMs;
  readonly #subjects: ReadonlyMap<Namespace, Subject>;
  readonly #seqs: number[];
  readonly #changed = new Set<Subject>();

  private constructor(
    connection: Connection,
    now: UnixMs,
    { subjects, seqs }: { readonly subjects: readonly Subject[]; readonly seqs: readonly number[] },
  ) {
    this.connection = connection;
    this.now = now;
    this.#seqs = [...seqs];
    this.#subjects = new Map(subjects.map((subject) => [subject.owner, subject]));
  }

  /** Waits until nobody else writes for these subjects. */
  static async begin(connection: Connection, { owners, now, numbers = 0 }: Beginning): Promise<OneWriting> {
    const locking = owners.map((owner) => lockSubject(connection, owner));
    const taking = takeSeqs(connection, numbers); // the server allocates them behind the locks
    taking.catch(() => undefined); // an earlier failure is reported instead
    const locked = await Promise.all(locking);
    const taken = await taking;
    const isNew = locked.some((one) => one.isNew); // and was locked only now
    const seqs = isNew ? await takeSeqs(connection, numbers) : taken;
    return new OneWriting(connection, await now(), { subjects: locked.map(({ subject }) => subject), seqs });
  }

  /** The subject of this namespace; limits the following statements to its rows. */
  of(namespace: Namespace): Subject {
    const subject = this.#subjects.get(ownerOf(namespace));
    if (subject === undefined)
      throw new HelmdeckError("internal", "A write affects a subject that it has not locked.");
    this.connection.as(subject.owner);
    return subject;
  }

  /** The next sequence number of this subject. */
  async nextSeq(subject: Subject): Promise<number> {
    if (this.#seqs.length === 0) this.#seqs.push(...(await takeSeqs(this.connection, 1)));
    const seq = this.#seqs.shift() ?? 0;
    this.noteSeq(subject, seq);
    return seq;
  }

  /** A number that the database allocated itself, after those taken in advance. */
  noteSeq(subject: Subject, seq: number): void {
    subject.newestSeq = Math.max(subject.newestSeq, seq);
    this.#changed.add(subject);
  }

  /** All of a part or none of it: if it throws, its numbers are free again, and the transaction goes on. */
  async attempt<T>(part: () => Promise<T>): Promise<T> {
    const [seqs, changed] = [[...this.#seqs], [...this.#changed]];
    const subjects = [...this.#subjects.values()].map((subject) => [subject, { ...subject }] as const);
    try {
      return await this.connection.attempt(part);
    } catch (error) {
      this.#seqs.splice(0, this.#seqs.length, ...seqs);
      this.#changed.clear();
      for (const subject of changed) this.#changed.add(subject);
      for (const [subject, before] of subjects) Object.assign(subject, before);
      throw error;
    }
  }

  /** Sent with the commit. Returns the owners whose memory has changed. */
  save(): readonly Namespace[] {
    for (const subject of this.#changed) saveSubject(this.connection.as(subject.owner), subject);
    return [...this.#changed].map(({ owner }) => owner);
  }
}

async function takeSeqs(connection: Connection, count: number): Promise<readonly number[]> {
  if (count === 0) return [];
  const sql = "SELECT nextval('change_numbers') AS seq FROM generate_series(1, ?)";
  return (await connection.query(sql, [count])).map(({ seq }) => Number(seq));
}

export type Writing = OneWriting;
