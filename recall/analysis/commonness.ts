/**
 * How much a query's word says about what is asked: nothing (function and question words), little (words of everyday
 * speech that stand in any text), or all that its rarity in the namespace gives it. Judged on the query's side only: the
 * index holds every word, so that a phrase of common words can still be found.
 */
import { WEIGHTS } from "../weights.ts";
import { fold } from "./fold-letters.ts";

const list = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/).map(fold));

const ENGLISH = list(`
a an the this that these those some any each every either neither both all no not nor none such
i me my mine myself we us our ours ourselves you your yours yourself he him his himself she her hers herself
it its itself they them their theirs themselves one ones someone anyone everyone somebody anybody everybody
who whom whose which what when where why how whether whatever whoever whenever wherever
be am is are was were been being do does did doing done have has had having will would shall should can could may might must
ought need cannot don didn doesn isn aren wasn weren won wouldn shouldn couldn hasn haven hadn ain let
and or but if then else so because as than though although while until unless since
of at by for with about against between into through during before after above below to from up down in out on off over under
within without upon onto toward towards among across along around via per
many much more most less least few fewer several often lot lots bit
again further once here there now just only own same too very also ever never always still yet already even rather quite
s t d m ll re ve hey hi hello please thanks thank okay ok yes yeah`);

/** How people ask a memory ("remind me what I said about …"): words that frame a question and are no part of it. */
const FRAME = list(`
thing things something anything stuff tell tells told say says said saying know knew known think thought
remember remembered remind recall mention mentioned forget forgot once maybe regarding concerning`);

const EVERYDAY = list(`
everything nothing kind kinds type types sort way ways other others another next last first new old good great better best bad big small little
time times today yesterday tomorrow recently lately ago soon later currently usually often sometimes
ask asked want wanted like liked get got go goes going went come came
make made take took give gave find found look looking see saw seen use used using try tried put keep kept
talk talked discuss discussed happen happened called name named long
live stay feel felt start started plan plans decide decided main current particular specific different
person people someone somebody place information info detail details fact note notes
preference preferences preferred choice choices decision decisions reason reasons setup setting settings option options
value values topic idea ideas issue issues case cases`);

const GERMAN =
  list(`der die das den dem des ein eine einen einem einer eines kein keine und oder aber wenn dann weil dass ob als wie
    ich mich mir mein meine meinen meinem meiner du dich dir dein deine er ihn ihm sein seine sie ihr ihre es wir uns unser
    unsere ist sind war waren bin bist sein hat haben hatte wird werden wurde kann können muss soll darf mag nicht auch nur
    schon noch sehr hier da dort wer was wann wo wohin woher warum weshalb welche welcher welches welchen wieviel viele
    in im an am auf aus bei beim bis durch für gegen hinter mit nach neben ohne seit über um unter von vom vor zu zum zur
    zwischen gilt kommt kommen liegt gibt man so mal bitte`);

const OTHER_LANGUAGES: readonly ReadonlySet<string>[] = [
  GERMAN,
  list(`le la les l un une des du de d au aux et ou mais si donc car que qui quoi dont où quand comment pourquoi combien quel
    quelle quels quelles je j me m moi mon ma mes tu te toi ton ta tes il elle on nous notre nos vous votre vos ils elles
    leur leurs se s son sa ses ce cet cette ces c est sont était être ai as a avons avez ont avoir fait pas ne n plus très
    dans en par pour sur sous avec sans chez vers entre à y est-ce qu`),
  list(`el la los las un una unos unas lo al del de y o u pero si que qué quien quién cual cuál cuales cuándo cuando dónde
    donde cómo como cuánto cuántos cuanto por porque para con sin en entre sobre hasta desde a mi mis tu tus su sus nuestro
    nuestra yo me te se le les nos es son era ser está están estar fue ha han he hay no sí más muy ya también este esta
    estos estas ese esa eso esto`),
  list(`o a os as um uma uns umas do da dos das no na nos nas ao aos de em por para com sem e ou mas se que quem qual quais
    quando onde como quanto quantos porque eu me meu minha meus minhas tu te teu tua ele ela nós nos nosso nossa eles elas
    seu sua seus suas é são era ser está estão estar foi há tem ter não sim mais muito já também este esta isto isso`),
  list(`il lo la i gli le un uno una di del dello della dei degli delle a al allo alla ai agli alle da dal dalla in nel nella
    con su sul sulla per tra fra e o ma se che chi cosa quando dove come perché quanto quale quali io mi mio mia tu ti tuo
    tua lui lei noi ci nostro voi vi loro è sono era essere ha hanno avere non più molto anche questo questa`),
  list(`de het een en of maar als dan dat die dit deze wie wat waar wanneer waarom hoe welke ik mij mijn je jij jouw hij hem
    zijn zij haar wij ons onze jullie ze hun is was waren ben bent heeft hebben had wordt worden kan moet mag zal niet ook
    nog al er hier daar in op aan bij van voor met naar om over tot uit te door tegen`),
];

/** Chinese, Japanese and Korean words that ask or join; the platform's word breaker cuts them out. */
const UNSPACED = list(`
的 了 吗 呢 吧 啊 是 在 有 和 与 或 我 你 他 她 它 我们 你们 他们 这 那 哪 哪个 哪里 哪儿 哪家 哪一 一 个 家 什么 什么时候 时候 哪天 哪些 哪年 哪月 几号 多久 多大 多长 多远 如何 为何 何时 何地 何处 是否 怎么 怎样 为什么 谁
多少 几 几点 几个 请问 要 会 能 可以 吧 就 都 也 不 没 没有 被 把 从 到 对 给 前 后 做 需要
の は が を に へ で と も や か から まで より です ます でし まし た だ て い し する します しま さ れ る ある いる 行い 行う この その あの これ それ どこ
どう 何 なに いつ 誰 だれ なぜ どの どれ ください ですか ますか される され 時 何時 ん な い
은 는 이 가 을 를 에 에서 의 와 과 도 로 으로 만 무엇 무슨 언제 어디 어디서 누구 왜 어떻게 어느 몇 하나요 하나 합니까 인가요 입니까 입니다 있나요 하는 한다
하지 않는다 하고`);

/** Share of a word's own weight that it keeps in a query. */
export const FUNCTION_WORD = 0;
export const CONTENT_WORD = 1;

/** Weights the folded words of one query, in order. */
export function commonnessOf(words: readonly string[]): readonly number[] {
  const foreign = languageOf(words);
  return words.map((word) => {
    if (isFunctionWord(word) || foreign?.has(word) === true) return FUNCTION_WORD;
    return EVERYDAY.has(word) ? WEIGHTS.words.everyday : CONTENT_WORD;
  });
}

function isFunctionWord(word: string): boolean {
  return ENGLISH.has(word) || FRAME.has(word) || UNSPACED.has(word);
}

/** True when the query is German, whose nouns all have capitals. */
export function isGerman(words: readonly string[]): boolean {
  return languageOf(words) === GERMAN;
}

/** The other language whose function words the query speaks, if it speaks one more than English. */
function languageOf(words: readonly string[]): ReadonlySet<string> | undefined {
  const hits = (language: ReadonlySet<string>): number => words.filter((word) => language.has(word)).length;
  let best: ReadonlySet<string> | undefined;
  let most = hits(ENGLISH);
  for (const language of OTHER_LANGUAGES) {
    const count = hits(language);
    if (count > most && count > 1) {
      best = language;
      most = count;
    }
  }
  return best;
}
