// Labels that drive an automaton: the server says what each part of a label does, and here its steps are followed.

import { arcKey, bracketKey } from "./brackets.js";

const ROW = 1; // such encodings have one label a word

/** The steps of a decoding, with what a part of a label does in words that are numbers. */
export function automatonSteps({ steps }) {
  return steps.map(({ part, pops, pushes, arcs, story }) => ({
    word: part[0],
    plane: 1,
    signs: signsOf(part),
    part,
    pops,
    pushes,
    story,
    arcs: arcs.map(([head, dependent, parts]) => ({ head, dependent, signs: parts.flatMap(signsOf) })),
  }));
}

function signsOf([word, start, end]) {
  return Array.from({ length: end - start }, (_, at) => bracketKey(word, ROW, start + at));
}

/** The stacks after `count` steps: their names, their planes (0: of none), and the words that lie there. */
export function stacksAfter({ stacks, first }, steps, count) {
  const found = stacks.map(([name, plane]) => ({ name, plane, items: [] }));
  for (const [stack, word] of first) found[stack].items.push({ word });
  for (const { pops, pushes } of steps.slice(0, count)) {
    for (const [stack, place] of pops) found[stack].items.splice(place, 1);
    for (const [stack, word] of pushes) found[stack].items.push({ word });
  }
  return found;
}

/** The arcs that each character of a label has a part in, by the keys of the characters. */
export function arcsOfSigns(steps) {
  const arcs = new Map();
  for (const { head, dependent, signs } of steps.flatMap((step) => step.arcs)) {
    for (const sign of signs) arcs.set(sign, [...(arcs.get(sign) ?? []), arcKey(head, dependent)]);
  }
  return arcs;
}
