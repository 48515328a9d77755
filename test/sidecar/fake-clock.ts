/** A clock that only moves when a test advances it. */
import type { Clock, Timer } from "../../engine/timing.ts";

interface Alarm {
  readonly at: number;
  readonly action: () => void;
}

export class FakeClock implements Clock {
  #now = 0;
  #alarms: Alarm[] = [];
  #waiting: (() => void)[] = [];

  now(): number {
    return this.#now;
  }

  /** The remaining time of each timer, soonest first. */
  get pending(): readonly number[] {
    return this.#alarms.map(({ at }) => at - this.#now).sort((one, other) => one - other);
  }

  readonly timer: Timer = (action, delayMs) => {
    if (delayMs === 0) {
      queueMicrotask(action);
      return () => {};
    }
    const alarm = { at: this.#now + delayMs, action };
    this.#alarms.push(alarm);
    this.#wake();
    return () => {
      this.#alarms = this.#alarms.filter((other) => other !== alarm);
    };
  };

  /** Advances the time and runs the timers that become due. */
  advance(ms: number): void {
    this.#now += ms;
    const due = this.#alarms.filter(({ at }) => at <= this.#now);
    this.#alarms = this.#alarms.filter((alarm) => !due.includes(alarm));
    for (const { action } of due.sort((one, other) => one.at - other.at)) action();
  }

  /** Resolves when a timer is set for exactly this number of milliseconds. */
  async alarmIn(ms: number): Promise<void> {
    while (!this.pending.includes(ms)) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
