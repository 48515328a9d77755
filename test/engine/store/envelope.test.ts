/** The envelope uses standard AES-256-GCM, and only unchanged envelopes can be decrypted. */
import { createSecretKey } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HEADER_BYTES, headerOf, openEnvelope, sealEnvelope } from "../../../engine/store/envelope.ts";
import { sized } from "../../run/size.ts";

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const FUZZED = sized(300, 20_000);
const HEADER = Buffer.alloc(HEADER_BYTES, 2);

/** Test cases 13 to 16 of McGrew and Viega, "The Galois/Counter Mode of Operation (GCM)", with 256-bit keys and 96-bit nonces. */
const ZERO_KEY = "00".repeat(32);
const KEY = "feffe9928665731c6d6a8f9467308308".repeat(2);
const NONCE = "cafebabefacedbaddecaf888";
const CONTENT =
  "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72" +
  "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255";
const CIPHERTEXT =
  "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa" +
  "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad";
const VECTORS = [
  { name: 13, key: ZERO_KEY, nonce: "00".repeat(12), associated: "", content: "", ciphertext: "" },
  {
    ...{ name: 14, key: ZERO_KEY, nonce: "00".repeat(12), associated: "", content: "00".repeat(16) },
    ciphertext: "cea7403d4d606b6e074ec5d3baf39d18",
  },
  { name: 15, key: KEY, nonce: NONCE, associated: "", content: CONTENT, ciphertext: CIPHERTEXT },
  {
    ...{ name: 16, key: KEY, nonce: NONCE, associated: "feedfacedeadbeeffeedfacedeadbeefabaddad2" },
    ...{ content: CONTENT.slice(0, 120), ciphertext: CIPHERTEXT.slice(0, 120) },
  },
];
const TAGS = [
  "530f8afbc74536b9a963b4f1c4cb738b",
  "d0d1c8a799996bf0265b98b5d48ab919",
  "b094dac5d93471bdec1a502270e3cc6c",
  "76fc6ece0f4e1768cddf8853bb2d551b",
];

const hex = (text: string): Buffer => Buffer.from(text, "hex");
const keyOf = (bytes: Uint8Array) => createSecretKey(bytes);

/** Forged tags: each single bit flipped, all bits zero, all bits one. */
function forgedTags(tag: Buffer): readonly Buffer[] {
  const flipped = Array.from({ length: 8 * TAG_BYTES }, (_, bit) => withBit(tag, bit));
  return [
    ...flipped,
    Buffer.alloc(TAG_BYTES),
    Buffer.alloc(TAG_BYTES, 0xff),
    tag.map((byte) => ~byte) as Buffer,
  ];
}

function withBit(bytes: Uint8Array, bit: number): Buffer {
  const changed = Buffer.from(bytes);
  changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return changed;
}

// verifies P-disk-sealed-rows
describe.each(VECTORS.map((vector, n) => ({ ...vector, tag: hex(TAGS[n] ?? "") })))(
  "GCM's test case $name",
  ({ key, nonce, associated, content, ciphertext, tag }) => {
    const opened = (forged: Uint8Array) =>
      openEnvelope(
        keyOf(hex(key)),
        hex(associated),
        Buffer.concat([HEADER, hex(nonce), hex(ciphertext), forged]),
      );

    test("opens", () => {
      expect(Buffer.from(opened(tag) ?? []).toString("hex")).toBe(content);
      expect(opened(tag)).toBeDefined();
    });

    test("does not open with any other tag", () => {
      expect(forgedTags(tag).filter((forged) => opened(forged) !== undefined)).toEqual([]);
    });
  },
);

const sealed = fc
  .record({
    key: fc.uint8Array({ minLength: 32, maxLength: 32 }),
    associated: fc.uint8Array({ maxLength: 80 }),
    content: fc.uint8Array({ maxLength: 200 }),
  })
  .map((parts) => ({
    ...parts,
    envelope: sealEnvelope(keyOf(parts.key), HEADER, parts.associated, parts.content),
  }));

/** Opens an envelope like a row's; too short bytes are not an envelope. */
function opens(key: Uint8Array, associated: Uint8Array, envelope: Uint8Array): boolean {
  return headerOf(envelope) !== undefined && openEnvelope(keyOf(key), associated, envelope) !== undefined;
}

// verifies P-disk-sealed-rows
describe(`${FUZZED} envelopes`, () => {
  const tried = fc.record({
    made: sealed,
    place: fc.nat(),
    more: fc.uint8Array({ minLength: 1, maxLength: 40 }),
  });
  const check = (holds: (one: typeof tried extends fc.Arbitrary<infer One> ? One : never) => void) =>
    fc.assert(fc.property(tried, holds), { numRuns: FUZZED });

  test("open with their own key and associated data", () => {
    check(({ made: { key, associated, content, envelope } }) => {
      expect(openEnvelope(keyOf(key), associated, envelope)).toEqual(content);
    });
  });

  test("do not open, and do not throw, with a bit changed behind the header, in the key or in the associated data", () => {
    check(({ made: { key, associated, envelope }, place, more }) => {
      const bits = 8 * (envelope.byteLength - HEADER_BYTES);
      expect(opens(key, associated, withBit(envelope, 8 * HEADER_BYTES + (place % bits)))).toBe(false);
      expect(opens(withBit(key, place % 256), associated, envelope)).toBe(false);
      expect(opens(key, Buffer.concat([associated, more]), envelope)).toBe(false);
    });
  });

  test("do not open, and do not throw, if cut, lengthened or random", () => {
    check(({ made: { key, associated, envelope }, place, more }) => {
      const at = place % envelope.byteLength;
      expect(opens(key, associated, envelope.subarray(0, at))).toBe(false);
      expect(opens(key, associated, envelope.subarray(at + 1))).toBe(false);
      expect(opens(key, associated, Buffer.concat([envelope, more]))).toBe(false);
      expect(opens(key, associated, more)).toBe(false);
    });
  });

  test("never have the same nonce", () => {
    const envelopes = Array.from({ length: FUZZED }, () =>
      sealEnvelope(keyOf(hex(KEY)), HEADER, HEADER, HEADER),
    );
    const nonces = envelopes.map((envelope) =>
      Buffer.from(envelope.subarray(HEADER_BYTES, HEADER_BYTES + NONCE_BYTES)).toString("hex"),
    );
    expect(new Set(nonces).size).toBe(FUZZED);
  });
});
