/**
 * An operation of memory, declared once: REST with its description, the MCP tools, and the client of a served engine are loops
 * over these declarations. What an operation does is the use case with its name.
 */
import type * as z from "zod";
import type { HelmdeckError } from "../../engine/errors.ts";
import type { Subject } from "../../engine/store/namespace.ts";
import type { AuditAction } from "../audit-log.ts";
import type { Memory, UseCase } from "../memory.ts";
import type { FromWire } from "../wire/codec.ts";

/** In the terms of MCP's hints. */
export interface Effects {
  readonly readOnly: boolean;
  readonly destructive: boolean;
  /** A second call with the same input changes nothing more. */
  readonly idempotent: boolean;
  readonly openWorld: false;
}

const ON_MEMORY = { idempotent: true, openWorld: false } as const;
export const READS: Effects = { readOnly: true, destructive: false, ...ON_MEMORY };
/** What a store replaces stays in the histories, and an undo brings it back. */
export const ADDS: Effects = { readOnly: false, destructive: false, ...ON_MEMORY };
export const DELETES: Effects = { readOnly: false, destructive: true, ...ON_MEMORY };

export interface Rest {
  readonly method: "get" | "post";
  /** May contain `{key}`, a fact's name. */
  readonly path: string;
  /** Default: the operation's name. */
  readonly id?: string;
  /** What a successful answer is. */
  readonly answers: string;
  /** Statuses besides those of every route. */
  readonly fails?: readonly (404 | 409)[];
  /** The names of input and reply in the OpenAPI description. */
  readonly names: { readonly input?: string; readonly reply: string };
  /** The reply may hold several of the largest values. */
  readonly isLarge?: true;
  /**
   * Whose memory: the caller's own, or with the scope admin also that of somebody whom this field names, or everybody's.
   * Default: `own`.
   */
  readonly whose?: "own" | { readonly named: "subject" | "caller" } | "everybody's";
}

interface AsTool {
  readonly title: string;
  /** Default 1.0.0. */
  readonly version?: string;
  /** Default: the operation's. */
  readonly description?: string;
  /** What a model has a use for. */
  readonly input: z.ZodObject;
  /** Default: the operation's. */
  readonly reply?: z.ZodObject;
  /** For a reply that may be long: the field with its list, if it is not one item itself, and the long text of an item. */
  readonly pages?: { readonly items?: string; readonly text: string };
}

export interface Operation {
  readonly name: UseCase;
  readonly summary: string;
  readonly description?: string;
  /** Absent if there is none, or if REST reads it from the address (server/rest/query-schemas.ts). */
  readonly input?: z.ZodObject;
  readonly reply: z.ZodType;
  readonly effects: Effects;
  readonly rest?: Rest;
  readonly tool?: AsTool;
  /** Its action in the audit log: of a change always, of a read only if an operator reads another's memory. */
  readonly audit?: AuditAction;
  /** The error when the use case answers undefined. */
  readonly missing?: (subject: Subject) => HelmdeckError;
  /** Shapes the answer where it differs from the reply in more than names and times. */
  readonly toReply?: (answer: never) => unknown;
  readonly fromReply?: (reply: never) => unknown;
  /** False: a client of a served engine does not ask for it. */
  readonly isServed?: false;
}

export interface ToolOperation extends Operation {
  readonly tool: AsTool;
}

type Input<Name extends UseCase> = Parameters<Memory[Name]>[1];
type Answer<Name extends UseCase> = Exclude<Awaited<ReturnType<Memory[Name]>>, undefined>;

/** Compiles only if these are fields of the input, with its types: a use case ignores others without a word. */
export type Fits<Asked, Taken> = [Asked, keyof Asked] extends [Taken, keyof Taken]
  ? unknown
  : "is not what the use case takes";

type Takes<Name extends UseCase, Given extends z.ZodObject> = z.ZodObject extends Given
  ? unknown // without an input
  : Fits<Omit<FromWire<z.infer<Given>>, "writer">, Input<Name>>;

/** With every optional field: a reply that leaves one out would drop it from what a client of a served engine gets. */
type Whole<Value> = Value extends readonly (infer Item)[]
  ? readonly Whole<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value]-?: Whole<Exclude<Value[Name], undefined>> }
    : Value;

/** Compiles only if the reply is the answer of the use case, or `toReply` and `fromReply` make it so. */
type Gives<Name extends UseCase, Reply extends z.ZodType> =
  Whole<FromWire<z.infer<Reply>>> extends Whole<Answer<Name>>
    ? unknown
    :
        | { readonly isServed: false }
        | { readonly fromReply: object }
        | (FromWire<z.infer<Reply>> extends Answer<Name> ? { readonly toReply: object } : never)
        | { readonly reply: "has not every field of the answer" };

interface Declared<
  Name extends UseCase,
  Reply extends z.ZodType,
  Given extends z.ZodObject,
  ToTool extends z.ZodObject,
> extends Omit<Operation, "name" | "input" | "reply" | "tool" | "toReply" | "fromReply"> {
  readonly input?: Given & Takes<Name, Given>;
  readonly reply: Reply;
  readonly tool?: AsTool & { readonly input: ToTool & Takes<Name, ToTool> };
  readonly toReply?: (answer: Answer<Name>) => unknown;
  readonly fromReply?: (reply: FromWire<z.infer<Reply>>) => Answer<Name>;
}

export function operation<
  Name extends UseCase,
  Reply extends z.ZodType,
  Given extends z.ZodObject,
  ToTool extends z.ZodObject,
>(name: Name, declared: Declared<Name, Reply, Given, ToTool> & Gives<Name, Reply>): Operation {
  return { ...declared, name } as Operation; // its hooks are called with its own answers and replies
}
