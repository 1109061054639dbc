// The decoding as a row of moments: what has been read, what lies on the stacks, which arcs there are. The server says
// what each part of a label does; here its steps are followed.

/**
 * The decoding of a tree's labels.
 *
 * `last` is the number of the last moment, the whole tree, and `at` gives any of them: `arcs` (the keys of those found
 * so far), `fresh` (those just found), `word`, `signs` (the characters at work), `read` (those behind us), `stacks` (by
 * plane: a title, and rows with a name and items), and `story`, the parts of a sentence, each a text or a mark { code }
 * or { word }. `signs` has the arcs of each character of the labels.
 */
export function decodingOf(tree, encoding) {
  const steps = tree.replay.steps.map(stepOf);
  const moment = (count) => momentAt(tree, steps, count);
  const last = steps.length + 1;
  const end = () => lastMoment(tree, moment(steps.length), encoding.includes("+"));
  const at = (number) => (number === last ? end() : moment(number));
  return { last, at, signs: arcsOfSigns(steps) };
}

/** What an arc is called: there is only one from a head to a dependent. */
function arcKey(head, dependent) {
  return `${head}-${dependent}`;
}

/** The characters of a part of a label, as the picture calls them. */
function signsOf([word, start, end, task]) {
  return Array.from({ length: end - start }, (_, at) => `${word}.${task}.${start + at}`);
}

function stepOf({ part, arcs, ...rest }) {
  const found = arcs.map(([head, dependent, parts]) => ({
    key: arcKey(head, dependent), dependent, signs: parts.flatMap(signsOf),
  }));
  return { ...rest, part, signs: signsOf(part), arcs: found };
}

/** The arcs that each character of a label has a part in. */
function arcsOfSigns(steps) {
  const arcs = new Map();
  for (const { key, signs } of steps.flatMap((step) => step.arcs)) {
    for (const sign of signs) arcs.set(sign, [...(arcs.get(sign) ?? []), key]);
  }
  return arcs;
}

function momentAt(tree, steps, count) {
  const done = steps.slice(0, count);
  const step = count ? steps[count - 1] : null;
  const heads = new Map(done.flatMap((one) => one.arcs).map((arc) => [arc.dependent, arc.key]));
  return {
    arcs: new Set(heads.values()),
    fresh: step ? step.arcs.map((arc) => arc.key) : [],
    word: step ? step.part[0] : null,
    signs: step ? [...step.signs, ...step.arcs.flatMap((arc) => arc.signs)] : [],
    read: new Set(done.flatMap((one) => one.signs)),
    stacks: planesOf(stacksAfter(tree.replay, done)),
    story: step ? storyOf(tree, step) : ["Labels are read from the first word to the last."],
  };
}

/** The tree: what the labels made, the root, and the arcs that these labels cannot express. */
function lastMoment(tree, before, isLifted) {
  const keys = tree.heads.map((head, at) => arcKey(head, at + 1));
  const lost = new Set(keys.filter((key, at) => tree.heads[at] && !before.arcs.has(key)));
  const root = tree.heads.indexOf(0) + 1;
  const rooted = before.arcs.has(arcKey(0, root));
  const end = rooted ? [] : ["No label gives ", { word: root }, " a head: it is the root. "];
  const arcs = keys.length - 1;
  const why = isLifted ? "relations say where the dashed ones belong" : "they cannot express the dashed ones";
  const loss = `The labels give ${arcs - lost.size} of ${arcs} arcs; ${why}.`;
  const story = [...end, lost.size ? loss : "The tree is complete."];
  return { ...before, arcs: new Set(keys), fresh: [], word: null, signs: [], lost, story };
}

/** The stacks after some steps: their names, their planes (0: of none), and the words that lie there. */
function stacksAfter({ stacks, first }, done) {
  const found = stacks.map(([name, plane]) => ({ name, plane, items: [] }));
  for (const [stack, word] of first) found[stack].items.push(word);
  for (const { pops, pushes } of done) {
    for (const [stack, place] of pops) found[stack].items.splice(place, 1);
    for (const [stack, word] of pushes) found[stack].items.push(word);
  }
  return found;
}

function planesOf(stacks) {
  const rowsOf = (plane) => stacks.filter((one) => one.plane === plane);
  const planes = [...new Set(stacks.map((one) => one.plane))];
  return planes.map((plane) => ({ title: plane ? `Plane ${plane}` : null, plane: plane || 1, rows: rowsOf(plane) }));
}

function storyOf(tree, { part: [word, start, end, task], story }) {
  const code = tree.labels[word - 1][task - 1].slice(start, end);
  const here = code ? [{ code }, " on ", { word }, ": "] : [];
  return [...here, ...story.map((part) => (typeof part === "string" ? part : part ? { word: part } : "the start"))];
}
