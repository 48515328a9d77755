/** Phrases that the documents once had, and what to write in their place (CONTRIBUTING.md, "Words"). */
export const OLD_PHRASES: readonly (readonly [phrase: string, say: string])[] = [
  ["What is missing is said all at once", '"lists everything that is missing"'],
  ["restarts its insides", '"reloads"'],
  ["Mend it, and start this server again", '"Fix this, then restart the server"'],
  ["Facts of nobody", '"facts without an owner"'],
  ["is said to be such", '"is marked as such"'],
  ["takes one back whole", '"undoes one import"'],
  ["Everything is in order", '"Everything is fine"'],
  ["thing needs you", '"problem needs attention"'],
  ["nobody said that it may go", '"nobody said to replace it"'],
  ["keeps its provider: it is yours", '"keeps its provider: you chose it"'],
  ["search by words alone", '"keyword search"'],
];
