/** Which words count as the same: word forms, spellings, scripts, names. */
import { stemmer } from "@orama/stemmers/english";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { termOf } from "../../recall/analysis/english.ts";
import { LexicalIndex } from "../../recall/lexical/lexical-index.ts";
import { corpusEntry, idOf, keysOf } from "./corpus.ts";

const OTHERS = [
  { key: "other/garden", value: "The garden gate squeaks and wants oil." },
  { key: "other/tax", value: "Tax papers are in the second drawer." },
];

async function finds(value: string, query: string, key = "it"): Promise<boolean> {
  return (await keysOf([{ key, value }, ...OTHERS], query))[0] === key;
}

describe("forms of a word", () => {
  test.each([
    ["The deployment of Konflux is on Tuesday.", "deploying konflux"],
    ["We deployed the billing service by hand.", "deployment of billing"],
    ["Bought the red kettle in Ghent.", "when did I buy the kettle"],
    ["Went to the dentist in May.", "go to the dentist"],
    ["The children take the tram.", "child tram"],
    ["Renewed certificates every quarter.", "certificate renewal quarter"],
    ["Marta's umbrella is green.", "umbrella of Marta"],
    ["I am allergic to walnuts.", "walnut allergy"],
  ])("%s is found by %s", async (value, query) => {
    expect(await finds(value, query)).toBe(true);
  });

  test("a typing error in a long word is tolerated, in a name it is not", async () => {
    expect(await finds("The calibration of the spectrometer is due.", "spectrometr calibration")).toBe(true);
    expect(
      await keysOf(
        [{ key: "k", value: "The port of project Merlin is 4100." }],
        "the port of project Marlin",
      ),
    ).toEqual([]);
  });
});

describe("the term of a word", () => {
  const ENDINGS =
    "ational tional enci anci izer bli alli entli eli ousli ization ation ator alism iveness fulness ousness aliti iviti biliti logi" +
    " icate ative alize iciti ical ful ness al ance ence er ic able ible ant ement ment ent ou ism ate iti ous ive ize sion tion" +
    " s es ies ss ed eed ing y e ll";
  /** No irregular form begins like these. */
  const word = fc
    .tuple(
      fc.constantFrom("zx", "yx"),
      fc.stringMatching(/^[a-z]{1,8}$/),
      fc.constantFrom("", ...ENDINGS.split(" ")),
    )
    .map((parts) => parts.join(""));

  test("is its stem for the stemmer, also where that is not asked", () => {
    const isStemmed = (text: string) => {
      expect(termOf(text)).toBe(stemmer(text).replace(/y$/, "i"));
    };
    fc.assert(fc.property(word, isStemmed), { numRuns: 5_000 });
  });

  test("is kept by an index for its own words, until anything is removed", () => {
    const index = new LexicalIndex();
    for (const key of ["garden", "cellar"])
      index.add(corpusEntry({ key, value: `The ${key} has a squeaking gate` }));
    const sizeWithout = index.sizeBytes;
    expect([index.termOf("squeaking"), index.termOf("attic")]).toEqual([termOf("squeaking"), "attic"]);
    expect(index.sizeBytes).toBeGreaterThan(sizeWithout);
    index.remove(idOf("garden"));
    const sizeAfter = index.sizeBytes;
    index.termOf("squeaking");
    expect(index.sizeBytes).toBeGreaterThan(sizeAfter);
  });
});

describe("spellings", () => {
  test.each([
    ["Der Schlüssel liegt in der Gärtnerstraße.", "schluessel gaertnerstrasse"],
    ["Der Schluessel liegt beim Nachbarn.", "Schlüssel Nachbar"],
    ["La réunion à Montréal est reportée.", "reunion montreal"],
    ["El cumpleaños del niño es en junio.", "cumpleanos nino"],
    ["Benoît maintains the tap.", "benoit tap"],
    ["ＦＵＬＬ width Ｋｅｙｓ are fine.", "full width keys"],
    ["Send the e-mail through the relay.", "email relay"],
    ["The on-call phone is blue.", "oncall phone"],
    ["The database is called mirror.", "data base mirror"],
    ["Straße", "STRASSE"],
  ])("%s is found by %s", async (value, query) => {
    expect(await finds(value, query)).toBe(true);
  });
});

describe("names of programs, files and numbers", () => {
  test.each([
    ["getUserProfile() is slow.", "user profile slow"],
    ["getUserProfile() is slow.", "getUserProfile"],
    ["max_upload_size is 25.", "maxUploadSize"],
    ["retryBackoffMillis starts at 200.", "retry_backoff_millis"],
    ["Logs are in /srv/log/nginx today.", "nginx log"],
    ["The runbook is at https://wiki.acme.example/ops/failover.", "wiki.acme.example"],
    ["Version 3.1.4 broke the export.", "3.1.4 export"],
    ["The standup is at 14:30.", "14:30 standup"],
    ["Written in C++ for speed.", "C++ speed"],
    ["Limited to 6GB of memory.", "6 GB memory"],
    ["The ticket is ATL-482.", "ATL-482"],
  ])("%s is found by %s", async (value, query) => {
    expect(await finds(value, query)).toBe(true);
  });

  test("14:00 is not 1400", async () => {
    expect(await keysOf([{ key: "amount", value: "The fee is 1400." }], "14:00")).toEqual([]);
  });
});

describe("scripts without spaces", () => {
  test.each([
    ["每周一上午十点在三号会议室开例会。", "例会在哪个会议室"],
    ["厨房的瓷砖颜色选定为浅灰色。", "瓷砖颜色"],
    ["本番データベースのバックアップは毎日実行される。", "データベースのバックアップ"],
    ["打ち合わせは大阪支社で行います。", "打ち合わせはどこですか"],
    ["배포는 매주 수요일 오전에만 한다.", "수요일 배포"],
    ["ประชุมทุกวันจันทร์ที่ห้องใหญ่", "ประชุมวันจันทร์"],
    ["下午只喝绿茶。", "茶"],
  ])("%s is found by %s", async (value, query) => {
    expect(await finds(value, query)).toBe(true);
  });

  test.each(["下周五的航班几点起飞？", "明日の天気はどうですか", "비밀번호가 무엇인가요"])(
    "%s finds nothing",
    async (query) => {
      const facts = [
        { key: "a", value: "每周一上午十点在三号会议室开例会。" },
        { key: "b", value: "本番データベースのバックアップは毎日実行される。" },
        { key: "c", value: "배포는 매주 수요일 오전에만 한다." },
      ];
      expect(await keysOf(facts, query)).toEqual([]);
    },
  );

  test("voiced Japanese letters distinguish words", async () => {
    expect(await keysOf([{ key: "a", value: "かき" }], "がぎ")).toEqual([]);
  });
});
