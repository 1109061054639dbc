// What a tree of the server's answer says, in the shapes that pictures, tables and the replay want.

import { arcKey } from "./brackets.js";

/** The arcs of a tree, in the order of their dependents. Plane 2 lies below the words, all else above. */
export function arcsOf(tree) {
  const crossing = crossingDependents(tree.heads);
  return tree.heads.map((head, at) => ({
    key: arcKey(head, at + 1),
    head,
    dependent: at + 1,
    plane: head ? tree.planes[at] : 0,
    side: head && tree.planes[at] === 2 ? 2 : 1,
    relation: tree.deprels[at],
    chance: tree.probabilities?.[at] ?? null,
    crossing: crossing.has(at + 1),
  }));
}

/** The words whose arcs cross another one; the root's arc comes from an artificial root before the first word. */
export function crossingDependents(heads) {
  const arcs = heads.map((head, at) => ({
    first: Math.min(head, at + 1),
    last: Math.max(head, at + 1),
    dependent: at + 1,
  }));
  const found = new Set();
  for (const one of arcs) {
    for (const other of arcs) {
      if (one.first < other.first && other.first < one.last && one.last < other.last) {
        found.add(one.dependent).add(other.dependent);
      }
    }
  }
  return found;
}

/** The words that have another head or relation than in another tree of the same words. */
export function differing(tree, other) {
  const words = tree.heads.map((head, at) => at + 1);
  return new Set(
    words.filter((word) => {
      const at = word - 1;
      return tree.heads[at] !== other.heads[at] || tree.deprels[at] !== other.deprels[at];
    }),
  );
}

/** An arc in words. */
export function described(arc, forms) {
  const facts = [
    `${forms[arc.dependent - 1]}: ${arc.relation} of ${arc.head ? forms[arc.head - 1] : "the sentence"}`,
    arc.plane ? `plane ${arc.plane}` : null,
    arc.crossing ? "crosses another arc" : null,
    arc.chance === null ? null : `probability ${percent(arc.chance)}`,
  ];
  return facts.filter(Boolean).join(" · ");
}

/** A probability as people read it; only what is certain is 100 %. */
export function percent(chance) {
  const whole = Math.round(100 * chance);
  return `${chance < 1 ? Math.min(whole, 99) : whole} %`;
}
