/**
 * A small English thesaurus of software work and of daily life: which other words may be meant by one that was asked.
 *
 * Nobody remembers with which word a thing was stored: "ship to production" asks for what says "deploy". The words here stand
 * for all their forms (stems are compared). They help the question alone, and as weaker evidence than the word itself: see
 * `synonyms` in recall/lexical/candidate-features.ts; scoring.ts beside it and recall/fusion.ts say what it is worth, and
 * recall/meaning/query-expansion.ts has a question with words that nobody wrote embedded in words that somebody did. By words, a
 * wrong kinship moves an order a little and shows nothing by itself.
 *
 * To extend: a group between semicolons holds words that may replace each other in most sentences, so "set" is in none: it is
 * a rule, a table and a tool. A word may be in several groups. `KINDS` reads "kind: members"; who asks for the kind means
 * any member, who asks for a member may mean what is told of the kind, and members are not synonyms of each other. Write what is
 * generally so, never what one memory or one set of questions holds.
 */
import { termOf } from "../analysis/english.ts";

const SAME = `
deploy ship release rollout publish launch deliver; deployment release rollout delivery; production prod live;
staging preprod preproduction; rollback revert undo; repository repo; branch fork; commit checkin; merge integrate squash rebase;
bug defect error fault issue problem flaw; fix repair mend patch solve resolve; crash fail break outage;
failure outage breakdown incident; postmortem incident; test check verify validate; test coverage; flaky unreliable intermittent;
build compile make; pipeline workflow ci; database db datastore; schema structure; query request; index lookup; cache redis;
server host machine box; vm machine instance; cluster kubernetes k8s; container docker podman image; namespace tenant;
config configuration settings setup; environment env; variable parameter; password passphrase passcode credential secret login;
credential secret token key password; pin code combination passcode; login signin logon; account profile login;
user customer client; authentication auth login sso; permission access right role; encrypt cipher; certificate cert tls ssl;
vulnerability weakness cve; firewall vpn; monitor watch observe track; monitoring alerting observability; alert alarm notification;
oncall standby rota pager; log record journal; metric measure figure kpi; dashboard panel; performance speed latency throughput;
slow sluggish; fast quick rapid; memory ram; disk storage drive; cpu processor; backup copy snapshot; restore recover;
delete remove erase drop purge; create make add; update upgrade refresh; change modify alter edit adjust;
replace swap substitute; move migrate transfer relocate; migration move transfer; install setup; start begin launch kickoff;
stop end halt quit finish; finish complete end; cancel abort; delay postpone defer late; freeze moratorium;
schedule timetable calendar agenda; deadline due cutoff; version revision; dependency library package module; framework library toolkit;
program application app software; website site homepage page; frontend ui interface; backend server api; api interface endpoint;
endpoint route url; url link address; port socket; script program job; job task; cron schedule timer; queue backlog;
function method routine; style convention format; formatter prettier linter; indent indentation tab; editor ide; terminal shell console;
font typeface; theme colour skin; color colour shade hue; dark night; documentation docs manual readme guide wiki; document file paper;
note memo; diagram chart sketch; design layout mockup; requirement spec specification; feature functionality; ticket issue task story;
sprint iteration; roadmap plan; estimate guess points; review inspect approve; reviewer approver; approve permit allow authorise accept;
reject refuse decline deny; discuss talk debate; meeting standup sync call appointment conference; standup daily; retrospective retro;
interview screening; presentation talk slides deck; slides deck powerpoint keynote; workshop training course seminar;
team group squad crew department; colleague coworker teammate peer; boss manager supervisor lead chief ceo; employee staff worker;
intern trainee apprentice; hire recruit employ; onboarding induction; job position role post occupation profession; work job employment;
office workplace workspace desk; company firm business employer organisation; client buyer customer; vendor supplier provider;
contract agreement; invoice bill charge fee; budget funds spending; cost price expense fee; price cost rate; expensive costly;
cheap inexpensive affordable; pay spend settle; salary wage pay income earnings; bonus raise; tax vat; loan credit mortgage debt;
insurance policy cover; buy purchase acquire order; sell vend; shop store supermarket market grocer; shopping groceries; gift present;
discount reduction rebate coupon; refund repayment reimbursement; reimburse refund repay; warranty guarantee; subscription membership;
saving investment pension; cash money; email mail inbox; mail post letter; parcel package delivery; courier delivery;
address location street; phone telephone mobile cell smartphone; phone call ring; contact reach call; message text chat;
notify tell inform alert warn; reply answer respond; video film movie clip; film movie cinema; picture photo image photograph;
music song tune; song track; band musician; concert gig; album record; book novel; author writer; read study; newspaper magazine;
podcast show episode; series show; game match; sport exercise workout training fitness; exercise workout train gym; gym fitness;
run jog marathon; bicycle bike cycle; cycling biking; swim pool; hike walk trek; climb boulder; football soccer; win victory;
favourite prefer like love best; favorite favourite; prefer favour; like enjoy love; dislike hate avoid loathe detest; avoid skip shun;
always every; often frequently regularly; habit routine custom; rule policy guideline; never forbidden prohibit ban; must require need;
need require; allergic allergy intolerant intolerance; allergy intolerance sensitivity; diet eat; vegetarian vegan meatless;
meal dinner lunch supper food dish; dinner supper meal; lunch meal noon; breakfast morning; food meal cuisine eat; cook prepare;
recipe dish; bake cake oven; restaurant eatery bistro pizzeria; cafe coffee; coffee espresso; drink beverage; dessert pudding cake;
spicy hot chilli; sugar sweet; doctor physician gp; dentist teeth tooth dental; hospital clinic; medicine medication drug pill tablet;
medication medicine prescription; sick ill unwell; illness disease sickness; pain ache hurt; headache migraine; injury wound hurt;
therapy treatment physiotherapy; therapist psychologist counsellor; appointment visit; checkup examination; glasses spectacles lenses;
vaccination vaccine shot jab; sleep bed; wake rise alarm; tired exhausted; health fitness; tall height; weigh weight heavy kilo;
child kid son daughter; baby infant newborn; parent mother father mum dad mom; mother mum mom; father dad; brother sibling;
sister sibling; grandmother grandma granny; grandfather grandpa granddad; wife spouse partner; husband spouse partner; relative family;
friend buddy pal mate; neighbour neighbor; married wed; wedding marriage; anniversary wedding; birthday born birth; nursery kindergarten daycare;
babysitter nanny; funeral burial; pet animal; dog puppy; cat kitten; vet veterinarian; house home; flat apartment home; rent lease tenancy;
landlord owner; bathroom shower bath; bedroom sleep; garage parking; garden yard lawn; plant flower tree; sofa couch settee; lamp light bulb;
heating heater boiler radiator; paint colour; door entrance gate; wifi wlan wireless router; internet network broadband; network wifi lan;
trash garbage rubbish waste bin; clean tidy; laundry washing; vacuum hoover; fridge refrigerator freezer; dishes dishwasher;
repair plumber electrician handyman; car auto automobile vehicle; park parking; drive ride; fuel petrol gas diesel charge;
tyre tire wheel; mechanic garage workshop; licence license permit; train railway rail; station stop platform; plane flight airline;
airport terminal flight; ticket booking reservation; book reserve; travel trip journey tour; holiday vacation trip; leave vacation holiday absence;
hotel accommodation lodging hostel; luggage suitcase bag baggage; passport visa; abroad overseas; city town; seat place; window aisle;
map route; commute travel; school class; university college; student pupil; teacher instructor tutor coach; class lesson course; exam test;
study learn; degree diploma; speak talk; translate translation; write draft compose; name call; nickname alias handle; size measure; shoe boot trainers;
clothes clothing wear dress; jacket coat; haircut barber hairdresser; hobby pastime leisure; club association society; donate charity give;
vote election; religion faith church; party celebration; celebrate party; guest visitor; invite invitation; event occasion;
weekly week; daily day; monthly month; yearly annual year; evening night; noon midday; hour time; time clock; break pause rest; open start;
close shut; arrive arrival land; depart departure leave; send dispatch; receive get; collect pickup fetch; bring carry; lend borrow loan;
keep store hold save; hide conceal; show display; printer print; screen monitor display; laptop notebook computer; computer pc laptop;
device gadget; charger cable; headphones headset earphones; microphone mic; speaker loudspeaker; location place site; near close; region zone area;
limit cap maximum quota threshold; minimum least; retention keep; retry attempt; number amount count; percentage percent; important critical crucial;
urgent critical emergency; priority importance; risk danger hazard; secure safe protect; difficult hard; easy simple; wrong incorrect;
mistake error; reason cause; result outcome; goal aim objective target; idea suggestion proposal; suggest propose recommend advise;
decide choose pick select; decision choice; agree accept; responsible owner charge; maintain own; support help assist; trial pilot experiment;
flag toggle switch; stack technology; data information; report summary; summary overview; article post; newsletter email; brand make manufacturer;
spare replacement; measure gauge; weather rain sun; keyboard keys layout; shortcut hotkey keybinding; timezone utc; language locale; signature sign`;

const KINDS = `
pet animal: dog cat puppy kitten rabbit hamster parrot budgie fish turtle horse tortoise canary; family relative: mother father brother
sister son daughter aunt uncle cousin niece nephew grandmother grandfather wife husband; sibling: brother sister; child: son daughter;
parent: mother father; spouse partner: wife husband;
speak language: english german french spanish italian portuguese dutch polish japanese chinese mandarin korean russian arabic hindi swedish;
programming language: python java javascript typescript rust go golang ruby kotlin swift php scala haskell perl elixir;
editor ide: vim neovim emacs vscode intellij pycharm sublime zed helix; browser: firefox chrome safari edge chromium brave;
database db datastore: postgres postgresql mysql mariadb sqlite mongodb redis oracle dynamodb cassandra elasticsearch clickhouse;
queue broker messaging: kafka rabbitmq nats sqs redis; cloud provider hosting: aws azure gcp hetzner digitalocean linode heroku;
pipeline ci: jenkins github gitlab konflux tekton circleci travis buildkite; deploy deployment ship: argocd argo helm konflux tekton terraform ansible;
infrastructure provision: terraform ansible pulumi kubernetes helm; monitoring metrics: grafana prometheus datadog sentry newrelic;
framework: react vue angular svelte django flask rails spring express; shell terminal: bash zsh fish powershell iterm alacritty tmux;
linter formatter: eslint prettier biome black ruff; package manager: npm pnpm yarn pip poetry cargo maven gradle;
system os: linux macos windows ubuntu fedora debian arch; chat messenger: slack teams discord whatsapp telegram signal zulip mattermost;
tracker ticket: jira linear trello asana; password: bitwarden keepass vault; call meeting: zoom teams meet webex;
drink beverage: coffee tea water juice beer wine espresso cappuccino latte cola whisky milk cocoa lemonade;
alcohol: beer wine whisky gin vodka rum cocktail; food dish meal eat: pasta pizza soup salad sushi curry rice bread cheese noodles burger
stew lasagne ramen tacos fish meat steak; fruit: apple pear banana orange cherry strawberry mango grape peach plum lemon;
vegetable: carrot potato tomato onion broccoli spinach cabbage pepper mushroom; meat: beef pork chicken lamb ham steak bacon;
allergy allergic intolerant: peanut nut gluten lactose pollen shellfish penicillin dairy wheat egg; diet: vegetarian vegan gluten lactose keto;
sport exercise: football tennis swim run cycling climb basketball volleyball badminton yoga hockey golf ski row judo karate;
instrument music: guitar piano violin cello drum flute trumpet saxophone clarinet ukulele;
music genre: jazz rock pop classical techno metal blues folk; car vehicle: vw volkswagen toyota bmw audi skoda tesla volvo ford honda fiat
renault peugeot mazda; vehicle: car van bicycle bike motorcycle scooter bus truck tram;
colour: red blue green yellow black white grey gray orange purple pink brown teal turquoise navy;
weekday day: monday tuesday wednesday thursday friday saturday sunday; weekend: saturday sunday;
month date: january february march april june july august september october november december; season: spring summer autumn winter;
doctor: dentist dermatologist cardiologist paediatrician pediatrician physiotherapist surgeon optician;
job profession occupation work living: nurse teacher doctor lawyer engineer developer designer carpenter electrician accountant architect chef
journalist pilot baker plumber; clothes clothing: shirt jacket trousers jeans coat dress shoe sock sweater hat glove;
furniture: sofa table chair desk bed shelf wardrobe cupboard; room: kitchen bathroom bedroom office cellar attic garage;
country: germany france spain italy portugal poland austria switzerland england ireland japan china india canada brazil netherlands belgium
sweden norway denmark finland greece turkey; city: berlin paris london rome madrid vienna prague lisbon amsterdam brussels zurich munich
hamburg dublin oslo stockholm copenhagen warsaw budapest tokyo; currency money cost pay price: euro dollar pound franc yen eur usd;
illness condition: asthma diabetes migraine flu fever cancer; device gadget: phone laptop tablet printer router camera watch headphones;
early time: morning; late time: evening night; toy: lego doll puzzle`;

interface KnownWord {
  readonly term: string;
  readonly word: string;
}

const NO_SYNONYMS: ReadonlyMap<string, string> = new Map();
/** By term; read when the first question is asked. */
let synonymsByTerm: ReadonlyMap<string, ReadonlyMap<string, string>> | undefined;

/** The words that may be meant by a word of this term, by their terms, the closest first; none for most. */
export function synonymsOf(term: string): ReadonlyMap<string, string> {
  synonymsByTerm ??= readSynonyms();
  return synonymsByTerm.get(term) ?? NO_SYNONYMS;
}

function readSynonyms(): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const synonyms = new Map<string, Map<string, string>>();
  for (const words of SAME.split(";").map(wordsIn)) relate(synonyms, words, words);
  for (const [kinds, members] of KINDS.split(";").map((line) => line.split(":").map(wordsIn))) {
    relate(synonyms, kinds ?? [], members ?? []);
    relate(synonyms, members ?? [], kinds ?? []);
  }
  return synonyms;
}

function relate(
  synonyms: Map<string, Map<string, string>>,
  from: readonly KnownWord[],
  to: readonly KnownWord[],
): void {
  for (const { term } of from) {
    const known = synonyms.get(term) ?? new Map<string, string>();
    for (const other of to)
      if (other.term !== term && !known.has(other.term)) known.set(other.term, other.word);
    synonyms.set(term, known);
  }
}

function wordsIn(line: string): readonly KnownWord[] {
  return line
    .trim()
    .split(/\s+/)
    .map((word) => ({ term: termOf(word), word }));
}
