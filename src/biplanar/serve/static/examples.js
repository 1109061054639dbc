// Sentences to begin with, written for this page.

export const TEXTS = [
  "A hearing is scheduled on the issue today.",
  "I bought a car yesterday that I like.",
  "What do you want to know? Ask her about it.",
];

function block(text, words) {
  const row = ([form, upos, head, deprel], at) => [at + 1, form, "_", upos, "_", "_", head, deprel, "_", "_"];
  const rows = words.map((word, at) => row(word, at).join("\t"));
  return [`# text = ${text}`, ...rows, "", ""].join("\n");
}

const LATIN = "Magno puer fratris cum gaudio novum librum legit.";
const GERMAN = "Er hat das Buch gestern gelesen, das ihm alle empfohlen hatten.";
const ENGLISH = "A hearing is scheduled on the issue today.";
const HEBREW = "הילד קרא אתמול ספר בגינה שקיבל מאחותו.";

/** Trees with crossing arcs, and one without. */
export const TREES =
  block(LATIN, [
    ["Magno", "ADJ", 5, "amod"],
    ["puer", "NOUN", 8, "nsubj"],
    ["fratris", "NOUN", 7, "nmod"],
    ["cum", "ADP", 5, "case"],
    ["gaudio", "NOUN", 8, "obl"],
    ["novum", "ADJ", 7, "amod"],
    ["librum", "NOUN", 8, "obj"],
    ["legit", "VERB", 0, "root"],
    [".", "PUNCT", 8, "punct"],
  ]) +
  block(GERMAN, [
    ["Er", "PRON", 6, "nsubj"],
    ["hat", "AUX", 6, "aux"],
    ["das", "DET", 4, "det"],
    ["Buch", "NOUN", 6, "obj"],
    ["gestern", "ADV", 6, "advmod"],
    ["gelesen", "VERB", 0, "root"],
    [",", "PUNCT", 11, "punct"],
    ["das", "PRON", 11, "obj"],
    ["ihm", "PRON", 11, "iobj"],
    ["alle", "PRON", 11, "nsubj"],
    ["empfohlen", "VERB", 4, "acl:relcl"],
    ["hatten", "AUX", 11, "aux"],
    [".", "PUNCT", 6, "punct"],
  ]) +
  block(ENGLISH, [
    ["A", "DET", 2, "det"],
    ["hearing", "NOUN", 4, "nsubj:pass"],
    ["is", "AUX", 4, "aux:pass"],
    ["scheduled", "VERB", 0, "root"],
    ["on", "ADP", 7, "case"],
    ["the", "DET", 7, "det"],
    ["issue", "NOUN", 2, "nmod"],
    ["today", "NOUN", 4, "obl:tmod"],
    [".", "PUNCT", 4, "punct"],
  ]) +
  block(HEBREW, [
    ["הילד", "NOUN", 2, "nsubj"],
    ["קרא", "VERB", 0, "root"],
    ["אתמול", "ADV", 2, "advmod"],
    ["ספר", "NOUN", 2, "obj"],
    ["בגינה", "NOUN", 2, "obl"],
    ["שקיבל", "VERB", 4, "acl:relcl"],
    ["מאחותו", "NOUN", 6, "obl"],
    [".", "PUNCT", 2, "punct"],
  ]) +
  block("Nobody came.", [
    ["Nobody", "PRON", 2, "nsubj"],
    ["came", "VERB", 0, "root"],
    [".", "PUNCT", 2, "punct"],
  ]);
