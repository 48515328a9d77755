/** Reads fields of unchecked values from the host or a model. */

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

export function fieldOf(value: unknown, field: string): unknown {
  return isRecord(value) ? value[field] : undefined;
}

/** Who asks, as the context of a hook says. */
export function callerIn(context: unknown) {
  return { agentId: fieldOf(context, "agentId"), agentSessionKey: fieldOf(context, "sessionKey") };
}

/** A copy; empty if the value is not an object. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? { ...value } : {};
}
