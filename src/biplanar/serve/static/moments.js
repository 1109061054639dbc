// The decoding as a row of moments: what has been read, what lies on the stacks, which arcs there are.

import { arcsOfSigns, automatonSteps, stacksAfter } from "./automata.js";
import { arcKey, arcsOfBrackets, bracketKey, bracketSteps, isBrackets, stateAfter } from "./brackets.js";
import { assertedHead, uposOf } from "./positions.js";

/**
 * The decoding of a tree's labels.
 *
 * `last` is the number of the last moment, the whole tree, and `at` gives any of them: `arcs` (the keys of those found
 * so far), `fresh` (those just found), `word`, `brackets` (the signs at work), `read` (those behind us), `stacks` (by
 * plane: a title, and rows with a name, signs and items), and `story`, the parts of a sentence, each a text or a mark
 * { code } or { word }. `steps` lead from moment to moment. `signs` has the arcs of each character of the labels, null if characters alone
 * say nothing.
 */
export function decodingOf(tree, encoding) {
  const [steps, momentAt, signs] = machineOf(tree, encoding);
  const moment = (count) => momentAt(tree, steps, count);
  const last = steps.length + 1;
  const end = () => lastMoment(tree, moment(steps.length), encoding.includes("+"));
  const at = (number) => (number === last ? end() : moment(number));
  return { steps, last, at, signs };
}

/** The steps, the function for a moment, and the arcs of signs. */
function machineOf(tree, encoding) {
  if (tree.replay) {
    const steps = automatonSteps(tree.replay);
    return [steps, automatonMoment, arcsOfSigns(steps)];
  }
  if (!isBrackets(encoding)) return [headSteps(tree, encoding), headMoment, null];
  const steps = bracketSteps(tree.labels);
  return [steps, bracketMoment, arcsOfBrackets(steps)];
}

const foundBy = (step) => step?.arcs ?? (step?.arc ? [step.arc] : []);

const keyOf = (arc) => arcKey(arc.head, arc.dependent);

/** The tree: what the labels made, the root, and the arcs that these labels cannot say. */
function lastMoment(tree, before, isLifted) {
  const keys = tree.heads.map((head, at) => arcKey(head, at + 1));
  const lost = new Set(keys.filter((key, at) => tree.heads[at] && !before.arcs.has(key)));
  const root = tree.heads.indexOf(0) + 1;
  const rooted = before.arcs.has(arcKey(0, root));
  const end = rooted ? [] : ["No label gives ", { word: root }, " a head: it is the root. "];
  const arcs = keys.length - 1;
  const why = isLifted ? "relations say where the dashed ones belong" : "they cannot say the dashed ones";
  const loss = `The labels give ${arcs - lost.size} of ${arcs} arcs; ${why}.`;
  const story = [...end, lost.size ? loss : "The tree is complete."];
  return { ...before, arcs: new Set(keys), fresh: [], word: null, brackets: [], lost, story };
}

// ---- brackets

function bracketMoment(tree, steps, count) {
  const { stacks, arcs } = stateAfter(steps, count, { words: tree.heads.length, planes: tree.labels[0].length });
  const step = count ? steps[count - 1] : null;
  const placeOf = (one) => bracketKey(one.word, one.plane, one.place);
  return {
    arcs: new Set(arcs.filter(Boolean).map(keyOf)),
    fresh: foundBy(step).map(keyOf),
    word: step?.word ?? null,
    brackets: [step, steps[step?.opener]].filter(Boolean).map(placeOf),
    read: new Set(steps.slice(0, count).map(placeOf)),
    stacks: stacks.map((plane, at) => ({ title: `Plane ${at + 1}`, plane: at + 1, rows: bracketStacks(plane) })),
    story: step ? bracketStory(step, steps) : ["Brackets are read from the first word to the last."],
  };
}

function bracketStacks({ left, right }) {
  return [
    { name: "left arcs", signs: ["<", "\\"], items: left },
    { name: "right arcs", signs: ["/", ">"], items: right },
  ];
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

// ---- labels that drive an automaton

function automatonMoment(tree, steps, count) {
  const done = steps.slice(0, count);
  const step = count ? steps[count - 1] : null;
  const heads = new Map(done.flatMap(foundBy).map((arc) => [arc.dependent, keyOf(arc)]));
  const stacks = stacksAfter(tree.replay, steps, count).map((one) => ({ ...one, signs: [] }));
  const planes = [...new Set(stacks.map((one) => one.plane))];
  const rowsOf = (plane) => stacks.filter((one) => one.plane === plane);
  return {
    arcs: new Set(heads.values()),
    fresh: foundBy(step).map(keyOf),
    word: step?.word ?? null,
    brackets: step ? [...step.signs, ...step.arcs.flatMap((arc) => arc.signs)] : [],
    read: new Set(done.flatMap((one) => one.signs)),
    stacks: planes.map((plane) => ({ title: plane ? `Plane ${plane}` : null, plane: plane || 1, rows: rowsOf(plane) })),
    story: step ? automatonStory(tree, step) : ["Labels are read from the first word to the last."],
  };
}

function automatonStory(tree, { part: [word, start, end], story }) {
  const code = tree.labels[word - 1][0].slice(start, end);
  const here = code ? [{ code }, " on ", { word }, ": "] : [];
  return [...here, ...story.map((part) => (typeof part === "string" ? part : part ? { word: part } : "the start"))];
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
    fresh: foundBy(step).map(keyOf),
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
