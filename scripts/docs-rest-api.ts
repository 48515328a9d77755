/** The REST API as one page of the documentation site, in Markdown, from the server's OpenAPI description. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { ROOT } from "./docs-pages.ts";

const fieldSchema = z.looseObject({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  description: z.string().optional(),
  enum: z.array(z.unknown()).optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  items: z.unknown().optional(),
});
type Field = z.infer<typeof fieldSchema>;

const contentSchema = z.record(z.string(), z.looseObject({ schema: fieldSchema.optional() }));

const operationSchema = z.looseObject({
  tags: z.array(z.string()).default([]),
  summary: z.string().default(""),
  description: z.string().default(""),
  parameters: z
    .array(
      z.looseObject({
        name: z.string(),
        in: z.string(),
        required: z.boolean().optional(),
        schema: fieldSchema,
      }),
    )
    .default([]),
  requestBody: z.looseObject({ content: contentSchema }).optional(),
  responses: z.record(
    z.string(),
    z.looseObject({ description: z.string(), content: contentSchema.optional() }),
  ),
});
type Operation = z.infer<typeof operationSchema>;

const describedSchema = z.looseObject({
  info: z.looseObject({ description: z.string() }),
  tags: z.array(z.looseObject({ name: z.string(), description: z.string() })),
  components: z.looseObject({ schemas: z.record(z.string(), fieldSchema) }),
  paths: z.record(z.string(), z.record(z.string(), operationSchema)),
});

export function restApiPage(): string {
  const text = readFileSync(join(ROOT, "docs/reference/openapi.json"), "utf8");
  const { info, tags, components, paths } = describedSchema.parse(JSON.parse(text));
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  );
  const parts = tags.map(({ name, description }) => {
    const own = all.filter(({ operation }) => operation.tags.includes(name));
    const sections = own.map((one) => section(one.name, one.operation, components.schemas));
    return [`## ${name}`, description, ...sections].join("\n\n");
  });
  return ["# REST API", info.description, ...parts].join("\n\n");
}

type Schemas = Readonly<Record<string, Field>>;

function section(name: string, operation: Operation, schemas: Schemas): string {
  const { summary, description, parameters, requestBody, responses } = operation;
  const given = parameters.map(({ name, in: place, required, schema }) =>
    row(name, { ...schema, description: `${schema.description ?? ""} (${place})` }, required === true),
  );
  const success = Object.entries(responses).find(([status]) => status.startsWith("2"))?.[1];
  const answers = Object.entries(responses).map(
    ([status, response]) => `- **${status}**: ${response.description}`,
  );
  return [
    `### ${name}`,
    escaped(summary),
    escaped(description),
    table("parameter", given),
    table("field of the request", fieldRows(bodyOf(requestBody?.content), schemas)),
    table("field of the answer", fieldRows(bodyOf(success?.content), schemas)),
    answers.join("\n"),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function bodyOf(content: z.infer<typeof contentSchema> | undefined): Field | undefined {
  return content?.["application/json"]?.schema;
}

function fieldRows(field: Field | undefined, schemas: Schemas): readonly string[] {
  const { properties = {}, required = [] } = field === undefined ? {} : resolved(field, schemas);
  return Object.entries(properties).map(([name, one]) =>
    row(name, resolved(fieldSchema.parse(one), schemas), required.includes(name)),
  );
}

function resolved(field: Field, schemas: Schemas): Field {
  return schemas[field.$ref?.split("/").at(-1) ?? ""] ?? field;
}

function table(head: string, rows: readonly string[]): string {
  return rows.length === 0 ? "" : [`| ${head} | type | meaning |`, "|---|---|---|", ...rows].join("\n");
}

function row(name: string, field: Field, isRequired: boolean): string {
  const { type = "", description = "", enum: values } = field;
  const kinds = values === undefined ? [type].flat().join(" or ") : values.join(", ");
  const cells = [`\`${name}\`${isRequired ? ", required" : ""}`, kinds, description];
  return `| ${cells.map((cell) => escaped(cell)).join(" | ")} |`;
}

/** For a cell: no column, row or HTML tag of its own. */
function escaped(cell: string): string {
  return cell.replaceAll("|", "\\|").replaceAll("\n", " ").replaceAll("<", "&lt;");
}
