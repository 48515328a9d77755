/** The master key: accepted forms, and that no text reveals it. */
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { MasterKey, parseKey } from "../../../engine/store/master-key.ts";

const HEX = "00112233445566778899aabbccddeeff".repeat(2);

/** Whether the text contains any four consecutive digits of the key. */
function showsKey(text: string): boolean {
  return Array.from({ length: HEX.length - 3 }, (_, i) => HEX.slice(i, i + 4)).some((part) =>
    text.toLowerCase().includes(part),
  );
}

describe("a key", () => {
  test("is 64 hexadecimal digits, in either case, and always derives the same subkeys", () => {
    const [lower, upper] = [parseKey(HEX, "a"), parseKey(HEX.toUpperCase(), "b")];
    expect(lower.deriveBytes("x", 32)).toEqual(upper.deriveBytes("x", 32));
  });

  test("derives an unrelated subkey for each purpose", () => {
    const key = parseKey(HEX, "a");
    const derived = ["seal", "digest", "key id", "key check"].map((purpose) =>
      Buffer.from(key.deriveBytes(purpose, 32)).toString("hex"),
    );
    expect(new Set([...derived, HEX]).size).toBe(5);
  });

  // Computed with HKDF-SHA256 (RFC 5869) in other code, so that a change in this code cannot make databases unreadable.
  test("derives subkeys as the file format specifies", () => {
    const key = parseKey(HEX, "a");
    expect(Buffer.from(key.deriveBytes("key id", 8)).toString("hex")).toBe("7d746fbd1c3bac67");
  });

  // verifies P-key-never-shown
  test("is never shown in any text form", () => {
    const key = parseKey(HEX, "a");
    const texts = [
      `${key}`,
      JSON.stringify({ key }),
      inspect(key, { showHidden: true, depth: 9 }),
      inspect({ nested: { key } }),
      JSON.stringify(Object.entries(key)),
      JSON.stringify(structuredClone(Object.assign({}, key))),
      String(Object.getOwnPropertyNames(key)),
    ];
    for (const text of texts) expect(showsKey(text)).toBe(false);
    expect(texts[0]).toBe("[MasterKey]");
  });

  test("is a copy: changing the bytes afterwards has no effect", () => {
    const bytes = Buffer.from(HEX, "hex");
    const key = new MasterKey(bytes);
    const before = key.deriveBytes("x", 32);
    bytes.fill(0);
    expect(key.deriveBytes("x", 32)).toEqual(before);
  });

  const malformed: Readonly<Record<string, string>> = {
    empty: "",
    "one digit short": HEX.slice(1),
    "one digit long": `${HEX}0`,
    "with a blank before": ` ${HEX}`,
    "with a newline after": `${HEX}\n`,
    "with a newline inside": `${HEX.slice(0, 32)}\n${HEX.slice(33)}`,
    "with a letter that is no digit": `${HEX.slice(1)}g`,
    "with a prefix": `0x${HEX.slice(2)}`,
    "in full-width digits": HEX.replaceAll("0", "０"),
    "a passphrase": "correct horse battery staple",
    base64: Buffer.from(HEX, "hex").toString("base64"),
  };
  for (const [what, text] of Object.entries(malformed)) {
    test(`${what} is key_malformed; the message names the source and does not show its content`, () => {
      const error = thrownBy(() => parseKey(text, "HELMDECK_MEMORY_KEY"));
      expect(error).toMatchObject({ code: "key_malformed", details: { source: "HELMDECK_MEMORY_KEY" } });
      expect(error.message).toContain("HELMDECK_MEMORY_KEY");
      expect(error.message).toContain("64 hexadecimal digits");
      expect(showsKey(inspect(error, { depth: 9, showHidden: true }).split("\n    at ")[0] ?? "")).toBe(
        false,
      );
      if (text.length > 3) expect(inspect(error, { depth: 9 })).not.toContain(text.trim());
    });
  }

  test("of another number of bytes is refused", () => {
    for (const length of [0, 16, 31, 33, 64]) {
      expect(thrownBy(() => new MasterKey(new Uint8Array(length)))).toMatchObject({ code: "key_malformed" });
    }
  });
});

function thrownBy(work: () => unknown): Error {
  try {
    work();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error("nothing was thrown");
}
