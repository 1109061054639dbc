// Labels that each name a head: by its number, by its distance, or by counting words of its part of speech.

const NONE = -1;
const NUMBER = /^[+-]?[0-9]{1,9}$/;
const COUNTED = /^([+-][0-9]{1,6})@(.*)$/;

/** Whether an encoding's labels each name a head. */
export function namesHeads(encoding) {
  return ["rel-pos", "absolute", "relative"].includes(encoding);
}

/** The head that a word's label asserts, 0 for the root, -1 for none. Words are numbered from 1. */
export function assertedHead(encoding, label, word, { words, upos }) {
  if (encoding === "rel-pos") return byPartOfSpeech(label, word, upos);
  if (!NUMBER.test(label)) return NONE;
  const number = Number(label);
  if (encoding === "absolute" || number === 0) return inside(number, word, words);
  return inside(word + number > 0 ? word + number : NONE, word, words);
}

function inside(head, word, words) {
  return head >= 0 && head <= words && head !== word ? head : NONE;
}

/** `+2@VERB` is the second verb to the right. Where there are too few, one fewer will do. */
function byPartOfSpeech(label, word, upos) {
  const [, count, tag] = label.match(COUNTED) ?? [];
  const wanted = Math.abs(Number(count ?? 0));
  const step = Number(count) > 0 ? 1 : -1;
  let [seen, last] = [0, NONE];
  for (let place = word + step; seen < wanted && place >= 0 && place <= upos.length; place += step) {
    if (place === 0 ? tag !== "ROOT" : tag === "ROOT" || tag !== upos[place - 1]) continue;
    seen += 1;
    last = place;
  }
  return seen >= Math.max(wanted - 1, 1) ? last : NONE;
}

/** The parts of speech of a sentence in CoNLL-U; multiword tokens and empty nodes are no words. */
export function uposOf(conllu) {
  const rows = conllu.split("\n").filter((line) => /^[0-9]+\t/.test(line));
  return rows.map((line) => line.split("\t")[3]);
}
