// Bracket labels, and what the stacks make of them bracket by bracket.

const OPENERS = { "<": "left", "/": "right" };
const CLOSERS = { "\\": "left", ">": "right" };

/** Whether an encoding's labels are brackets of planes. */
export function isBrackets(encoding) {
  return encoding === "1p-brackets" || encoding.startsWith("2p-");
}

/** What an arc is called: there is only one from a head to a dependent. */
export function arcKey(head, dependent) {
  return `${head}-${dependent}`;
}

/** What a bracket is called, from its word's number, its plane's number, and its place in the label. */
export function bracketKey(word, plane, place) {
  return `${word}.${plane}.${place}`;
}

/**
 * One step for each bracket, in the order in which they are read. Words and planes are numbered from 1.
 *
 * `<` and `/` push the previous word, `\` and `>` pop it. `<` and `\` have one stack in each plane, `/` and `>`
 * another. What pops from an empty stack does nothing, nor does a `\` that finds the place before the first word.
 */
export function bracketSteps(labels) {
  const stacks = new Stacks(labels[0]?.length ?? 0);
  const steps = [];
  labels.forEach((row, at) =>
    row.forEach((label, task) =>
      [...label].forEach((symbol, place) => {
        const step = stepOf(symbol, { word: at + 1, plane: task + 1, place });
        if (!step) return;
        const item = stacks.apply(step, steps.length);
        if (step.pops) Object.assign(step, { opener: item?.step ?? null, arc: item ? arcOf(step, item.word) : null });
        steps.push(step);
      }),
    ),
  );
  return steps;
}

function stepOf(symbol, place) {
  if (symbol in OPENERS) return { ...place, symbol, stack: OPENERS[symbol], pops: false, arc: null };
  if (symbol in CLOSERS) return { ...place, symbol, stack: CLOSERS[symbol], pops: true, arc: null };
  return null;
}

function arcOf(step, partner) {
  if (step.symbol === ">") return { head: partner, dependent: step.word };
  return partner > 0 ? { head: step.word, dependent: partner } : null;
}

/** Two stacks for each plane. What lies on them are words, each with the number of the step that pushed it. */
export class Stacks {
  constructor(planes) {
    this.planes = Array.from({ length: planes }, () => ({ left: [], right: [] }));
  }

  /** Push or pop; returns what was pushed or popped, undefined where there was nothing to pop. */
  apply(step, number) {
    const stack = this.planes[step.plane - 1][step.stack];
    if (step.pops) return stack.pop();
    const item = { word: step.word - 1, step: number };
    stack.push(item);
    return item;
  }
}

/** The stacks after `count` steps, and the arcs that they have made: for each word its own, or null. */
export function stateAfter(steps, count, { words, planes }) {
  const stacks = new Stacks(planes);
  const arcs = new Array(words).fill(null);
  steps.slice(0, count).forEach((step, number) => {
    stacks.apply(step, number);
    if (step.arc) arcs[step.arc.dependent - 1] = { ...step.arc, plane: step.plane };
  });
  return { stacks: stacks.planes, arcs };
}

/** The arcs that each bracket has a part in, by the brackets' keys. */
export function arcsOfBrackets(steps) {
  const arcs = new Map();
  for (const step of steps) {
    if (!step.arc) continue;
    const key = arcKey(step.arc.head, step.arc.dependent);
    for (const one of [step, steps[step.opener]]) arcs.set(bracketKey(one.word, one.plane, one.place), [key]);
  }
  return arcs;
}
