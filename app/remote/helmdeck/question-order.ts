/** The order of questions whose answers may arrive in another one: an answer is no news of what a later question has shown. */
export class QuestionOrder {
  #asked = 0;
  readonly #unanswered = new Set<number>();
  /** By key: the last question whose answer told of it; kept while any question is unanswered. */
  readonly #toldBy = new Map<string, number>();

  /** Gives `work`, which asks and takes in the answer, its place in the order. */
  async asking<T>(work: (asked: number) => Promise<T>): Promise<T> {
    this.#asked += 1;
    const asked = this.#asked;
    this.#unanswered.add(asked);
    try {
      return await work(asked);
    } finally {
      this.#unanswered.delete(asked);
      if (this.#unanswered.size === 0) this.#toldBy.clear();
    }
  }

  /** Those of which no later question was told. */
  newsOf<T extends { readonly key: string }>(asked: number, told: readonly T[]): readonly T[] {
    const news = told.filter(({ key }) => (this.#toldBy.get(key) ?? 0) <= asked);
    for (const { key } of news) this.#toldBy.set(key, asked);
    return news;
  }
}
