/** Validates requests and answers against Ollama's own description of its API (test/data/ollama-openapi.yaml). */
import { fileURLToPath } from "node:url";
import { dereference } from "@readme/openapi-parser";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

const FILE = fileURLToPath(new URL("../data/ollama-openapi.yaml", import.meta.url));

type Schema = Readonly<Record<string, unknown>>;

export interface ApiDescription {
  /** The request's errors, one line each, including unknown fields. */
  requestFaults(method: string, path: string, body: unknown): readonly string[];
  /** The answer's errors. */
  answerFaults(
    method: string,
    path: string,
    status: number,
    contentType: string,
    body: unknown,
  ): readonly string[];
}

export async function readApiDescription(): Promise<ApiDescription> {
  // The parser's types cover three versions of OpenAPI, so each value is checked when it is read.
  const { paths } = record(await dereference(FILE));
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  const operationOf = (method: string, path: string) => at(paths, path, method.toLowerCase());
  return {
    requestFaults: (method, path, body) => {
      const operation = operationOf(method, path);
      if (operation === undefined) return [`${method} ${path} is not in the description`];
      const schema = at(operation, "requestBody", "content", "application/json", "schema");
      if (schema === undefined) return body === undefined ? [] : [`${method} ${path} takes no body`];
      return faultsOf(ajv.compile(closed(schema)), body);
    },
    answerFaults: (method, path, status, contentType, body) => {
      const schema =
        status < 400
          ? at(operationOf(method, path), "responses", String(status), "content", contentType, "schema")
          : ERROR;
      if (schema === undefined) return [`${method} ${path} has no answer ${status} of ${contentType}`];
      return faultsOf(ajv.compile(closed(schema)), body);
    },
  };
}

/** `components.schemas.ErrorResponse`, with its only field required. */
const ERROR: Schema = { type: "object", required: ["error"], properties: { error: { type: "string" } } };

/** Forbids additional fields in objects with named fields, at any depth: a misspelt field must not pass. */
function closed(schema: unknown): Schema {
  const copy = Object.fromEntries(
    Object.entries(record(schema)).map(([key, value]) => [key, isObject(value) ? closedDeep(value) : value]),
  );
  return "properties" in copy ? { ...copy, additionalProperties: false } : copy;
}

function closedDeep(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closedDeep);
  return isObject(value) ? closed(value) : value;
}

function faultsOf(validate: ValidateFunction, body: unknown): readonly string[] {
  if (validate(body)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}

function at(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce((inner: unknown, key) => (isObject(inner) ? record(inner)[key] : undefined), value);
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

function record(value: unknown): Record<string, unknown> {
  return isObject(value) ? Object.fromEntries(Object.entries(value ?? {})) : {};
}
