// Where words, arcs and relations go, in pixels: as near to each other as they can be with every relation in full.

export const WORD_GAP = 18;
export const CORNER = { width: 12, height: 15 };
const PORT_STEPS = [9, 8, 7, 6, 5]; // between the ends of arcs at one word: the first that fits over the word

/**
 * Settle all columns and levels.
 *
 * `words` has the width that each word needs with its labels, and `forms` that of the word alone. An arc has a head
 * (0 for the root), a dependent, a side (1 above the words, 2 below), the width of its relation, and may be `extra`.
 * Returns the middle of each word, the arcs with a level, both ends and the relation's middle, and the whole width.
 */
export function layOut({ words, forms, arcs, gutter = 0 }) {
  const placed = withLevels(arcs, words.length);
  const ports = portsOf(placed, forms);
  const distances = distancesOf(words, placed, ports, gutter);
  const stretches = new Map();
  const heights = heightsOf(placed);
  for (const arc of [...placed].sort((one, other) => span(one) - span(other))) {
    if (arc.head) stretches.set(arc, makeRoom(arc, stretchesOf(arc, ports, heights), distances));
  }
  const centres = runningSums(distances.slice(0, words.length));
  const at = (arc, word) => centres[word - 1] + ports.get(port(arc.side, word, arc.key));
  for (const arc of placed) {
    arc.to = at(arc, arc.dependent);
    arc.from = arc.head ? at(arc, arc.head) : arc.to;
    arc.middle = arc.head ? middleOf(stretches.get(arc), centres) : arc.to;
  }
  return { centres, arcs: placed, width: centres.at(-1) + distances.at(-1) };
}

const left = (arc) => (arc.head ? Math.min(arc.head, arc.dependent) : arc.dependent);
const right = (arc) => Math.max(arc.head, arc.dependent);
const span = (arc) => right(arc) - left(arc);
const port = (side, word, key) => `${side}:${word}:${key}`;

/**
 * The shortest arcs next to the words, each other one over all that it spans; the root's over all arcs of its word.
 * Extra arcs, which are not of the tree, lie outside of all others.
 */
function withLevels(arcs, words) {
  const tops = { 1: new Array(2 * words + 2).fill(0), 2: new Array(2 * words + 2).fill(0) };
  const longest = new Map();
  for (const arc of arcs) {
    for (const word of [left(arc), right(arc)]) {
      const place = `${arc.side}:${word}`;
      longest.set(place, Math.max(longest.get(place) ?? 0, span(arc)));
    }
  }
  const turn = (arc) => (arc.head ? span(arc) : longest.get(`${arc.side}:${arc.dependent}`) + 0.5);
  return [...arcs]
    .sort((one, other) => Boolean(one.extra) - Boolean(other.extra) || turn(one) - turn(other))
    .map((arc) => {
      // Word w has index 2w and the gap behind it 2w + 1, so that arcs that only touch may share a level.
      const over = arc.head ? [2 * left(arc) + 1, 2 * right(arc)] : [2 * arc.dependent, 2 * arc.dependent + 1];
      const under = arc.head ? over : [over[0] - 1, over[1] + 1];
      const level = Math.max(...tops[arc.side].slice(...under)) + 1;
      tops[arc.side].fill(level, ...over);
      return { ...arc, level };
    });
}

/** Where on a word the ends of its arcs stand, from the word's middle; in the order in which arcs nest. */
function portsOf(arcs, forms) {
  const ends = new Map();
  for (const arc of arcs) {
    for (const word of new Set([left(arc), right(arc)])) {
      const place = `${arc.side}:${word}`;
      ends.set(place, [...(ends.get(place) ?? []), arc]);
    }
  }
  const ports = new Map();
  for (const [place, here] of ends) {
    const [side, word] = place.split(":").map(Number);
    const order = here.sort((one, other) => compareTurns(turnAt(one, word), turnAt(other, word)));
    const middle = (order.length - 1) / 2;
    const room = Math.max(forms[word - 1], 14);
    const step = PORT_STEPS.find((width) => width * (order.length - 1) <= room) ?? PORT_STEPS.at(-1);
    order.forEach((arc, number) => ports.set(port(side, word, arc.key), (number - middle) * step));
  }
  return ports;
}

/** From left to right: left arcs, the shortest first, the root's, then right arcs, the longest first. */
function turnAt(arc, word) {
  const direction = Math.sign(right(arc) - word) - Math.sign(word - left(arc));
  return [direction, -direction * span(arc)];
}

function compareTurns(one, other) {
  return one[0] - other[0] || one[1] - other[1];
}

/** From the left edge to the first middle, from middle to middle, and from the last one to the right edge. */
function distancesOf(words, arcs, ports, gutter) {
  const reach = words.map((width) => width / 2);
  for (const arc of arcs) {
    for (const word of [left(arc), right(arc)]) {
      const away = Math.abs(ports.get(port(arc.side, word, arc.key)));
      reach[word - 1] = Math.max(reach[word - 1], away + (arc.head ? 0 : arc.width / 2));
    }
  }
  const between = reach.slice(1).map((after, at) => reach[at] + WORD_GAP + after);
  return [gutter + reach[0], ...between, reach.at(-1)];
}

/** By side and word: the level of the outermost arc that ends there. */
function heightsOf(arcs) {
  const heights = new Map();
  for (const arc of arcs) {
    for (const word of [left(arc), right(arc)]) {
      const place = `${arc.side}:${word}`;
      heights.set(place, Math.max(heights.get(place) ?? 0, arc.level));
    }
  }
  return { levels: heights, arcs };
}

/** The parts of an arc's line that no other arc cuts: a relation written over a crossing would hide it. */
function stretchesOf(arc, ports, { levels, arcs }) {
  const own = (word) => ports.get(port(arc.side, word, arc.key));
  const stops = [{ word: left(arc), first: own(left(arc)), last: own(left(arc)) }];
  for (let word = left(arc) + 1; word < right(arc); word += 1) {
    if ((levels.get(`${arc.side}:${word}`) ?? 0) <= arc.level) continue;
    const here = arcs.filter((one) => one.side === arc.side && (left(one) === word || right(one) === word));
    const columns = here.map((one) => ports.get(port(one.side, word, one.key)));
    stops.push({ word, first: Math.min(...columns), last: Math.max(...columns) });
  }
  stops.push({ word: right(arc), first: own(right(arc)), last: own(right(arc)) });
  return stops.slice(1).map((stop, at) => ({
    left: stops[at].word, right: stop.word, start: stops[at].last, stop: stop.first,
  }));
}

function roomIn(stretch, distances) {
  return sum(distances.slice(stretch.left, stretch.right)) + stretch.stop - stretch.start;
}

/** Widen the gaps under an arc, evenly, until its relation fits into the widest stretch; returns that stretch. */
function makeRoom(arc, stretches, distances) {
  const widest = stretches.reduce((one, other) => (roomIn(other, distances) > roomIn(one, distances) ? other : one));
  const missing = arc.width + 2 * CORNER.width + 4 - roomIn(widest, distances);
  for (let gap = widest.left; missing > 0 && gap < widest.right; gap += 1) {
    distances[gap] += missing / (widest.right - widest.left);
  }
  return widest;
}

function middleOf(stretch, centres) {
  return (centres[stretch.left - 1] + stretch.start + centres[stretch.right - 1] + stretch.stop) / 2;
}

function runningSums(values) {
  let total = 0;
  return values.map((value) => (total += value));
}

function sum(values) {
  return values.reduce((one, other) => one + other, 0);
}
