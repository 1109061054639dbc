// The decoding as a row of moments: what has been read, what lies on the stacks, which arcs there are.

import { arcKey, bracketKey, bracketSteps, isBrackets, stateAfter } from "./brackets.js";
import { assertedHead, uposOf } from "./positions.js";

/**
 * The decoding of a tree's labels.
 *
 * `last` is the number of the last moment, the whole tree, and `at` gives any of them: `arcs` (the keys of those found
 * so far), `fresh` (the one just found), `word`, `brackets` (those at work), `read` (those behind us), `stacks`, and
 * `story`, the parts of a sentence, each a text or a mark { code } or { word }. `steps` lead from moment to moment.
 * `stray` are arcs that the labels assert though the tree has them not: some encodings cannot say every tree.
 */
export function decodingOf(tree, encoding) {
  const hasStacks = isBrackets(encoding);
  const steps = hasStacks ? bracketSteps(tree.labels) : headSteps(tree, encoding);
  const moment = (count) => (hasStacks ? bracketMoment : headMoment)(tree, steps, count);
  const last = steps.length + 1;
  const at = (number) => (number === last ? lastMoment(tree, moment(steps.length)) : moment(number));
  return { steps, last, at, stray: strayArcs(tree, steps), hasStacks };
}

function strayArcs(tree, steps) {
  const stray = new Map();
  for (const { arc, plane } of steps) {
    if (!arc || tree.heads[arc.dependent - 1] === arc.head) continue;
    const key = arcKey(arc.head, arc.dependent);
    const place = { key, plane: arc.head ? plane : 0, side: arc.head && plane === 2 ? 2 : 1 };
    stray.set(key, { ...arc, ...place, relation: "", chance: null, crossing: false, extra: true });
  }
  return [...stray.values()];
}

const keyOf = (arc) => arcKey(arc.head, arc.dependent);

/** The tree: what the labels made, the root, and the arcs that these labels cannot say. */
function lastMoment(tree, before) {
  const keys = tree.heads.map((head, at) => arcKey(head, at + 1));
  const lost = new Set(keys.filter((key, at) => tree.heads[at] && !before.arcs.has(key)));
  const root = tree.heads.indexOf(0) + 1;
  const rooted = before.arcs.has(arcKey(0, root));
  const end = rooted ? [] : ["No label gives ", { word: root }, " a head: it is the root. "];
  const arcs = keys.length - 1;
  const loss = `The labels give ${arcs - lost.size} of ${arcs} arcs; they cannot say the dashed ones.`;
  const story = [...end, lost.size ? loss : "The tree is complete."];
  return { ...before, arcs: new Set(keys), fresh: null, word: null, brackets: [], lost, story };
}

// ---- brackets

function bracketMoment(tree, steps, count) {
  const { stacks, arcs } = stateAfter(steps, count, { words: tree.heads.length, planes: tree.labels[0].length });
  const step = count ? steps[count - 1] : null;
  const placeOf = (one) => bracketKey(one.word, one.plane, one.place);
  return {
    arcs: new Set(arcs.filter(Boolean).map(keyOf)),
    fresh: step?.arc ? keyOf(step.arc) : null,
    word: step?.word ?? null,
    brackets: [step, steps[step?.opener]].filter(Boolean).map(placeOf),
    read: new Set(steps.slice(0, count).map(placeOf)),
    stacks,
    story: step ? bracketStory(step, steps) : ["Brackets are read from the first word to the last."],
  };
}

function bracketStory(step, steps) {
  const here = [{ code: step.symbol }, " on ", { word: step.word }];
  if (step.pops && step.opener === null) return [...here, ": the stack is empty, so nothing happens."];
  const partner = (step.pops ? steps[step.opener].word : step.word) - 1;
  const who = partner > 0 ? { word: partner } : "the place before the first word";
  if (step.symbol === "<") return [...here, ": ", who, ", the word before, goes on the stack to wait for its head."];
  if (step.symbol === "/") return [...here, ": ", who, ", the word before, goes on the stack to wait for a dependent."];
  if (!step.arc) return [...here, " takes ", who, " from the stack, which can have no head."];
  const { head, dependent } = step.arc;
  const arc = head ? [{ word: head }, " → ", { word: dependent }] : [{ word: dependent }, " is the root"];
  return [...here, " takes ", who, " from the stack: ", ...arc, "."];
}

// ---- labels that each name a head

function headSteps(tree, encoding) {
  const facts = { words: tree.heads.length, upos: encoding === "rel-pos" ? uposOf(tree.conllu) : null };
  return tree.labels.map(([label], at) => {
    const head = assertedHead(encoding, label, at + 1, facts);
    return { word: at + 1, label, plane: tree.planes[at] || 1, arc: head < 0 ? null : { head, dependent: at + 1 } };
  });
}

function headMoment(tree, steps, count) {
  const step = count ? steps[count - 1] : null;
  const found = steps.slice(0, count).map((one) => one.arc).filter(Boolean);
  return {
    arcs: new Set(found.map(keyOf)),
    fresh: step?.arc ? keyOf(step.arc) : null,
    word: step?.word ?? null,
    brackets: [],
    read: new Set(),
    stacks: [],
    story: step ? headStory(step) : ["Each word's label says where its head is. No stack is needed."],
  };
}

function headStory({ word, label, arc }) {
  const here = [{ code: label }, " on ", { word }, ": "];
  if (!arc) return [...here, "there is no such head."];
  return arc.head ? [...here, "its head is ", { word: arc.head }, "."] : [...here, "it is the root."];
}
