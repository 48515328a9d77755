/**
 * The packs for memory itself: search, get, list, store, forget, history, renew, corpus.
 *
 * None leaves an audit row. For store and forget, as in helmdeck, a record would outlive the stored or forgotten entry. The
 * others only read; their rows would appear in the corpus, so that reading memory would fill it.
 */
import {
  CORPUS_DESCRIPTION,
  type CorpusRequest,
  corpusQueryOfRequest,
  corpusRequestSchema,
  type DocumentsReply,
  documentsReply,
  documentsReplySchema,
  type FactReply,
  type FactsReply,
  type FactsRequest,
  FORGET_DESCRIPTION,
  type ForgetReply,
  type ForgetRequest,
  factOfRequest,
  factReply,
  factSchema,
  factsQueryOfRequest,
  factsReply,
  factsReplySchema,
  factsRequestSchema,
  forgetOfRequest,
  forgetReply,
  forgetReplySchema,
  forgetRequestSchema,
  GET_DESCRIPTION,
  type GetRequest,
  getRequestSchema,
  HISTORY_DESCRIPTION,
  type HistoryReply,
  type HistoryRequest,
  historyReply,
  historyReplySchema,
  historyRequestSchema,
  LIST_DESCRIPTION,
  type Memory,
  noFact,
  noHistory,
  RENEW_DESCRIPTION,
  type RenewRequest,
  renewOfRequest,
  renewRequestSchema,
  SEARCH_DESCRIPTION,
  type SearchReply,
  type SearchRequest,
  STORE_DESCRIPTION,
  type StoreReply,
  type StoreRequest,
  searchOfRequest,
  searchReply,
  searchReplySchema,
  searchRequestSchema,
  storeReply,
  storeReplySchema,
  storeRequestSchema,
} from "../../app/index.ts";
import { definePack } from "../engine/define-pack.ts";
import type { Pack } from "../engine/pack-contract.ts";

const COMMON = { version: "1.0.0", audit: false } as const;
const READS = { readOnly: true, destructive: false, idempotent: true, openWorld: false };
const DELETES = { readOnly: false, destructive: true, idempotent: true, openWorld: false };
const ADDS = { readOnly: false, destructive: false, idempotent: true, openWorld: false };

/** The part of a memory that these packs use. */
export type PackedMemory = Pick<
  Memory,
  "search" | "getFact" | "listFacts" | "storeFact" | "forget" | "factHistory" | "renewFact" | "corpusPage"
>;

/** All of them, for one memory. */
export function memoryPacks(memory: PackedMemory): readonly Pack[] {
  const packs = [
    memorySearchPack(memory),
    memoryGetPack(memory),
    memoryListPack(memory),
    memoryStorePack(memory),
    memoryForgetPack(memory),
    memoryHistoryPack(memory),
    memoryRenewPack(memory),
    memoryCorpusPack(memory),
  ];
  return packs;
}

/** `helmdeck.memory_search`: ranked answers to a question. */
function memorySearchPack(memory: Pick<Memory, "search">): Pack<SearchRequest, SearchReply> {
  return definePack({
    ...COMMON,
    name: "helmdeck.memory_search",
    title: "Search memory",
    description: SEARCH_DESCRIPTION,
    input: searchRequestSchema,
    output: searchReplySchema,
    effects: READS,
    run: async ({ caller }, request) => searchReply(await memory.search(caller, searchOfRequest(request))),
  });
}

/** `helmdeck.memory_get`: one complete fact. */
function memoryGetPack(memory: Pick<Memory, "getFact">): Pack<GetRequest, FactReply> {
  return definePack({
    ...COMMON,
    name: "helmdeck.memory_get",
    title: "Read a fact",
    description: GET_DESCRIPTION,
    input: getRequestSchema,
    output: factSchema,
    effects: READS,
    run: async ({ caller }, { key }) => {
      const fact = await memory.getFact(caller, key);
      if (fact === undefined) throw noFact();
      return factReply(fact);
    },
  });
}

/** `helmdeck.memory_list`: facts by prefix and category, newest first. */
function memoryListPack(memory: Pick<Memory, "listFacts">): Pack<FactsRequest, FactsReply> {
  return definePack({
    ...COMMON,
    name: "helmdeck.memory_list",
    title: "List facts",
    description: LIST_DESCRIPTION,
    input: factsRequestSchema,
    output: factsReplySchema,
    effects: READS,
    run: async ({ caller }, request) =>
      factsReply(await memory.listFacts(caller, factsQueryOfRequest(request))),
  });
}

/** `helmdeck.memory_store`: stores one fact of the caller. */
export function memoryStorePack(memory: Pick<Memory, "storeFact">): Pack<StoreRequest, StoreReply> {
  return definePack({
    ...COMMON,
    name: "helmdeck.memory_store",
    title: "Remember a fact",
    description: STORE_DESCRIPTION,
    input: storeRequestSchema,
    output: storeReplySchema,
    effects: DELETES,
    run: async ({ caller }, request) =>
      storeReply(await memory.storeFact(caller, factOfRequest(request), { surface: "pack", agent: caller })),
  });
}

/** `helmdeck.memory_forget`: deletes by scope, permanently. */
export function memoryForgetPack(memory: Pick<Memory, "forget">): Pack<ForgetRequest, ForgetReply> {
  return definePack({
    ...COMMON,
    name: "helmdeck.memory_forget",
    title: "Forget",
    description: FORGET_DESCRIPTION,
    input: forgetRequestSchema,
    output: forgetReplySchema,
    effects: DELETES,
    run: async ({ caller }, request) => forgetReply(await memory.forget(caller, forgetOfRequest(request))),
  });
}

/** `helmdeck.memory_history`: the former values of a fact. */
function memoryHistoryPack(memory: Pick<Memory, "factHistory">): Pack<HistoryRequest, HistoryReply> {
  return definePack({
    ...COMMON,
    name: "helmdeck.memory_history",
    title: "Former values of a fact",
    description: HISTORY_DESCRIPTION,
    input: historyRequestSchema,
    output: historyReplySchema,
    effects: READS,
    run: async ({ caller }, { key }) => {
      const history = await memory.factHistory(caller, key);
      if (history === undefined) throw noHistory(caller);
      return historyReply(history);
    },
  });
}

/** `helmdeck.memory_renew`: a new lifetime for a fact. */
function memoryRenewPack(memory: Pick<Memory, "renewFact">): Pack<RenewRequest, FactReply> {
  return definePack({
    ...COMMON,
    name: "helmdeck.memory_renew",
    title: "Keep a fact longer",
    description: RENEW_DESCRIPTION,
    input: renewRequestSchema,
    output: factSchema,
    effects: ADDS,
    run: async ({ caller }, request) => factReply(await memory.renewFact(caller, renewOfRequest(request))),
  });
}

/** `helmdeck.memory_corpus`: ranked documents for a query, or all documents page by page. */
export function memoryCorpusPack(memory: Pick<Memory, "corpusPage">): Pack<CorpusRequest, DocumentsReply> {
  return definePack({
    ...COMMON,
    version: "1.1.0",
    name: "helmdeck.memory_corpus",
    title: "Read memory as documents",
    description: CORPUS_DESCRIPTION,
    input: corpusRequestSchema,
    output: documentsReplySchema,
    effects: READS,
    run: async ({ caller }, request) =>
      documentsReply(await memory.corpusPage(caller, corpusQueryOfRequest(request))),
  });
}
