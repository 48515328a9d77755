/** English word forms: irregular ones, then the Snowball stemmer, so that "went" matches "go" and "deploying" matches "deployment". */
import { stemmer } from "@orama/stemmers/english";

/** Each lemma, followed by the forms that stemming does not reduce to it. */
const IRREGULAR = `
be is are was were been being am; have has had having; do does did done doing; go went gone goes; buy bought; bring brought;
think thought; catch caught; teach taught; seek sought; fight fought; sell sold; tell told; say said; pay paid; lay laid;
hear heard; make made; take took taken; shake shook shaken; give gave given; forgive forgave forgiven; get got gotten;
forget forgot forgotten; see saw seen; know knew known; grow grew grown; throw threw thrown; fly flew flown; blow blew blown;
draw drew drawn; write wrote written; ride rode ridden; drive drove driven; rise rose risen; speak spoke spoken;
break broke broken; choose chose chosen; steal stole stolen; freeze froze frozen; wake woke woken; wear wore worn;
tear tore torn; swear swore sworn; begin began begun; swim swam swum; sing sang sung; ring rang rung;
drink drank drunk; run ran; come came; become became; find found; stand stood; understand understood; hold held; keep kept;
sleep slept; sweep swept; weep wept; feel felt; meet met; lead led; leave left; lose lost; send sent; spend spent; lend lent;
build built; bend bent; mean meant; dream dreamt; learn learnt; burn burnt; win won; sit sat; shoot shot; light lit;
eat ate eaten; fall fell fallen; bite bit bitten; hide hid hidden; dig dug; stick stuck; strike struck; hang hung; feed fed;
bleed bled; breed bred; spin spun; swing swung; sink sank sunk; shrink shrank shrunk; spring sprang sprung; deal dealt;
kneel knelt; bind bound; shine shone; show shown; sew sewn; prove proven; lie lain; die dying; tie tying;
child children; man men; woman women; person people; foot feet; tooth teeth; mouse mice; goose geese; knife knives;
wife wives; life lives; half halves; shelf shelves; wolf wolves; loaf loaves; thief thieves; criterion criteria;
leaf leaves; calf calves; basis bases; axis axes; grind ground; bear bore borne; wind wound; datum data; index indices indexes; appendix appendices; vertex vertices; matrix matrices; analysis analyses; crisis crises;
add added adding; good better best; bad worse worst; far further farther furthest`;

const LEMMA_BY_FORM = readIrregular(IRREGULAR);
/** Forms above that are also words of their own, or regular forms of another word: "she lives", "the red rose", "a flu shot". */
const AMBIGUOUS =
  /^(?:lives|leaves|calves|halves|shelves|thieves|axes|bases|analyses|saw|felt|found|fell|lay|rose|wound|ground|bore|bound|left|shot|bit|thought|spoke|stole|rung|won|lost|broke|drunk|lit|fed|led|better|best|worse|data)$/;
const ENGLISH_WORD = /^[a-z]{3,40}$/;

/** The index and query term of a folded word. Numbers and words of other scripts are their own terms. */
export function termOf(word: string): string {
  if (!ENGLISH_WORD.test(word)) return word;
  return stemOf(LEMMA_BY_FORM.get(word) ?? word);
}

/** The term of a form's other reading: "lives" is a form of "life", and of "live". Undefined for most words. */
export function otherTermOf(word: string): string | undefined {
  return AMBIGUOUS.test(word) ? stemOf(word) : undefined;
}

/** Each ending that a rule of the stemmer begins with. */
const HAS_ENDING = /(?:[eisy]|al|ant|ator|ed|ent|er|ful|ic|ing|ism|ll|ou|[st]ion)$/;

function stemOf(word: string): string {
  // The stemmer compiles its patterns anew for each word.
  if (!HAS_ENDING.test(word)) return word;
  const stem = stemmer(word);
  // The stemmer turns "deployment" into "deploy" but "deploying" into "deploi".
  return stem.endsWith("y") ? `${stem.slice(0, -1)}i` : stem;
}

function readIrregular(table: string): ReadonlyMap<string, string> {
  const lemmas = new Map<string, string>();
  for (const row of table.split(";")) {
    const [lemma = "", ...forms] = row.trim().split(/\s+/);
    for (const form of forms) lemmas.set(form, lemma);
  }
  return lemmas;
}
