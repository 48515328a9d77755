/** Addresses of pages: all below the base, each with the memory that is shown. Keys may stand in them, values never do. */
export type Params = Readonly<Record<string, string | number | undefined>>;

export class Links {
  readonly #base: string;
  readonly #agent: string | undefined;

  /** `agent`: which of several memories is shown; undefined where there is nothing to choose. */
  constructor(base: string, agent: string | undefined) {
    this.#base = base;
    this.#agent = agent;
  }

  to(path: string, params: Params = {}): string {
    return this.toAgent(this.#agent, path, params);
  }

  toAgent(agent: string | undefined, path: string, params: Params = {}): string {
    const given = Object.entries({ ...params, agent }).filter(
      ([, value]) => value !== undefined && value !== "",
    );
    const query = new URLSearchParams();
    for (const [name, value] of given) query.set(name, `${value}`);
    return `${this.#base}${path}${query.size === 0 ? "" : `?${query}`}`;
  }

  /** Without parameters: a form with method GET brings its own. */
  path(path: string): string {
    return `${this.#base}${path}`;
  }

  /** What a form with method GET must send along. */
  get hidden(): Readonly<Record<string, string>> {
    return this.#agent === undefined ? {} : { agent: this.#agent };
  }
}
