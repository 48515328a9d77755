/** Sealing: only an unchanged row can be decrypted. */
import { createDecipheriv, hkdfSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { associatedData, sealEnvelope } from "../../../engine/store/envelope.ts";
import { KeyRing, SealingKeys, type StoredKeys } from "../../../engine/store/key-ring.ts";
import { parseKey } from "../../../engine/store/master-key.ts";
import { type ClearColumns, Sealer } from "../../../engine/store/sealing.ts";
import { encodeContent } from "../../../engine/store/writer.ts";
import { bytes, text } from "../../contract/rig.ts";

const HEX = "00112233445566778899aabbccddeeff".repeat(2);
const STORE_ID = new Uint8Array(16).fill(5);
const OTHER_ID = new Uint8Array(16).fill(6);

const sealer = sealerOf(HEX);
const stranger = sealerOf("ff".repeat(32));

function sealerOf(hex: string, storeId = STORE_ID): Sealer {
  const key = parseKey(hex, "test");
  const ring = KeyRing.open(key, { check: new SealingKeys(key).check, storeId });
  if (ring === undefined) throw new Error("the key is the store's own");
  return new Sealer({ ring });
}

function sealed(value: string, by = sealer): Uint8Array {
  return by.seal(COLUMNS, { value: bytes(value) });
}

const COLUMNS: ClearColumns = {
  seq: 7,
  id: `mem_${"0".repeat(32)}`,
  namespace: "ana",
  origin: "fact",
  key: "editor",
  category: "user_facts",
  tags: '["a"]',
  createdAt: 1_000,
  updatedAt: 2_000,
  expiresAt: 3_000,
  digest: new Uint8Array(32).fill(9),
};

// verifies P-disk-sealed-rows
describe("a sealed value", () => {
  const vim = sealed("vim");

  test("opens in its own row", () => {
    expect(text(sealer.open(COLUMNS, vim)?.value)).toBe("vim");
  });

  test("may be empty or contain any byte", () => {
    for (const value of [new Uint8Array(0), Uint8Array.from({ length: 256 }, (_, i) => i)]) {
      expect(sealer.open(COLUMNS, sealer.seal(COLUMNS, { value }))).toEqual({ value });
    }
  });

  test("is different each time, and has the minimum length", () => {
    const again = sealed("vim");
    expect(Buffer.compare(vim, again)).not.toBe(0);
    expect(vim).toHaveLength(1 + 8 + 12 + 2 + 3 + 16);
  });

  test("never repeats a nonce", () => {
    const nonces = Array.from({ length: 1_000 }, () =>
      Buffer.from(sealed("x").subarray(9, 21)).toString("hex"),
    );
    expect(new Set(nonces).size).toBe(1_000);
  });

  const changed: { readonly [column in keyof ClearColumns]: readonly ClearColumns[column][] } = {
    seq: [6, 8, 70],
    id: [`mem_${"0".repeat(31)}1`, ""],
    namespace: ["ben", "ana:s", "Ana"],
    origin: ["audit", "cache", "pack"],
    key: ["Editor", "editor ", ""],
    category: ["tools", ""],
    tags: ["[]", '["a"] ', '["b"]'],
    createdAt: [999, 0],
    updatedAt: [2_001, 3_000],
    expiresAt: [3_001, null, 0],
    digest: [new Uint8Array(32), new Uint8Array(31).fill(9), new Uint8Array(0)],
  };
  for (const [column, values] of Object.entries(changed)) {
    test(`does not open when ${column} was changed`, () => {
      for (const value of values) {
        expect(sealer.open({ ...COLUMNS, [column]: value }, vim)).toBeUndefined();
      }
    });
  }

  test("does not open if text was moved from one column into the next", () => {
    const moved: readonly Partial<ClearColumns>[] = [
      { namespace: "an", origin: "afact" },
      { namespace: "anaf", origin: "act" },
      { key: "editoruser", category: "_facts" },
      { createdAt: 100, updatedAt: 2000 },
      { createdAt: 10_002, updatedAt: 0 },
      { updatedAt: 20_003, expiresAt: 0 },
    ];
    for (const columns of moved) expect(sealer.open({ ...COLUMNS, ...columns }, vim)).toBeUndefined();
  });

  test("does not open if an expiry was added or removed", () => {
    const endless = { ...COLUMNS, expiresAt: null };
    const sealedEndless = sealer.seal(endless, { value: bytes("vim") });
    expect(text(sealer.open(endless, sealedEndless)?.value)).toBe("vim");
    expect(sealer.open({ ...endless, expiresAt: 0 }, sealedEndless)).toBeUndefined();
  });

  test("does not open if any of its bits was changed", () => {
    for (let bit = 0; bit < vim.byteLength * 8; bit++) {
      const copy = Uint8Array.from(vim);
      const at = bit >> 3;
      copy[at] = (copy[at] ?? 0) ^ (1 << (bit & 7));
      expect(sealer.open(COLUMNS, copy)).toBeUndefined();
    }
  });

  test("does not open if it was cut or lengthened", () => {
    for (let length = 0; length < vim.byteLength; length++) {
      expect(sealer.open(COLUMNS, vim.subarray(0, length))).toBeUndefined();
    }
    expect(sealer.open(COLUMNS, Buffer.concat([vim, Uint8Array.of(0)]))).toBeUndefined();
    expect(sealer.open(COLUMNS, vim.subarray(1))).toBeUndefined();
  });

  test("does not open under another key", () => {
    expect(stranger.open(COLUMNS, vim)).toBeUndefined();
  });

  test("does not open under another key that claims its key id", () => {
    const claimed = Uint8Array.from(sealed("vim", stranger));
    claimed.set(vim.subarray(0, 9));
    expect(sealer.open(COLUMNS, claimed)).toBeUndefined();
  });

  // verifies P-disk-sealed-rows
  test("does not open in another store under the same key", () => {
    expect(sealerOf(HEX, OTHER_ID).open(COLUMNS, vim)).toBeUndefined();
  });

  const writer = { surface: "openclaw", agent: "main", sessionKind: "direct" };
  const formerEnd = { expiresAt: 7_000, ending: "chosen", at: 5_000 } as const;
  const LIVES = [
    {},
    { ending: "default" },
    { ending: "chosen" },
    { ending: "default", confirmedAt: 5_000 },
    { ending: "chosen", formerEnd },
    { ending: "default", confirmedAt: 5_000, formerEnd },
  ] as const;
  const ABOUT = [{}, { writer: { surface: "cli" } }, { writer }].flatMap((named) =>
    LIVES.flatMap((life) =>
      [{}, { conversationId: "call/2026-03" }].map((turn) => ({ ...named, ...life, ...turn })),
    ),
  );

  test.each(ABOUT)("keeps what was named besides its value, and nothing else: %j", (about) => {
    const content = { value: bytes("vim"), ...about };
    expect(sealer.open(COLUMNS, sealer.seal(COLUMNS, content))).toEqual(content);
  });

  // 0.2 and 0.3 find a row unreadable if this list has neither.
  test.each(ABOUT.slice(1))("names a writer or the mark for earlier versions: %j", (about) => {
    const content = Buffer.from(encodeContent({ value: bytes("vim"), ...about }));
    const [surface, , , mark] = JSON.parse(content.toString("utf8", 2, 2 + content.readUInt16BE()));
    expect(typeof surface === "string" || mark === 1).toBe(true);
  });

  // Decrypts with independent code to pin the format on disk: the key and the row are enough to decrypt.
  test("is AES-256-GCM over length-prefixed columns, as the format specifies", () => {
    const key = new Uint8Array(
      hkdfSync("sha256", Buffer.from(HEX, "hex"), "", "helmdeck-memory/v1/seal", 32),
    );
    const decipher = createDecipheriv("aes-256-gcm", key, vim.subarray(9, 21), { authTagLength: 16 });
    const fields = [
      ...["id", "namespace", "origin", "key", "category", "tags"].map((name) => COLUMNS[name as "id"]),
      ...["7", "1000", "2000", "3000"],
    ].map((field) => Buffer.from(field));
    const prefixed = [...fields, Buffer.from(COLUMNS.digest), Buffer.from(STORE_ID)].flatMap((field) => [
      lengthOf(field),
      field,
    ]);
    decipher.setAAD(Buffer.concat([vim.subarray(0, 9), ...prefixed]));
    decipher.setAuthTag(vim.subarray(vim.byteLength - 16));
    const opened = Buffer.concat([decipher.update(vim.subarray(21, -16)), decipher.final()]);
    expect(opened.toString()).toBe("\0\0vim");
    expect(vim[0]).toBe(2);
  });
});

describe("a row with a version 1 envelope", () => {
  const keys = new SealingKeys(parseKey(HEX, "test"));
  const stored: StoredKeys = { check: keys.check, storeId: STORE_ID };

  /** An envelope as version 0.1 sealed it: without store and writer. */
  function firstEnvelope(): Uint8Array {
    const fields = [
      ...["id", "namespace", "origin", "key", "category", "tags"].map((name) => COLUMNS[name as "id"]),
      ...["7", "1000", "2000", "3000"],
    ];
    return sealEnvelope(
      keys.entries,
      keys.firstHeader,
      associatedData(keys.firstHeader, fields, COLUMNS.digest),
      bytes("vim"),
    );
  }

  test.each([
    ["opens in a file of an older program", { ...stored, legacy: true as const }, true],
    ["opens with the key's mark", { ...stored, legacy: keys.legacyMark(STORE_ID) }, true],
    ["does not open without a mark", stored, false],
    ["does not open with another store's mark", { ...stored, legacy: keys.legacyMark(OTHER_ID) }, false],
    ["does not open with a forged mark", { ...stored, legacy: new Uint8Array(32) }, false],
  ])("%s", (_, store, opens) => {
    const ring = KeyRing.open(parseKey(HEX, "test"), store);
    const opened = ring && new Sealer({ ring }).open(COLUMNS, firstEnvelope());
    expect(opened).toEqual(opens ? { value: bytes("vim") } : undefined);
  });
});

describe("the digest on disk", () => {
  const id = COLUMNS.id;

  test("identifies only the same value of the same entry", () => {
    const digest = sealer.digest(id, bytes("vim"));
    expect(digest).toHaveLength(32);
    expect(sealer.digest(id, bytes("vim"))).toEqual(digest);
    const others = [
      sealer.digest(id, bytes("Vim")),
      sealer.digest(`mem_${"1".repeat(32)}`, bytes("vim")),
      stranger.digest(id, bytes("vim")),
    ];
    for (const other of others) expect(other).not.toEqual(digest);
  });
});

function lengthOf(field: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(field.byteLength);
  return length;
}
