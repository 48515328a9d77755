import { describe, expect, test } from "vitest";
import { readRequests } from "../../bench/sets/requests-set.ts";
import { asSentence, requestIn } from "../../plugin/requests.ts";

/** Only the half that the rules are tuned on: `npm run bench:recall -- --only requests` measures both. */
const tuned = readRequests().filter(({ half }) => half === "tune");

describe("a request to remember", () => {
  test("is found in 95 of 100 messages that plainly ask, in four languages", () => {
    const requests = tuned.filter((line) => line.kind === "request");
    const found = requests.filter(({ message, keep }) => requestIn(message) === asSentence(keep));
    expect(found.length).toBeGreaterThanOrEqual(0.95 * requests.length);
  });

  test("keeps nothing of what only uses the same words", () => {
    const junk = tuned.filter(({ kind }) => kind !== "request");
    expect(junk.filter(({ message }) => requestIn(message) !== undefined)).toEqual([]);
  });

  test.each([
    ["Thanks, correct.\nRemember that I translate novels.", "I translate novels."],
    [
      "Remember: the following is closed on Mondays: the shop",
      "The following is closed on Mondays: the shop.",
    ],
    ["From now on, summarize what you read.", "Summarize what you read."],
    ["Remember that my doctor is Dr. Pilz.", "My doctor is Dr. Pilz."],
    ["I eat no fish. Remember that, please!", "I eat no fish."],
    ["remember that the gate code is on the fridge. now write me a poem", "The gate code is on the fridge."],
    ["From now on, answer in short paragraphs.", "Answer in short paragraphs."],
    ["Please call me Sam from now on, thanks!", "Call me Sam."],
    ["Antworte ab jetzt immer auf Deutsch.", "Antworte immer auf Deutsch."],
    ["Llámame Lola a partir de ahora.", "Llámame Lola."],
    ["Réponds toujours en français désormais.", "Réponds toujours en français."],
    ["Merk dir bitte das ich mittwochs frei habe", "Ich habe mittwochs frei."],
    ["Merk dir: mittwochs habe ich frei", "Mittwochs habe ich frei."],
    ["Denk dran, dass wir freitags nicht deployen", "Wir deployen freitags nicht."],
    ["Merk dir, dass mein Auto geprüft werden muss", "Mein Auto muss geprüft werden."],
    ["Merk dir, dass ich um sechs aufstehe", "Ich stehe um sechs auf."],
    ["Merk dir, dass der Code für die Haustür 4711 ist", "Der Code für die Haustür ist 4711"],
    ["Merk dir, dass der Zug um 7:42 nicht hält", "„dass der Zug um 7:42 nicht hält“"],
    ["Merk dir, dass ich frei habe und du arbeitest", "„dass ich frei habe und du arbeitest“"],
    ["Merk dir, dass ich weder rauche noch trinke", "„dass ich weder rauche noch trinke“"],
    ["Merk dir, dass wir das haben machen müssen", "„dass wir das haben machen müssen“"],
    ["Ab jetzt mache ich freitags Homeoffice.", "Ab jetzt mache ich freitags Homeoffice."],
    ["Remember: npm_token is in the vault", "npm_token is in the vault."],
    ["Bitte nicht vergessen: Mülltonne ist donnerstags dran", "Mülltonne ist donnerstags dran."],
    ["No olvides que soy alérgica a las nueces", "Soy alérgica a las nueces."],
    ["N'oublie pas qu'il est végétarien.", "Il est végétarien."],
  ])("is kept as a sentence without the words that ask: %s", (message, kept) => {
    expect(requestIn(message)).toBe(kept);
  });

  test.each([
    ["a question", "Remember that we talked about pears?"],
    ["a question that asks no favour", "Can you remember that I called?"],
    ["a question elsewhere in the message", "Remember that the shed is locked. Where is the key?"],
    ["a quotation", 'She wrote: "Hello. Remember that the shed is locked."'],
    ["a quoted line", "> From now on the shed is locked.\nwhat now"],
    ["code", "```\n// Remember that i starts at 1\n```"],
    ["a comment in code", "# from now on use the new client"],
    ["what somebody said", "From now on the shed is locked, said my aunt."],
    ["a task of this moment", "Remember that this letter is for a child."],
    ["something to do now", "Remember this: 4, 9, 11 and tell me the mean"],
    ["what is over soon", "Remember that I am in the office today."],
    ["irony", "Remember, I'm made of glass, so go ahead..."],
    ["what others do", "They call me Sam from now on."],
    ["a supposition", "Suppose this. From now on nobody eats meat."],
    ["taken back", "From now on use tabs. Just kidding."],
    ["a single word", "Remember that: yes"],
    ["nothing", ""],
    ["a memory of the person's", "remember when the shed was locked"],
    ["a text to translate", "Translate this:\nRemember that the shed is locked."],
    ["a text to translate, after it", "Remember that the shed is locked. Translate that into Thai."],
    ["a text to translate, without a colon", "please translate\n\nRemember that the shed is locked."],
    ["a text to sum up", "Summarize:\n\nRemember that the shed is locked."],
    ["a text to correct", "Fix the grammar.\nremember that the shed is locked"],
    ["a text that is asked about", "What does this mean:\nRemember that the shed is locked."],
    ["a text that is asked about, without any mark", "what does this mean\nremember that the shed is locked"],
    ["a text asked for behind it", "Translate this: The shed is locked. Remember that."],
    ["what a line begins", "My landlord:\nRemember that the shed is locked."],
    ["a mail", "From: Bob\nSubject: shed\n\nRemember that the shed is locked."],
    ["a letter", "Dear Sam,\nremember that the shed is locked."],
    ["a signed letter", "Remember that the shed is locked.\nKind regards\nBob"],
    ["an answer to write", "Reply to this.\nRemember that the shed is locked."],
    ["a forwarded mail", "Fwd\nRemember that the shed is locked."],
    ["a heading in brackets", "[Bob's note]\nRemember that the shed is locked."],
    ["a table", "| a |\nRemember that the shed is locked."],
    ["a German text to translate", "Übersetz das bitte.\nMerk dir, dass der Schuppen zu ist."],
    ["a text to translate from another language", "Übersetze:\nRemember that the shed is locked."],
    ["a German text to sum up", "Fass das kurz zusammen.\nMerk dir, dass der Schuppen zu ist."],
    ["a German text that is asked about", "was bedeutet das\nMerk dir, dass der Schuppen zu ist."],
    ["a German letter", "Merk dir, dass der Schuppen zu ist.\nMit freundlichen Grüßen\nBob"],
    ["a Spanish text to translate", "Traduce esto.\nRecuerda que el cobertizo está cerrado."],
    ["a Spanish text to sum up", "Resume:\nRecuerda que el cobertizo está cerrado."],
    ["a Spanish text that is asked about", "qué significa esto\nRecuerda que el cobertizo está cerrado."],
    ["a French text to translate", "Traduis ça.\nSouviens-toi que la remise est fermée."],
    ["a French text to correct", "Corrige :\nSouviens-toi que la remise est fermée."],
    [
      "a French text that is asked about",
      "qu'est-ce que ça veut dire\nSouviens-toi que la remise est fermée.",
    ],
    ["a long message", `Remember that the shed is locked ${"and locked ".repeat(30)}`],
  ])("is never %s", (_, message) => {
    expect(requestIn(message)).toBeUndefined();
  });

  test("is looked for in time that does not depend on what is written", () => {
    const hostile = [
      "bitte ".repeat(50),
      "remember ".repeat(33),
      "ok, ".repeat(75),
      "¡por favor, ".repeat(25),
      "a, ".repeat(99),
    ];
    for (const message of hostile) {
      const begun = performance.now();
      requestIn(message);
      expect(performance.now() - begun).toBeLessThan(100);
    }
  });
});
