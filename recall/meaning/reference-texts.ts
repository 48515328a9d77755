/**
 * Reference texts: facts without an owner, each about another subject. A question's similarity to them is the baseline for
 * unrelated texts in any model's space; their similarities to each other show how much that baseline varies.
 */

/** Short, like facts, about work and home. Written for this purpose, not fitted to a data set. */
export const REFERENCE_TEXTS: readonly string[] = [
  "Bins are emptied on Monday mornings.",
  "Elena works as a nurse at the children's hospital.",
  "Lentil stew simmers for forty minutes on low heat.",
  "The garage keypad opens with 4471.",
  "Our vehicle stands on level three, row F, of the long-stay car park.",
  "Billing data lives in PostgreSQL.",
  "Mr. Novak gives music lessons on Wednesdays.",
  "The new homepage went out two weeks late because the translations were missing.",
  "I am allergic to peanuts.",
  "Tom wears a 43.",
  "Hold the power button for ten seconds, then open and close the paper tray.",
  "The seaside express departs at 07:52 from platform 9.",
  "We painted the walls where we cook in pale green.",
  "Builds need clang 17 or newer.",
  "The lease of our workspace costs 1,850 euros a month.",
  "Our neighbour feeds Minka while we travel.",
  "Recommended to me: a novel about lighthouse keepers.",
  "There are 84 guests at the ceremony.",
  "Physiotherapy twice a week until the joint stops hurting.",
  "The upload suite fails at random on slow runners.",
  "Extra AA cells lie in the drawer under the television.",
  "Credentials must have fourteen characters and change once a year.",
  "Portugal's capital is mild and rainy in early spring.",
  "Finance signed off the trip's costs in the second quarter.",
];
