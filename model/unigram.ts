/**
 * The tokenizer of the model of many languages: SentencePiece's Unigram, over a list of pieces with their scores, one a line. The
 * same pieces as the reference's (`test/data/multilingual-pieces.jsonl`), in a fraction of a general library's memory.
 */

const [UNKNOWN, BEGIN, END] = [0, 1, 2];
/** The first pieces of the list are marks, which no text contains. */
const MARKS = 6;
/** Below the least likely piece, as the reference has it. */
const UNKNOWN_PENALTY = 10;
/** The reference's own map makes blanks of these, and keeps this one, beside Unicode's NFKC. */
const BLANKS = /[▁\u200b\u200e\u200f\ufeff\ufffd]/g;
const KEPT = "～";

/** Gives the ids of a text's pieces, between two marks. */
export type Tokenize = (text: string) => readonly number[];

export function makeUnigram(list: string): Tokenize {
  const lines = list.trimEnd().split("\n");
  const scores = new Float32Array(lines.length);
  const ids = new Map<string, number>();
  let longest = 1;
  for (const [id, line] of lines.entries()) {
    const [score, piece = ""] = line.split("\t");
    scores[id] = Number(score);
    longest = Math.max(longest, piece.length);
    if (id >= MARKS) ids.set(piece, id);
  }
  const unknownScore = scores.reduce((least, score) => Math.min(least, score)) - UNKNOWN_PENALTY;
  return (text) => {
    const normal = normalized(text);
    if (normal === "") return [BEGIN, END];
    // Of each place: the best score up to it, the last piece there, and where that piece begins.
    const best = new Float32Array(normal.length + 1).fill(Number.NEGATIVE_INFINITY);
    const [lastPiece, from] = [new Int32Array(normal.length + 1), new Int32Array(normal.length + 1)];
    best[0] = 0;
    const offer = (begin: number, end: number, id: number, score: number): void => {
      const sum = Math.fround((best[begin] ?? 0) + score); // as the reference counts, which decides between equals
      if (sum <= (best[end] ?? 0)) return;
      [best[end], lastPiece[end], from[end]] = [sum, id, begin];
    };
    for (let begin = 0; begin < normal.length; begin += 1) {
      if (best[begin] === Number.NEGATIVE_INFINITY) continue; // within a surrogate pair
      for (let end = begin + 1; end <= Math.min(normal.length, begin + longest); end += 1) {
        const id = ids.get(normal.slice(begin, end));
        if (id !== undefined) offer(begin, end, id, scores[id] ?? 0);
      }
      const width = (normal.codePointAt(begin) ?? 0) > 0xffff ? 2 : 1;
      if (!ids.has(normal.slice(begin, begin + width))) offer(begin, begin + width, UNKNOWN, unknownScore);
    }
    return [BEGIN, ...bestPath(lastPiece, from), END];
  };
}

/** What is unknown in a row is one piece. */
function bestPath(lastPiece: Int32Array, from: Int32Array): readonly number[] {
  const pieces: number[] = [];
  for (let end = from.length - 1; end > 0; end = from[end] ?? 0) {
    const id = lastPiece[end] ?? UNKNOWN;
    if (id !== UNKNOWN || pieces.at(-1) !== UNKNOWN) pieces.push(id);
  }
  return pieces.reverse();
}

/** In compatible form, with each blank as one `▁`, and one before the first word. */
function normalized(text: string): string {
  const parts = text.replaceAll(BLANKS, " ").split(KEPT);
  const words = parts.map((part) => part.normalize("NFKC")).join(KEPT);
  const plain = words.replaceAll(/[^\S\v]+/g, " ").replaceAll(/^ | $/g, "");
  return plain === "" ? "" : `▁${plain.replaceAll(" ", "▁")}`;
}
