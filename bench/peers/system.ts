/** What each compared memory tells the bench: how it is installed, started, filled, asked and emptied. */
import type { OpenClawHost } from "../../scripts/openclaw-host/openclaw-host.ts";
import type { FactLine } from "../recall/conversations.ts";
import type { Embedder } from "./embedder.ts";
import type { Gateway } from "./gateway.ts";

export const WAYS = ["memory_search", "own tool"] as const;
export type Way = (typeof WAYS)[number];

export interface ShownHit {
  /** The fact's name, if the answer has it. Otherwise the text is compared with the facts. */
  readonly key?: string;
  readonly text: string;
}

export interface Answer {
  readonly hits: readonly ShownHit[];
  /** The whole answer, as the model receives it. */
  readonly text: string;
  readonly isError?: boolean;
}

export type Ask = (agent: string, question: string) => Promise<Answer>;

/** What each agent has stored before the system is asked for the first time. */
export type Memory = Readonly<Record<string, readonly FactLine[]>>;

export interface Place {
  /** The first agent is `main`. */
  readonly memory: Memory;
  readonly embedder: Embedder;
}

export interface Running {
  readonly ways: Readonly<Partial<Record<Way, Ask>>>;
  /** Asks as an agent of the gateway does, for systems whose own tool is called directly otherwise. */
  readonly throughAgent?: Ask;
  /** Stores one fact as an agent would. A fact of the same name is replaced, if the system can do that. */
  store(agent: string, fact: FactLine): Promise<void>;
  /** As its documents tell a user to delete it. */
  forget(agent: string, fact: FactLine): Promise<void>;
  /** Resolves when everything stored can be found. */
  ready(agent: string): Promise<void>;
  /** Stores a fact that expires after these seconds. Absent if the system has no expiry, or none below a minute. */
  storeExpiring?(agent: string, fact: FactLine, seconds: number): Promise<void>;
  /** Ends the process that holds memory, without a warning, and starts it again. */
  crash(): Promise<void>;
  /** Ids of all its processes. */
  pids(): Promise<readonly number[]>;
  /** The folder of everything that it writes. */
  readonly root: string;
  readonly host?: OpenClawHost;
  readonly gateway?: Gateway;
  /** Ends its processes and keeps its files. */
  end(): Promise<void>;
  stop(): Promise<void>;
}

export const GROUPS = ["recall", "costs", "care", "prompt", "provider"] as const;
export type Group = (typeof GROUPS)[number];

export interface System {
  readonly id: string;
  readonly title: string;
  /** Of the compared package. */
  readonly version: string;
  /** Where its vendor recommends these settings. */
  readonly settings: string;
  /** What a reader must know to judge its figures. */
  readonly note: string;
  readonly groups: readonly Group[];
  /** Asked in the second run as well: without vectors, a search is deterministic. */
  readonly hasVectors?: true;
  start(place: Place): Promise<Running>;
}
