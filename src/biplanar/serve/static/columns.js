// Columns of CoNLL-U that may stand under the words: tags, lemmas, features.

const COLUMNS = { lemma: 2, upos: 3, xpos: 4, feats: 5 };

/** Rows with a name and a value for each word: one for each column, and one for each feature. Empty ones are left out. */
export function columnRows(conllu, names) {
  const words = conllu.split("\n").filter((line) => /^\d+\t/.test(line)).map((line) => line.split("\t"));
  const valuesOf = (name) => words.map((word) => word[COLUMNS[name]]);
  const rows = names.flatMap((name) =>
    name === "feats" ? featureRows(valuesOf(name)) : [{ name, values: valuesOf(name).map(shown) }],
  );
  return rows.filter((row) => row.values.some(Boolean));
}

function featureRows(column) {
  const words = column.map(featuresOf);
  const names = [...new Set(words.flatMap((features) => [...features.keys()]))].sort(byAlphabet);
  return names.map((name) => ({ name, values: words.map((features) => features.get(name) ?? "") }));
}

function byAlphabet(one, other) {
  return one.toLowerCase() < other.toLowerCase() ? -1 : 1;
}

function featuresOf(feats) {
  const pairs = feats === "_" ? [] : feats.split("|").map((pair) => pair.split("="));
  return new Map(pairs.map(([name, ...value]) => [name, value.join("=")]));
}

function shown(value) {
  return value === "_" ? "" : value;
}
