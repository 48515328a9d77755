/** Facts about other subjects, to fill a memory up to any size. The n-th fact is always the same, so that figures can be compared. */
import { seeded } from "../search/made-facts.ts";
import type { FactLine } from "./conversations.ts";
import { lineOf } from "./paraphrases.ts";

/** Words to fill in for the braces of a sentence. They are everyday words, because a real memory repeats such words. */
const SLOTS: Readonly<Record<string, readonly string[]>> = {
  person: words("Alva Bruno Chidi Dina Emil Farida Gustav Hanne Ivo Kasimir Lotte Mats Noemi Orla Piet Rosa"),
  project: words(
    "Basalt Cinder Dovetail Ember Flint Gingko Heron Indigo Jasper Kelp Larch Mosaic Nimbus Obsidian",
  ),
  shop: words("Holzmann Ferrum Kachel Lumia Paletti Raster Tessera Vintage"),
  item: words(
    "drill ladder sander tent projector suitcase sewing-machine telescope tripod trolley wheelbarrow kayak",
  ),
  room: words("attic bathroom cellar garage hallway nursery pantry porch study workshop"),
  colour: words("ochre olive turquoise cream graphite terracotta lilac mustard"),
  dish: words("lasagne goulash ratatouille quiche moussaka pilaf chowder strudel"),
  ingredient: words("flour lentils butter spinach pumpkin semolina mushrooms walnuts"),
  place: words("Eschtal Grimfell Halderan Kornau Lindow Mirebridge Ostra Pellworth Quernsea Rothal"),
  month: words("January February March April May June July September October November"),
  component: words("importer scheduler dashboard exporter billing-job crawler archive mailer"),
  language: words("Go Kotlin Elixir Rust Scala Java"),
  title: words("Driftwood Nightjar Saltmarsh Lanterns Undertow Meridian Foxglove Halyard"),
};

const SENTENCES: readonly string[] = [
  "{person} borrowed the {item} in {month} and brings it back after the holidays.",
  "The {item} from {shop} cost {number} euros and is insured until {month}.",
  "The paint in the {room} is {colour}, mixed by {shop} under recipe {number}.",
  "New shelves for the {room} were ordered at {shop} in {month}; they are {number} cm wide.",
  "The {component} of {project} is written in {language} and was started by {person}.",
  "{project}: the {component} fails when a file is larger than {number} MB; {person} knows about it.",
  "{project} has a budget of {number} thousand for the quarter, agreed in {month} with {person}.",
  "The workshop about {project} in {place} had {number} guests; the slides are with {person}.",
  "For {project} the team chose {language} over {language} because {person} had used it before.",
  "The hike to {place} takes {number} minutes and there is no inn on the way.",
  "In {month} we stayed in {place} with {person}; the museum of glass was worth it.",
  "{dish} for six: {number} g of {ingredient}, plenty of pepper, forty minutes in the oven.",
  "{person} does not like {ingredient} in the {dish}.",
  "{person} lent us the novel {title}; page {number} has the passage about the harbour.",
  "The film {title} was too long for {person}, everybody else enjoyed it.",
  "The invoice of {shop} over {number} euros was paid in {month}.",
  "The supplier {shop} delivers within {number} days and adds a fee for pallets.",
  "{person} moved from {place} to {place} in {month}.",
  "The roof of the {room} was insulated in {month}; {shop} left {number} spare tiles.",
  "The old {item} was sold to {person} for {number} euros.",
  "{project} keeps its drawings in folder {number}; {person} tidies it every {month}.",
  "The table of the {component} in {project} has {number} million rows.",
  "{person} plays in a band called {title} and looks for a drummer.",
  "The market in {place} sells {ingredient} and second-hand books.",
];

function words(list: string): readonly string[] {
  return list.split(" ");
}

/** Older than the wanted facts. */
export function unrelatedFact(number: number): FactLine {
  const random = seeded(number + 77);
  const pick = (list: readonly string[]): string => list[Math.floor(random() * list.length)] ?? "";
  const fact = pick(SENTENCES).replaceAll(/\{(\w+)\}/g, (_all, slot: string) =>
    slot === "number" ? String(11 + Math.floor(random() * 980)) : pick(SLOTS[slot] ?? []),
  );
  const [subject = ""] = fact.toLowerCase().match(/[a-z-]{5,}/) ?? [];
  return lineOf({ key: `notes/${subject}-${number}`, fact }, -1 - number);
}
