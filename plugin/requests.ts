/**
 * Finds what a person plainly asks to remember in a message: "Remember that …", "From now on …", "Merke dir, dass …".
 *
 * Rules for English, German, Spanish and French, without a model. What is found is stored without another question, so every
 * doubt is a no: questions, quotations, code, what others said, what holds for one task only, irony. They are tuned on half
 * `tune` of test/data/requests.jsonl (`npm run bench:recall -- --only requests`).
 */

import { mainClause } from "./german-clause.ts";

const MESSAGE_MAX_CHARS = 300;
const LEAST_WORDS = 2;

/** How a language asks. Everything is in lower case, and matched whatever the case. */
interface Language {
  /** What may stand before the words that ask, in the same sentence. */
  readonly lead: string;
  /** Words that ask, with what joins them to what to remember. */
  readonly asks: readonly string[];
  /** The same as a polite question; it may end in a question mark. */
  readonly questions: readonly string[];
  /** Words that begin a lasting wish. */
  readonly lasting: readonly string[];
  /** Orders about how to behave, which make such words a wish wherever they stand: "Call me Sam from now on." */
  readonly orders: string;
  /** A last sentence, or part of one, that asks for what stands before it. */
  readonly behind: readonly string[];
  /** Politeness at the beginning and end of what to remember. */
  readonly courtesy: string;
  /** Anywhere: holds for one task, is irony, is taken back, is what somebody said or supposes. */
  readonly doubts: readonly string[];
  /** In what to remember: it is over soon. */
  readonly passing: string;
  /** What begins after the words that ask, and is no fact: "remember when …". */
  readonly noFact: string;
  /** Who one is, as irony uses it with a consequence: "I'm made of money, so …". */
  readonly irony: string;
}

/** Begins what one says of oneself after "remember", without "that". */
const ONES_OWN =
  "(?:i|i['’]m|i['’]ve|we|we['’]re|(?:my|our)(?= [^.?!]+ (?:is|are|has|have|isn['’]t|aren['’]t|can['’]?t?)(?!\\p{L})))(?![\\p{L}'’])";

const ENGLISH: Language = {
  lead: "(?:please|pls|kindly|ok(?:ay)?|hi|hey|hello|oh|also|and|so|then|one more thing|btw|by the way|fyi|just|always)[,:!]? ",
  asks: [
    "(?:r+e*[mn]+e*m*b?e*re?|memori[sz]e|(?:bear|keep) in mind|do(?:n['’]?t| not)(?: you)?(?: ever)? forget|never forget)(?:,? (?:please|also|too|always|well|(?:from now on|for (?:me|later|next time|the future|future reference))))*,?(?: that|:| this:|,(?: that)? (?!to\\b)| (?=(?:the|my|our|his|her|their|it['’]?s|i|i['’]?m|i['’]ve|we|we['’]re|never|always|only|every|all|no)\\b))",
    "(?:remember|memori[sz]e|save|store|record|log|note|keep|learn)(?: this| that| the following)?(?: (?:fact|rule|preference))?(?: about me)?(?: for (?:later|me|next time|the future|future reference))?(?:,? please)?:",
    "(?:save|store|record|log)(?: please)? that",
    "(?:make|take|keep) (?:a )?(?:mental )?note(?: for (?:later|yourself|the future))?(?: that|:| of this:)",
    "(?:note|write|jot|put)(?: this| that)? down(?: that|:)",
    "(?:add|save|store|commit|put|keep|write)(?: this| it| that)?(?: down)? (?:to|in|into) (?:your |my )?(?:memory|notes)(?: that|:)",
    "update (?:your )?memory(?::|,)",
    `i(?:['’]d like| would like| want| need) you to (?:remember|keep in mind|note)(?: that| this:|:| (?=${ONES_OWN}))`,
    "(?:you (?:should|must|need to|have to)|try to|do|make sure(?: that)? you|make sure to|be sure to) (?:always )?(?:remember|keep in mind)(?: that|:)",
    "(?:for (?:future reference|the record|next time|the future|later|your memory|all future (?:chats|conversations|messages|replies|answers))|(?:(?:quick )?note (?:for (?:later|the future|your memory)|to self)|something to remember|to remember|for later))[,:]",
  ],
  questions: [
    `(?:can|could|would|will) you (?:please )?(?:remember|memori[sz]e|note|keep in mind|make a note|save|store|record)(?:,? please,?)?(?: for me)?(?:,? please,?)? (?:that|this:|(?=${ONES_OWN}))`,
  ],
  lasting: [
    "(?:from now (?:on(?:wards?)?|forward)|from here on(?: out)?|from this (?:point|day) (?:on(?:wards?)?|forward)|from today(?: on(?:wards?)?)?|going forward|moving forward|henceforth|as (?:of|from) (?:now|today)|(?:starting|beginning|effective)(?: from)? (?:now|today|immediately)|until further notice|in (?:the )?future)[,:]?",
  ],
  orders:
    "(?:always |never |do(?:n['’]?t| not) )(?:call|address|answer|reply|respond|write|speak|talk|use|give|show|send|suggest|recommend|ask|add|include|start|end|mention)|(?:call|address) me|(?:answer|reply|respond|write|speak|talk)(?: to)?(?: me)? (?:only |always )?(?:in|with|like)|use (?!of(?!\\p{L})|cases?(?!\\p{L})|is(?!\\p{L}))\\p{L}+",
  behind: [
    "(?:please )?(?:remember (?:that|this|it)|keep (?:that|this|it) in mind|don['’]?t forget(?: (?:that|this|it))?|(?:make a )?note (?:of )?that|memori[sz]e (?:that|this|it)|save that)(?: for (?:later|next time|the future|future reference))?(?:,? please)?",
    "(?:please )?(?:save|store|add|put|keep|note|commit) (?:that|this|it)(?: down)? (?:to|in|into) (?:your |my )?(?:memory|notes)(?:,? please)?",
    "please remember",
  ],
  courtesy: "please|pls|plz|thanks(?: a lot)?|thank you|thx|cheers|ok(?:ay)?",
  doubts: [
    "\\b(?:in|for|of|with|to|on) this\\b|\\bthis (?:text|letter|e-?mail|draft|title|heading|headline|file|function|script|commit|translation|list|table|answer|reply|chat|conversation|game|session|time|once|one|paragraph|document|code|test|summary|image|sentence|exercise|task|poem|story|post|message|recipe|report|slide|essay|case)\\b",
    "\\b(?:just|only) (?:this|for|the) (?:once|now|today|next)\\b|\\bjust once\\b|\\bfor now\\b|\\bfor the moment\\b|\\bfor a (?:minute|moment)\\b|\\bbefore you\\b|\\bwhile you(?:'re| are)\\b|\\band (?:then )?(?:tell|give|calculate|sum|translate|write|show|summari[sz]e)\\b",
    "\\bby all means\\b|\\bgenius\\b|\\bfeel like it\\b|\\bobviously\\b|\\bof course\\b|\\bapparently\\b|\\byeah right\\b|\\bsure why not\\b|\\bwhat could go wrong\\b|\\bi just love\\b|\\bi (?:absolutely |really |simply )?(?:adore|enjoy|love) (?:it )?(?:when|being|getting)\\b|\\bclearly\\b|\\bmind reader\\b|\\bpsychic\\b|\\bas if\\b|\\blol\\b|\\bhaha|\\bgreat idea\\b|\\bwhat do i know\\b",
    "\\bnever mind\\b|\\bkidding\\b|\\bjoking\\b|\\bforget it\\b|\\bno new rules?\\b|\\bnothing changes\\b|\\bscratch that\\b|\\bon second thought\\b|\\b(?:don'?t|do not|no need to|needn't|not|never)(?: (?:actually|need to|have to|want you to))? (?:remember|store|save|keep|note)\\b",
    "\\b(?:said|says|told|tells|asked|wrote|writes|claims?|claimed|insists|announced|posted|according to|allegedly)\\b",
    "^(?:if|suppose|supposing|imagine|assume|assuming|say|let's say|what if|pretend|picture|hypothetically)\\b",
    "^(?:oh (?:sure|great|yes|yeah|right|perfect|joy|wow)|wow|great|fantastic|wonderful|brilliant|lovely|awesome|sure|right|yeah|yay|bravo|well done|funny)\\b",
  ],
  passing: "\\b(?:today|tonight|right now|in a (?:minute|moment)|this (?:morning|afternoon|evening))\\b",
  noFact:
    "(?:when|how|what|who|whom|whose|where|why|which|if|whether|to|me|us|him|those|(?:the|that) (?:time|day|days|night|good old)|(?:time|day|night|summer|winter|weekend|trip|movie|film|song) (?:we|when|i|you|they|with|where)|is|was|looks|sounds|means|reads|seems|as a|nothing|none|any of)",
  irony: "i(?:['’]m| am)",
};

/** "dass", as people also write it. */
const DASS = "(?:,? (?:dass|daß|das(?= (?:ich|wir|mein|unser|er|sie|es|du|der|die|man)))|, das|:)";

const GERMAN: Language = {
  lead: "(?:bitte|hallo|hi|hey|ok(?:ay)?|also|und|dann|ach(?: ja| so)?|übrigens|noch was|außerdem|nur)[,:!]? ",
  asks: [
    `merke? (?:dir|dier|euch)(?: (?:bitte|mal|noch|auch|doch|außerdem|gut|immer|eins|folgendes|(?:für|fürs) (?:später|die zukunft|nächste mal)))*${DASS}`,
    `merk['’]?s dir(?: bitte)?${DASS}`,
    "(?:merke? dir|vergiss nicht|denke? (?:dran|daran))(?: bitte)?, (?=(?:ich|wir|(?:mein|unser)e?)(?!\\p{L}))",
    "merke? dir(?: bitte)? (?=(?:mein|unser)(?:e[nmrs]?)? [^.!?:]+:)",
    `beachte?(?: bitte)? (?:künftig|in zukunft)${DASS}`,
    "(?:füge? (?:das )?(?:deinem|dem) gedächtnis hinzu|lege? (?:das )?(?:in deinem|im) gedächtnis ab|speichere?(?: das)? (?:in deinem|im) gedächtnis):",
    `merken sie sich(?: (?:bitte|noch|auch))*${DASS}`,
    `(?:merken|notieren|speichern|abspeichern|im (?:kopf|hinterkopf|gedächtnis) behalten|nicht vergessen|dran denken|daran denken|aufschreiben)(?: bitte)?${DASS}`,
    `denke?(?: (?:bitte|immer|auch|künftig))* (?:dran|daran)(?: bitte)?(?:${DASS}|, (?!.*(?: zu \\p{L}+n|(?:ab|an|auf|aus|bei|ein|hin|mit|nach|vor|zurück|um|weg)zu\\p{L}+n)(?!\\p{L})))`,
    `vergi(?:ss?|ß)(?: bitte)? (?:nicht|nie)${DASS}`,
    `behalte?(?: dir)?(?: (?:bitte|immer))*(?: (?:im (?:kopf|hinterkopf|gedächtnis)|in erinnerung))(?: bitte)?${DASS}`,
    `(?:notiere?|speichere?)(?: dir)?(?: (?:bitte|mal|noch|auch|das|es))*(?: (?:auf|ab))?(?: (?:in deinem|im) gedächtnis)?${DASS}`,
    `schreibe? dir(?: (?:bitte|mal|noch|auch|das))*(?: auf)?${DASS}`,
    `(?:halte?(?: dir)?(?: bitte)? fest|präge? dir(?: bitte)? ein)${DASS}`,
    `nimm(?: (?:bitte|das))* (?:in (?:dein|das) gedächtnis auf|zur kenntnis)${DASS}`,
    `ich (?:möchte|will|hätte gern),? dass du dir(?: (?:bitte|das|folgendes))* (?:merkst|notierst)${DASS}`,
    `du (?:sollst|musst|solltest) (?:dir merken|wissen)${DASS}`,
    "(?:(?:wichtig|zur info|notiz) )?(?:für die zukunft|fürs nächste mal|für später|zum merken|für dein gedächtnis|fürs gedächtnis|fürs protokoll|für künftige \\p{L}+|zur (?:künftigen|späteren) \\p{L}+)[:,]",
  ],
  questions: [
    "(?:kannst|könntest|würdest|magst|willst) du(?: dir)?(?: (?:bitte|mal))*(?: (?:merken|notieren|speichern|aufschreiben|behalten|im kopf behalten|daran denken|dran denken))(?:,? bitte)?,? dass",
  ],
  lasting: [
    "(?:ab jetzt|ab nun|ab sofort|ab heute|von nun an|von jetzt (?:an|ab)|von heute an|künftig|zukünftig|in zukunft|fortan|bis auf weiteres)[,:]?(?: bitte)?",
  ],
  orders:
    "(?:nenne?|duze?|sieze?|sprich) mich|antworte?|schreibe?|verwende|benutze?|nutze?|lass (?!uns|mich)\\p{L}+",
  behind: [
    "(?:bitte )?(?:(?:im (?:kopf|hinterkopf|gedächtnis) behalten)|(?:speichere?|notiere?) (?:dir )?das(?: bitte)?(?: ab)?)",
    "(?:bitte )?(?:merk(?:e)? dir das(?: (?:für später|fürs nächste mal|für die zukunft))?|merk['’]s dir|vergiss das nicht|denk(?:e)? (?:bitte )?(?:dran|daran)|notier(?:e)? dir das|behalte? das im kopf|speicher(?:e)? (?:dir )?das|(?:bitte )(?:merken|nicht vergessen))(?: bitte)?",
  ],
  courtesy: "bitte|danke(?: (?:dir|schön|sehr))?|vielen dank|merci|ok(?:ay)?|ja",
  doubts: [
    "\\bdies(?:e[rmns]?|er)? (?!woche|jahr|monat|saison|sommer|winter|semester)\\S+",
    "\\bnur (?:für|dies|jetzt|heute|einmal|kurz)|\\bausnahmsweise\\b|\\bfürs erste\\b|\\bvorerst\\b|\\berstmal\\b|\\bbevor du\\b|\\beinmalig\\b|\\bfür gleich\\b|\\bund (?:sag|nenn|rechne|gib|schreib|fass|übersetz|zeig)",
    "\\bdoch gleich\\b|\\bdoch einfach\\b|\\bhellseher|\\bbloß nichts?\\b|\\bgenie\\b|\\bklar doch\\b|\\bna klar\\b|\\bnatürlich\\b|\\bselbstverständlich\\b|\\bbestimmt\\b|\\banscheinend\\b|\\boffenbar\\b|\\bich liebe es\\b|\\b(?:ich|du|wir|es) \\S+ ja\\b|\\bgedankenleser|\\b(?:super|tolle|geniale) idee\\b|\\bhaha|\\bals ob\\b|\\bwie toll\\b|\\bwohl\\b|\\bdanke auch\\b|\\bes (?:so |einfach )?liebe\\b|\\bliebe wenn\\b",
    "\\bkeine neue regel\\b|\\balles bleibt\\b|\\bvergiss es\\b|\\bscherz|\\bspaß beiseite\\b|\\b(?:nicht|nichts)(?: mehr)? (?:merken|speichern|notieren|behalten)\\b|\\bmerk(?:e)? dir (?:das |bitte )*(?:bloß )?nicht",
    "\\b(?:sagt|sagte|sagten|meint|meinte|schrieb|schreibt|gesagt|geschrieben|behauptet|verlangt|bat|laut|angeblich|hieß es|heißt es|steht (?:im|in|auf|da))\\b",
    "^(?:wenn|falls|angenommen|gesetzt|nehmen wir|stell dir|stellen wir|mal angenommen|was wäre)\\b",
    "^(?:oh|wow|super|toll|klasse|prima|großartig|wunderbar|na toll|na super|genial|bravo|ja ja|herrlich|komisch)\\b",
  ],
  passing: "\\b(?:heute|gleich|gerade|heute abend)\\b",
  noFact:
    "(?:wie|was|wer|wo|wann|warum|ob|welche[rs]?|worum|nichts|nicht|keine neue|ist|war|klingt|heißt so|das nicht|wohl|meine worte)",
  irony: "ich bin",
};

const SPANISH: Language = {
  lead: "[¡¿]?(?:por favor|porfa(?:vor)?|hola|oye|ok|vale|ah|y|además|también|por cierto|bueno|pues|entonces)[,:!]? ",
  asks: [
    "[¡]?(?:recuerda|recordá|memoriza|apunta|apúntate|apuntate|anota|anótate|guarda|guárdate|registra|retén|grábate)(?:,? (?:también|por favor|porfa|además|bien|siempre|para (?:el futuro|la próxima|luego)))*,?(?: (?:que|q)|:| (?:esto|lo siguiente)(?:,? (?:por favor|porfa))?:)",
    "[¡]?recuerda, (?=(?:soy|tengo|estoy|mi|mis|el|la|los|las|no|siempre|nunca)(?!\\p{L}))",
    "[¡]?(?:acu[eé]rdate|acordate)(?:,? (?:también|siempre|por favor))*,? (?:de )?(?:que|q)",
    "[¡]?(?:ten|tené)(?:,? (?:siempre|por favor|muy),?)* (?:en cuenta|presente|en mente)(?:,? (?:siempre|también|por favor|porfa))*,?(?: (?:que|q)|:)",
    "[¡]?(?:no (?:te )?olvides|(?:que )?no se te olvide)(?: nunca)?,? (?:de )?(?:que|q)",
    "[¡]?(?:guarda|apunta|anota|pon|mete)(?: esto)? en (?:tu |la )?memoria,?(?: (?:que|q)|:)",
    "[¡]?(?:añade|agrega|incorpora)(?: esto)? a (?:tu |la )?memoria,?(?: (?:que|q)|:)",
    "[¡]?toma nota(?: de)?(?: (?:que|q)|:)",
    "(?:quiero|necesito|quisiera|me gustaría) que (?:recuerdes|recordaras|apuntes|apuntaras|anotes|anotaras|tengas en cuenta|tuvieras en cuenta|guardes)(?: (?:que|q)|(?: esto)?:)",
    "(?:tienes que|debes|deberías) (?:recordar|tener en cuenta)(?: (?:que|q)|:)",
    "para (?:el futuro|futuras? (?:referencias?|conversaciones)|referencia futura|que lo sepas|la próxima(?: vez)?|tu memoria|recordar)[,:]",
  ],
  questions: [
    "¿?(?:puedes|podrías|podés|te importaría|quieres) (?:recordar|apuntar|anotar|memorizar|guardar|registrar|acordarte de|tener en cuenta|recordarte)(?:,? por favor,?)? que",
  ],
  lasting: [
    "(?:a partir de (?:ahora|hoy|este momento|ya|aquí)|de ahora en (?:adelante|más)|de aquí en adelante|de hoy en adelante|en adelante|desde (?:ahora|hoy|ya|este momento)(?: en adelante)?|en lo sucesivo|en el futuro)[,:]?",
  ],
  orders:
    "llámame|tutéame|respóndeme|contéstame|háblame|escríbeme|no (?:me (?:llames|hables|respondas|contestes|propongas|sugieras|mandes)|uses)",
  behind: [
    "[¡]?(?:por favor,? )?(?:recu[eé]rdalo|apúntalo|anótalo|guárdalo|memorízalo|no lo olvides|no te olvides|apúntatelo|guárdalo en (?:tu |la )?memoria|tenlo presente|tenlo en cuenta|acuérdate(?: de (?:eso|esto|ello))?|recuerda (?:eso|esto))(?:,? (?:por favor|porfa))?",
  ],
  courtesy: "por favor|porfa(?:vor)?|gracias|muchas gracias|vale|ok",
  doubts: [
    "\\best(?:e|a|os|as) (?!semana|año|mes|curso|verano|invierno|temporada|trimestre|momento)\\S+",
    "\\bsolo (?:por|para) (?:esta|este|hoy|ahora)|\\bpor esta vez\\b|\\bpor ahora\\b|\\bde momento\\b|\\bpor el momento\\b|\\bantes de (?:darme|que me|mand|envi)|\\by (?:dime|dame|haz|calcula|suma|traduce|escribe|resume)",
    "\\badivin[oa]\\b|\\bpara qué\\b|\\bme chifla\\b|\\bme encanta que\\b|\\bclaro que\\b|\\bpor supuesto\\b|\\bcómo no\\b|\\bgenio\\b|\\bal parecer\\b|\\bpor lo visto\\b|\\bcuando te dé la gana\\b|\\bvidente\\b|\\bjaja|\\b(?:buena|gran) idea\\b|\\bobviamente\\b",
    "\\bes broma\\b|\\bolvídalo\\b|\\bninguna regla nueva\\b|\\bno hay (?:ninguna )?(?:regla|norma) nueva|\\btodo sigue igual\\b|\\bno (?:lo |la |hace falta que )?(?:guardes|recuerdes|apuntes|anotes)\\b",
    "\\b(?:dijo|dice|dicen|decía|pidió|escribió|según|contó|avisó|afirma|anuncia|exige)\\b",
    "^(?:si|supón|supongamos|imagina|imaginemos|pongamos|digamos|qué pasaría)\\b",
    "^(?:uy|oh|vaya|genial|estupendo|fantástico|maravilloso|qué (?:bien|raro)|claro|bravo|ah sí)\\b",
  ],
  passing: "\\b(?:hoy|ahora mismo|esta (?:noche|tarde|mañana))\\b",
  noFact: "(?:cuando|cómo|qué|quién|dónde|por qué|si|cuál|lo del|suena|significa|es el título)",
  irony: "soy",
};

const FRENCH: Language = {
  lead: "(?:s['’]il (?:te|vous) pla[iî]t|stp|svp|bonjour|salut|coucou|ok|et|aussi|au fait|ah|alors|bon|dis|juste)[ ]?[,:!]? ",
  asks: [
    "(?:souviens?|rapp?ell?e)[- ]toi(?:,? (?:aussi|bien|toujours|également|s['’]il te pla[iî]t|stp))*,?(?: que| qu['’]| ?:)",
    "souvenez[- ]vous(?: aussi)?,?(?: que| qu['’]| ?:)",
    "n['’]oublie(?:s)? (?:pas|jamais)(?: non plus)?,?(?: que| qu['’]| ?:)",
    "(?:n['’]oublie pas|souviens[- ]toi|rappelle[- ]toi), (?=(?:je|j['’]|on|nous|mon|ma|mes|le|la|les|notre|nos)(?!\\p{L}))",
    "(?:retiens?|m[ée]morise|enregistre|note|sauvegarde|retenez|inscris|stocke|conserve)(?:[- ]toi)?(?: (?:aussi|également|quelque part|(?<=(?:retiens|note|notez) )bien))?(?:,? (?:s['’]il te pla[iî]t|stp),?)?(?: (?:ceci|cela|ça|bien ceci))?(?:,? (?:s['’]il te pla[iî]t|stp))?(?: que| qu['’]| ?:)",
    "(?:garde|gardez)(?: (?:bien|toujours|aussi))? (?:en|à) (?:mémoire|tête|l['’]esprit),?(?: que| qu['’]| ?:)",
    "(?:ajoute|mets|enregistre|note|inscris)(?: ceci| ça)?(?: (?:à|dans|en))(?: (?:ta|la))? ?mémoire,?(?: que| qu['’]| ?:)",
    "prends(?: bien)? (?:en )?note(?: (?:que|qu['’])| ?:)",
    "(?:tiens compte du fait|prends en compte|dis[- ]toi bien|sache)(?: que| qu['’])",
    "(?:j['’]aimerais|je (?:veux|voudrais)|il faut) que tu (?:te souviennes|retiennes|notes|te rappelles|saches)(?: que| qu['’]|(?: de)?(?: ceci| cela| ça)? ?:)",
    "tu (?:dois|devrais) (?:retenir|te souvenir|te rappeler|noter)(?: que| qu['’]| ?:)",
    "(?:pour (?:la prochaine fois|plus tard|l['’]avenir|la suite|le futur|ta mémoire|mémoire|référence(?: future)?|info(?: future)?)|à (?:retenir|noter)) ?[,:]",
  ],
  questions: [
    "(?:peux[- ]tu|tu peux|pourrais[- ]tu|tu pourrais|veux[- ]tu)(?: (?:bien|s['’]il te pla[iî]t|stp))*(?: (?:retenir|te souvenir|te rappeler|noter|mémoriser|enregistrer|garder en (?:mémoire|tête)))(?:,? (?:s['’]il te pla[iî]t|stp),?)?(?: que| qu['’])",
  ],
  lasting: [
    "(?:[àa] (?:partir|compter) (?:de maintenant|d['’]aujourd['’]hui|de ce jour|d['’]ici|de là)|d[èe]s (?:maintenant|aujourd['’]hui|à présent|lors)|dor[ée]navant|d[ée]sormais|à l['’]avenir|dans le futur)[ ]?[,:]?",
  ],
  orders:
    "(?:appelle|tutoie|vouvoie)[- ]moi|réponds(?:[- ]moi)?|parle(?:[- ]moi)?|écris(?:[- ]moi)?|utilise|évite|n['’](?:utilise|écris) pas|ne me",
  behind: [
    "(?:souviens[- ]t['’]en|retiens[- ](?:le|la|ça|cela|bien ça)|retiens (?:ça|cela)|note[- ](?:le|la|ça)(?: quelque part)?|note (?:ça|cela)(?: quelque part)?|ne l['’]oublie pas|n['’]oublie pas(?: (?:ça|cela))?|rappelle[- ]t['’]en|garde[- ](?:le|ça) en (?:tête|mémoire))(?:,? (?:s['’]il te pla[iî]t|stp))?",
  ],
  courtesy: "s['’]il (?:te|vous) pla[iî]t|stp|svp|merci(?: (?:bien|beaucoup|d['’]avance))?|ok",
  doubts: [
    "\\b(?:ce|cet|cette|ces) (?!semaine|année|mois|été|hiver|saison|semestre|trimestre|jour|sont|n'|qu[ei]\\b)\\S+",
    "\\bjuste (?:pour|cette fois|une fois)|\\bpour (?:cette fois|l'instant|le moment)\\b|\\bavant de (?:me|m')|\\bexceptionnellement\\b|\\bet (?:dis|donne|calcule|fais|traduis|écris|résume|montre)",
    "\\bvoyante?\\b|\\bdevin\\b|\\bsurtout ne\\b|\\bapparemment\\b|\\bhein\\b|\\bj'adore (?:quand|qu)|\\bbien sûr\\b|\\bévidemment\\b|\\bgénie\\b|\\bquand ça te chante\\b|\\bpourquoi pas\\b|\\bhaha|\\bmdr\\b|\\b(?:bonne|super) idée\\b",
    "\\bje plaisante\\b|\\blaisse tomber\\b|\\bblague\\b|\\baucune nouvelle règle\\b|\\bpas de nouvelle règle\\b|\\brien ne change\\b|\\bne (?:le |la )?(?:retiens|note|garde|enregistre)s? (?:pas|rien)\\b|\\bc'est un test\\b|\\bpas besoin de\\b",
    "\\b(?:dit|disait|disent|demandé|écrit|écrivait|selon|d'après|prétend|affirme|annonce|paraît)\\b",
    "^(?:si|suppose|supposons|imagine|imaginons|admettons|mettons|disons)\\b",
    "^(?:oh|ah oui|super|génial|formidable|magnifique|bravo|waouh|ben voyons|chouette|bizarre|drôle)\\b",
  ],
  passing: "\\b(?:aujourd'hui|ce soir|ce matin|tout à l'heure|tout de suite)\\b",
  noFact:
    "(?:quand|comment|quoi|qui|où|pourquoi|si|quel(?:le)?s?|rien|de |c['’]est (?:moi|le titre|un mot)|sonne|signifie|en t['’])",
  irony: "je suis",
};

/** Marks of code, of a log, of headings and of quoted lines. */
const NOT_SPOKEN =
  /```|^\s*(?:>|\||\/\/|\/\*|#|--|==|\$ |\[|\d{1,2}:\d\d|<\/?\w)|<\/?\w+[^>]*>|[{}]|=>|\w\(\)|;\s*$|\/\/ |\/\*|^\s*(?:[-*•]|\d+[.)]) /mu;
const QUOTES = /["“”„«»‹›]/u;
/** Work on a text, in any of the languages. Beside a request, it makes the request part of that text: "Translate that. Remember …". */
const TEXT_WORK = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:${[
    "translat(?:e|ion)|summari[sz]e|summary|sum up|paraphrase|proof ?read|spell ?check|re(?:write|word|phrase)|shorten|(?:polish|edit|correct|fix|check|improve|explain|review|answer|classify|(?:reply|respond) to) (?:the|that|my|it)|grammar|spelling|typos?|what (?:does|do|is|was|are) .*|transcribe|read (?:out|aloud)|repeat|quot(?:e|ed)|forwarded|follow(?:ing|s)|(?:kind|best) regards|sincerely|phrase|letter|draft|text|message|e-?mail|wrote|(?:in|to|into) (?:english|german|french|spanish)",
    "übersetz(?:e|en|ung)?|fasse?(?: \\p{L}+)* zusammen|zusammen(?:fassen|fassung)|(?:um)?formulier(?:e|en)|korrigier(?:e|en)|korrektur|verbesser(?:e|n)|kürz(?:e|en)|prüf(?:e|en)|grammatik|rechtschreibung|erklär(?:e|en)?|was (?:bedeutet|heißt|meint) .*|wiederhol(?:e|en)|zitat|weitergeleitet|folgende[nrsm]?|antworte auf|schreibe? es|brief|entwurf|nachricht|mail|auf (?:englisch|deutsch|französisch|spanisch)",
    "trad(?:uce|úce(?:me|lo)|ucir|ucción)|resum(?:e|en|ir)|resúme(?:me|lo)|corrige|corríge(?:me|lo)|corregir|reescrib(?:e|ir)|reformula|parafrasea|revisa|gramática|ortografía|explica(?:me)?|explíca(?:me|lo)|qué (?:significa|quiere decir) .*|repite|reenviado|siguiente|responde a|saludos|carta|borrador|correo|mensaje|ponlo|al? (?:inglés|alemán|francés)|en (?:inglés|alemán|francés|español)",
    "tradui(?:s|re|sez)|traduction|résum(?:e|er|é|ez)|corrige[rz]?|reformule[rz]?|réécri(?:s|re|vez)|paraphrase[rz]?|relis(?:ez)?|relire|grammaire|orthographe|explique[rz]?|veut dire|répète|transféré|suivante?s?|réponds à|cordialement|lettre|brouillon|en (?:anglais|allemand|français|espagnol)",
  ].join("|")})(?![\\p{L}\\p{N}])`,
  "u",
);
const POINTS_AT_TEXT =
  /(?<![\p{L}\p{N}])(?:this|these|dies(?:e[rmns]?)?|esto|ceci|cela|ça)(?![\p{L}\p{N}])|^(?:make|put|turn|say|write|read) it /u;
/** A speaker, or what a mail begins with. */
const HEADED = /^[^.!?,]{1,40}[:：](?!\S)/u;
/** The end of a sentence, rather than of a line. */
const ENDED = /[.!…]["”»)]?$/u;
/** Irony, and a thought that does not end. */
const TRAILING_OFF = /(?:\.\.|…)\s*$|🙄|😒|😏|🙃/u;
const OTHER_THAN_WORDS = /[^\p{L}\p{N}']+/u;

/** Between two plain words. "\b" knows no letters with accents. */
const BOUNDARY = "(?:(?<= )|(?= ))";

interface Rules {
  readonly asks: RegExp;
  readonly questions: RegExp;
  readonly lasting: RegExp;
  readonly leads: RegExp;
  readonly wish: RegExp;
  readonly behind: RegExp;
  readonly courtesy: RegExp;
  readonly courtesyAhead: RegExp;
  readonly courtesyBehind: RegExp;
  readonly doubts: RegExp;
  readonly passing: RegExp;
  readonly noFact: RegExp;
  readonly irony: RegExp;
}

const RULES: readonly Rules[] = [ENGLISH, GERMAN, SPANISH, FRENCH].map(rulesOf);

/**
 * What to remember, in the person's words without those that ask for it; undefined if the message does not plainly ask.
 *
 * `message`: the whole message, without anything that the host adds.
 */
export function requestIn(message: string): string | undefined {
  const text = message.trim().replaceAll("\u00a0", " ");
  if (text.length > MESSAGE_MAX_CHARS || NOT_SPOKEN.test(text)) return undefined;
  const sentences = sentencesOf(text);
  for (const rules of RULES) {
    const found = askedFor(sentences, text, rules);
    if (found !== undefined && !rules.doubts.test(plainWords(text))) return asSentence(found);
  }
  return undefined;
}

/** With a capital letter and a point, but for what may be no sentence: code, a name, a number. */
export function asSentence(words: string): string {
  const begun = words.replace(
    /^\p{Ll}[\p{L}'’]*(?=,? [\p{L}\p{N}])/u,
    (word) => word.charAt(0).toUpperCase() + word.slice(1),
  );
  return /(?:^| )\p{L}{2,}$/u.test(begun) ? `${begun}.` : begun;
}

/** In lower case, each between two spaces. */
function plainWords(text: string): string {
  return ` ${lowered(text).replaceAll("’", "'").split(OTHER_THAN_WORDS).filter(Boolean).join(" ")} `;
}

/** Character for character. */
function lowered(text: string): string {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : text;
}

function askedFor(sentences: readonly string[], text: string, rules: Rules): string | undefined {
  for (const [place, sentence] of sentences.entries()) {
    const before = sentences.slice(0, place);
    if (QUOTES.test(before.join(" "))) return undefined;
    const asked = inSentence(sentence, sentences, rules);
    if (asked === undefined) continue;
    const others = [...before, ...sentences.slice(place + 1)];
    const lines = text.includes("\n") ? others : before;
    const isUnsure = (one: string) => one.includes("?") || POINTS_AT_TEXT.test(lowered(one)) || isOnText(one);
    return others.some(isUnsure) || lines.some((one) => isHeading(one, rules)) ? undefined : asked;
  }
  return askedBehind(sentences, rules);
}

function isOnText(sentence: string): boolean {
  return TEXT_WORK.test(lowered(sentence));
}

/** Whether a line begins or ends a text of somebody, as a name does: it is neither a sentence nor only polite. */
function isHeading(sentence: string, rules: Rules): boolean {
  const rest = `${lowered(sentence)} `.replace(rules.leads, "");
  return HEADED.test(sentence) || (!ENDED.test(sentence) && !isCourtesy(rest, rules));
}

/** A question that asks for no favour may ask what one is able to: "Can you remember that I called?" */
function inSentence(sentence: string, sentences: readonly string[], rules: Rules): string | undefined {
  const lower = lowered(sentence);
  const polite = rules.questions.exec(lower);
  if (polite !== null && rules.courtesy.test(plainWords(sentences.join(" "))))
    return mainIn(polite[0], factIn(sentence.slice(polite[0].length).replace(/\s*\?$/u, ""), rules));
  const [asking] = rules.asks.exec(lower) ?? [];
  if (asking !== undefined) return mainIn(asking, factIn(sentence.slice(asking.length), rules));
  const [lasting] = rules.lasting.exec(lower) ?? [];
  if (lasting === undefined) {
    const wish = wishIn(sentence, lower, rules);
    return wish === undefined ? undefined : factIn(wish, rules);
  }
  const rest = factIn(sentence.slice(lasting.length), rules);
  // In German the verb then comes before who does it, and the sentence needs the words that stand ahead.
  return rest !== undefined && VERB_AHEAD.test(rest)
    ? `${sentence.slice(0, lasting.length).trim()} ${rest}`
    : rest;
}

const VERB_AHEAD =
  /^(?!nicht |seit |mit |statt )(?:\p{Ll}+ (?:ich|wir|du|er|man)|(?:\p{Ll}+t|kann|soll|muss|darf|will) (?:d(?:er|ie|as)|(?:mein|unser|kein|ein)e?|\p{Lu}\p{L}+))(?!\p{L})/u;

/** A German clause as a sentence, or in the person's own words, as a quotation. */
function mainIn(asking: string, fact: string | undefined): string | undefined {
  if (fact === undefined || !/da(?:ss|ß|s)$/u.test(asking)) return fact;
  return mainClause(fact) ?? `„dass ${fact}“`;
}

/** "Call me Sam from now on.", without the lasting words. */
function wishIn(sentence: string, lower: string, { wish }: Rules): string | undefined {
  const found = wish.exec(lower);
  const [begin, end] = found?.indices?.groups?.order ?? [];
  return found === null ? undefined : sentence.slice(begin, end) + sentence.slice(found[0].length);
}

/** "I'm allergic to latex. Remember that." */
function askedBehind(sentences: readonly string[], rules: Rules): string | undefined {
  const last = sentences.findLast((sentence) => !isCourtesy(sentence, rules)) ?? "";
  const [asking] = rules.behind.exec(lowered(last)) ?? [];
  if (asking === undefined || sentences.some((sentence) => QUOTES.test(sentence))) return undefined;
  const place = sentences.indexOf(last);
  const earlier = sentences.slice(0, Math.max(0, place - 1));
  if (sentences.some(isOnText) || earlier.some((one) => isHeading(one, rules))) return undefined;
  const before = sentences[place - 1] ?? "";
  const fact = asking.length === last.length ? before : last.slice(0, -asking.length);
  return sentences.some((sentence) => sentence.includes("?"))
    ? undefined
    : factIn(fact.slice(rules.lasting.exec(lowered(fact))?.[0].length ?? 0), rules);
}

function factIn(rest: string, rules: Rules): string | undefined {
  const fact = withoutCourtesy(rest, rules);
  if (fact.includes("?") || TRAILING_OFF.test(rest)) return undefined;
  const lower = lowered(fact);
  if (rules.noFact.test(lower) || rules.irony.test(lower) || rules.passing.test(plainWords(fact)))
    return undefined;
  return fact.split(OTHER_THAN_WORDS).filter(Boolean).length < LEAST_WORDS ? undefined : fact;
}

function withoutCourtesy(rest: string, { courtesyAhead, courtesyBehind }: Rules): string {
  let fact = rest.trim();
  for (let before = ""; before !== fact; ) {
    before = fact;
    fact = fact.slice(courtesyAhead.exec(lowered(fact))?.[0].length ?? 0);
    fact = fact.slice(0, courtesyBehind.exec(lowered(fact))?.index).trim();
  }
  return fact;
}

function isCourtesy(sentence: string, rules: Rules): boolean {
  return withoutCourtesy(sentence, rules) === "";
}

/** A point after a number or a short name in capitals ends no sentence: "Dr. Pilz", "am 3. Mai". */
function sentencesOf(text: string): readonly string[] {
  return text
    .split(/(?<=[!?…])\s+|(?<=(?<!\d|\b\p{Lu}\p{L}{0,2})\.)\s+|\s*\n+\s*/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "");
}

function rulesOf(language: Language): Rules {
  const { lead, asks, questions, lasting, orders, behind, courtesy, doubts, passing, noFact, irony } =
    language;
  const anywhere = (words: readonly string[]) =>
    new RegExp(words.join("|").replaceAll("\\b", BOUNDARY).replaceAll("^(", "^ ("));
  const first = (words: readonly string[]) =>
    new RegExp(`^(?:${lead})*(?:${words.join("|")})(?:(?<=[^\\p{L}\\p{N}])|(?![\\p{L}\\p{N}]))`, "u");
  return {
    asks: first(asks),
    questions: first(questions),
    lasting: first(lasting),
    leads: new RegExp(`^(?:${lead})*`, "u"),
    wish: new RegExp(
      `^(?:${lead})*(?<order>(?:${orders})(?!\\p{L}).*?)[\\s,]+(?:${lasting.join("|")})(?![\\p{L}\\p{N}])`,
      "du",
    ),
    behind: new RegExp(`(?:^|[,;:–-] ?)(?:${behind.join("|")})[.!\\s]*$`, "u"),
    courtesyAhead: new RegExp(`^(?:[\\s,;:.!¡–-]+|(?:${courtesy})(?![\\p{L}\\p{N}])[\\s,:]*)`, "u"),
    courtesyBehind: new RegExp(`(?:[\\s,;:.!–-]+|(?<![\\p{L}\\p{N}])[¡]?(?:${courtesy}))$`, "u"),
    courtesy: anywhere([`\\b(?:${courtesy})\\b`]),
    doubts: anywhere(doubts),
    passing: anywhere([passing]),
    noFact: new RegExp(`^${noFact}(?![\\p{L}\\p{N}])`, "u"),
    irony: new RegExp(`^${irony} [^.!?]{0,60}, ?(?:so|also|así que|donc) `, "u"),
  };
}
