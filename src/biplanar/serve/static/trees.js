// What a tree of the server's answer says, in words.

/** The words that have another head or relation than in another tree of the same words. */
export function differing(tree, other) {
  const differs = (at) => tree.heads[at] !== other.heads[at] || tree.deprels[at] !== other.deprels[at];
  return new Set(tree.heads.map((_, at) => at + 1).filter((word) => differs(word - 1)));
}

/** An arc in words. */
export function described(arc, forms) {
  const facts = [
    `${forms[arc.dependent - 1]}: ${arc.relation} of ${arc.head ? forms[arc.head - 1] : "the sentence"}`,
    arc.plane ? `plane ${arc.plane}` : null,
    arc.enhanced ? "in the enhanced graph" : null,
    arc.crossing ? "crosses another arc" : null,
    arc.probability === null ? null : `probability ${percent(arc.probability)}`,
  ];
  return facts.filter(Boolean).join(" · ");
}

/** A probability as people read it; only what is certain is 100 %. */
export function percent(probability) {
  const whole = Math.round(100 * probability);
  return `${probability < 1 ? Math.min(whole, 99) : whole} %`;
}

/** The probability of a tree, null where it is unknown. */
export function probabilityOf(tree) {
  return tree.log_probability === null ? null : Math.exp(tree.log_probability);
}
