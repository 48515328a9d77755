/**
 * The packs whose subject is memory itself: store, forget, history, renew, corpus.
 *
 * None leaves an audit row. Of the first two helmdeck leaves none either: a record of what was stored or forgotten would outlive
 * it. The others only read; their rows would be in the corpus that it reads, so that reading memory would fill it.
 */

import {
  CORPUS_DESCRIPTION,
  type CorpusReply,
  type CorpusRequest,
  corpusQueryOfRequest,
  corpusReply,
  corpusReplySchema,
  corpusRequestSchema,
  type FactReply,
  FORGET_DESCRIPTION,
  type ForgetReply,
  type ForgetRequest,
  factOfRequest,
  factReply,
  factSchema,
  forgetOfRequest,
  forgetReply,
  forgetReplySchema,
  forgetRequestSchema,
  HISTORY_DESCRIPTION,
  type HistoryReply,
  type HistoryRequest,
  historyReply,
  historyReplySchema,
  historyRequestSchema,
  type Memory,
  noHistory,
  RENEW_DESCRIPTION,
  type RenewRequest,
  renewOfRequest,
  renewRequestSchema,
  STORE_DESCRIPTION,
  type StoreReply,
  type StoreRequest,
  storeReply,
  storeReplySchema,
  storeRequestSchema,
} from "../../app/index.ts";
import { definePack } from "../engine/define-pack.ts";
import type { Pack } from "../engine/pack-contract.ts";

/** `helmdeck.memory_store`: keeps one fact of the caller. */
export function memoryStorePack(memory: Pick<Memory, "storeFact">): Pack<StoreRequest, StoreReply> {
  return definePack({
    name: "helmdeck.memory_store",
    version: "1.0.0",
    description: STORE_DESCRIPTION,
    input: storeRequestSchema,
    output: storeReplySchema,
    audit: false,
    effects: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
    run: async ({ caller }, request) =>
      storeReply(await memory.storeFact(caller, factOfRequest(request), { surface: "pack", agent: caller })),
  });
}

/** `helmdeck.memory_forget`: deletes by scope, for good. */
export function memoryForgetPack(memory: Pick<Memory, "forget">): Pack<ForgetRequest, ForgetReply> {
  return definePack({
    name: "helmdeck.memory_forget",
    version: "1.0.0",
    description: FORGET_DESCRIPTION,
    input: forgetRequestSchema,
    output: forgetReplySchema,
    audit: false,
    effects: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
    run: async ({ caller }, request) => forgetReply(await memory.forget(caller, forgetOfRequest(request))),
  });
}

/** `helmdeck.memory_history`: what a fact held before. */
export function memoryHistoryPack(memory: Pick<Memory, "factHistory">): Pack<HistoryRequest, HistoryReply> {
  return definePack({
    name: "helmdeck.memory_history",
    version: "1.0.0",
    description: HISTORY_DESCRIPTION,
    input: historyRequestSchema,
    output: historyReplySchema,
    audit: false,
    effects: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
    run: async ({ caller }, { key }) => {
      const history = await memory.factHistory(caller, key);
      if (history === undefined) throw noHistory(caller);
      return historyReply(history);
    },
  });
}

/** `helmdeck.memory_renew`: another life for a fact that would end. */
export function memoryRenewPack(memory: Pick<Memory, "renewFact">): Pack<RenewRequest, FactReply> {
  return definePack({
    name: "helmdeck.memory_renew",
    version: "1.0.0",
    description: RENEW_DESCRIPTION,
    input: renewRequestSchema,
    output: factSchema,
    audit: false,
    effects: { readOnly: false, destructive: false, idempotent: true, openWorld: false },
    run: async ({ caller }, request) => factReply(await memory.renewFact(caller, renewOfRequest(request))),
  });
}

/** `helmdeck.memory_corpus`: ranked for a query, or everything page by page. */
export function memoryCorpusPack(memory: Pick<Memory, "corpusPage">): Pack<CorpusRequest, CorpusReply> {
  return definePack({
    name: "helmdeck.memory_corpus",
    version: "1.0.0",
    description: CORPUS_DESCRIPTION,
    input: corpusRequestSchema,
    output: corpusReplySchema,
    audit: false,
    effects: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
    run: async ({ caller }, request) =>
      corpusReply(await memory.corpusPage(caller, corpusQueryOfRequest(request))),
  });
}
