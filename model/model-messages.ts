/** The messages between a memory's process and the process of the built-in models. */
import type { ErrorCode } from "../engine/errors.ts";
import type { ModelKind } from "./artefact.ts";

/** The model's side of the channel. */
export interface ModelFunctions {
  /** Loads the model, if it is not loaded yet. */
  load(kind: ModelKind): Promise<ModelAnswer<boolean>>;
  /** One text's vector, of length 1. */
  embed(kind: ModelKind, text: string): Promise<ModelAnswer<Float32Array>>;
}

/** Errors are sent as data, in words of ours: a library's message could repeat the text. */
export type ModelAnswer<Value> =
  | { readonly ok: true; readonly value: Value }
  | {
      readonly ok: false;
      readonly code: ErrorCode;
      readonly message: string;
      /** Of a text with more pieces than the model reads: how many UTF-16 units from its start fit. */
      readonly fits?: number;
      /** The process goes on: the text is too long, or only this model's files are wrong. */
      readonly goesOn?: true;
    };
