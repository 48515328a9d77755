/** Addresses of pages, all below the base and each with the selected memory. They may contain keys, never values. */
export type Params = Readonly<Record<string, string | number | undefined>>;

export class Links {
  readonly #base: string;
  readonly #agent: string | undefined;

  /** `agent`: the selected memory; undefined if there is only one. */
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

  /** Without parameters, because a form with method GET adds its own. */
  path(path: string): string {
    return `${this.#base}${path}`;
  }

  /** Fields that a form with method GET must include. */
  get hidden(): Readonly<Record<string, string>> {
    return this.#agent === undefined ? {} : { agent: this.#agent };
  }
}
