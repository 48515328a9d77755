/** The published LoCoMo file is parsed correctly: sessions, times, captions, and evidence in several notations. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { conversationsOfPublished } from "../../bench/recall/conversations.ts";

/** Made up for this test, in the form of the published file. */
const SAMPLES = [
  {
    sample_id: "conv-7",
    conversation: {
      speaker_a: "Ada",
      speaker_b: "Bo",
      session_1_date_time: "1:56 pm on 8 May, 2023",
      session_1: [
        { speaker: "Ada", dia_id: "D1:1", text: "I found a snail." },
        { speaker: "Bo", dia_id: "D1:2", text: "Show me!", blip_caption: "a photo of a snail" },
      ],
      session_2_date_time: "12:05 am on 1 January, 2024",
      session_2: [{ speaker: "Ada", dia_id: "D2:1", text: "Happy new year." }],
      session_3_date_time: "9:00 am on 2 January, 2024",
    },
    qa: [
      { question: "What did Ada find?", answer: "a snail", evidence: ["D1:1"], category: 4 },
      { question: "What was shown when?", answer: "…", evidence: ["D1:02; D2:1", "D9:9"], category: 1 },
      { question: "Who is Cy?", adversarial_answer: "…", evidence: ["D1:1", "D1:1"], category: 5 },
      { question: "Without evidence?", answer: "…", evidence: [], category: 3 },
    ],
  },
];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "helmdeck-locomo-"));
  writeFileSync(join(folder, "locomo10.json"), JSON.stringify(SAMPLES));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a conversation's turns become facts under their session, twenty seconds apart", () => {
  const [conversation] = conversationsOfPublished(join(folder, "locomo10.json"));
  expect(conversation?.name).toBe("conv-7");
  expect(conversation?.facts).toEqual([
    {
      key: "session_1/D1:1",
      value: "Ada: I found a snail.",
      category: "conversation",
      tags: ["ada"],
      created_at: "2023-05-08T13:56:00.000Z",
      conversation_id: "session_1",
    },
    {
      key: "session_1/D1:2",
      value: "Bo: Show me! [image: a photo of a snail]",
      category: "conversation",
      tags: ["bo"],
      created_at: "2023-05-08T13:56:20.000Z",
      conversation_id: "session_1",
    },
    {
      key: "session_2/D2:1",
      value: "Ada: Happy new year.",
      category: "conversation",
      tags: ["ada"],
      created_at: "2024-01-01T00:05:00.000Z",
      conversation_id: "session_2",
    },
  ]);
});

test("questions keep existing evidence, without duplicates; those without any are dropped", () => {
  const [conversation] = conversationsOfPublished(join(folder, "locomo10.json"));
  expect(conversation?.questions).toEqual([
    { question: "What did Ada find?", evidence: ["session_1/D1:1"], category: 4 },
    { question: "What was shown when?", evidence: ["session_1/D1:2", "session_2/D2:1"], category: 1 },
    { question: "Who is Cy?", evidence: ["session_1/D1:1"], category: 5 },
  ]);
});
