/**
 * Detects keys that look alike, by their skeletons as defined in UTS #39.
 *
 * The attacker gets a fact stored beside another under a key that a person cannot tell from it, "dеploy" with a Cyrillic е, so
 * that it is mistaken for the other in a list or forgotten in its place. A new key that looks like an existing one is refused.
 * Keys of any script are fine when nothing looks like them. So are two ASCII keys, such as "item1" and "iteml": a keyboard tells
 * those apart, and refusing them would refuse honest keys.
 */
import { invalidField } from "../errors.ts";
import { CONFUSABLES } from "./confusables-data.ts";
import { harmlessLine } from "./hostile-text.ts";

/** The keys of one memory, indexed by skeleton. */
export class KeyLooks {
  readonly #keys = new Map<string, Set<string>>();

  /** Different looks. */
  get size(): number {
    return this.#keys.size;
  }

  add(key: string): void {
    const look = skeletonOf(key);
    const alike = this.#keys.get(look);
    if (alike === undefined) this.#keys.set(look, new Set([key]));
    else alike.add(key);
  }

  /** Another key that looks like this new one; undefined when the key already exists. */
  lookalikeOf(key: string): string | undefined {
    const alike = this.#keys.get(skeletonOf(key));
    if (alike === undefined || alike.has(key)) return undefined;
    return [...alike].find((known) => beyondAscii(known) !== beyondAscii(key));
  }

  /** Throws `invalid_input`, naming the other key. */
  refuseLookalike(key: string): void {
    const other = this.lookalikeOf(key);
    if (other === undefined) return;
    throw invalidField(
      "key",
      `looks like the existing key "${harmlessLine(other)}", spelt with other letters; use that one, or choose a distinct key`,
    );
  }
}

/** Equal for two texts that look alike. Not for display. */
function skeletonOf(text: string): string {
  const visible = text.normalize("NFD").replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "");
  return Array.from(visible, (character) => prototypes().get(character) ?? character)
    .join("")
    .normalize("NFD");
}

function beyondAscii(key: string): string {
  return key.replaceAll(/\p{ASCII}/gu, "");
}

let made: ReadonlyMap<string, string> | undefined;

function prototypes(): ReadonlyMap<string, string> {
  made ??= new Map(
    CONFUSABLES.trim()
      .split("\n")
      .flatMap((line) => {
        const [look = "", characters = ""] = line.split(":");
        return characters.split(" ").map((character) => [textOf(character), textOf(look)] as const);
      }),
  );
  return made;
}

function textOf(codePoints: string): string {
  return String.fromCodePoint(...codePoints.split(" ").map((hex) => Number.parseInt(hex, 16)));
}
