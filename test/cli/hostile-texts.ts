/** Texts that would control a terminal or mislead its reader if printed unescaped. */

export const HOSTILE_TEXTS: readonly (readonly [name: string, text: string])[] = [
  ["an escape sequence", "\u001b[2J\u001b[31mred"],
  ["the one-byte escape (C1 CSI)", "\u009b31m"],
  ["a clipboard write (OSC 52)", "\u001b]52;c;aGk=\u0007"],
  ["a carriage return", "safe\rrm -rf"],
  ["a backspace", "no\u0008\u0008yes"],
  ["a null", "a\u0000b"],
  ["delete", "a\u007fb"],
  ["right-to-left override", "\u202egpj.exe"],
  ["an isolate", "\u2066x\u2069"],
  ["directional marks", "a\u200eb\u200fc\u061cd"],
  ["line and paragraph separators", "a\u2028b\u2029c"],
  ["invisible tag characters", "hi\u{e0041}there"],
];

/** Independent of the product's patterns: these numbers come from the Unicode charts. A caller may allow line feed and tab. */
export function actsOnATerminal(text: string, allowed = ""): boolean {
  const ranges = [
    [0x00, 0x1f], // C0 controls
    [0x7f, 0x9f], // delete and C1 controls
    [0x61c, 0x61c],
    [0x200e, 0x200f],
    [0x2028, 0x202e],
    [0x2066, 0x2069],
    [0xe0000, 0xe007f],
  ] as const;
  return [...text].some((character) => {
    const code = character.codePointAt(0) ?? 0;
    return !allowed.includes(character) && ranges.some(([first, last]) => code >= first && code <= last);
  });
}
