// One sentence of the answer: its trees, the picture of the chosen one, its decoding and its table.

import * as api from "./api.js";
import { byId, fill, make } from "./dom.js";
import { decodingOf } from "./moments.js";
import { Picture } from "./picture.js";
import { Replay } from "./replay.js";
import { probabilityOf, described, differing, percent } from "./trees.js";

const HINT = "Point at an arc, a word or a character of a label to see what belongs together.";

/** Shows sentences; the server draws the tree that is chosen. `guard` runs what may fail, and shows the error. */
export class SentenceView {
  constructor(settings, guard) {
    Object.assign(this, { settings, guard, sentence: null, drawn: null, replay: null });
  }

  get tree() {
    return this.sentence.trees[this.number];
  }

  show(sentence) {
    this.sentence = sentence;
    const { trees, forms } = sentence;
    fill(byId("tokens"), forms.map((form) => make("span", {}, form)));
    fill(byId("choices"), trees.length > 1 ? trees.map((tree, at) => this.choice(tree, at)) : []);
    byId("choices-note").textContent = shareOf(trees);
    this.showTree(0);
  }

  /** Nothing to show any more. */
  clear() {
    this.replay?.stop();
    Object.assign(this, { sentence: null, drawn: null, replay: null });
    this.settle();
  }

  /** What is there stays until the picture has come; only the last one that was asked for is shown. */
  showTree(number) {
    this.replay?.stop();
    this.number = number;
    const { sentence, tree } = this;
    const isLast = () => this.sentence === sentence && this.tree === tree;
    byId("picture").setAttribute("aria-busy", "true");
    this.guard(async () => {
      const asked = this.settings.forDrawing();
      const answer = await api.parse({ conllu: tree.conllu, ...asked }).finally(() => isLast() && this.settle());
      if (isLast()) this.render(answer.sentences[0].trees[0], asked.labels);
    });
  }

  settle() {
    byId("picture").removeAttribute("aria-busy");
  }

  render(drawn, encoding) {
    const { forms, rtl, trees } = this.sentence;
    this.drawn = drawn;
    const decoding = drawn.replay ? decodingOf(drawn, encoding) : null;
    const changed = this.number ? differing(drawn, trees[0]) : new Set();
    const onSelect = (arcs) => this.tell(arcs);
    const picture = new Picture({ svg: drawn.svg, tree: drawn, forms, rtl, signs: decoding?.signs, changed, onSelect });
    picture.showMoment(null, decoding?.at(decoding.last).lost);
    fill(byId("picture"), picture.element);
    this.replay = decoding ? new Replay(decoding, forms, picture) : null;
    fill(byId("replay"), this.replay ? this.replay.element : make("p", { class: "hint" }, cannotSay(encoding)));
    const columns = this.settings.columns.filter((name) => this.sentence[name].some((value) => value !== "_"));
    byId("no-columns").hidden = !this.settings.columns.length || columns.length > 0;
    fill(byId("table"), this.table(columns));
    this.tell([]);
  }

  tell(arcs) {
    const facts = arcs.map((arc) => described(arc, this.sentence.forms));
    if (facts.length) byId("fact").textContent = facts.join("; ");
    else byId("fact").textContent = this.number ? this.difference() : HINT;
  }

  difference() {
    const words = [...differing(this.tree, this.sentence.trees[0])].map((word) => this.sentence.forms[word - 1]);
    return `Underlined is what differs from the first tree: ${words.join(", ")}.`;
  }

  choice(tree, at) {
    const probability = probabilityOf(tree);
    const share = probability === null ? "" : probability < 0.01 ? "< 1 %" : percent(probability);
    const name = `Tree ${at + 1}${share && `, probability ${share}`}`;
    const input = make("input", { type: "radio", name: "tree", "aria-label": name, change: () => this.showTree(at) });
    input.checked = at === 0;
    return make("label", { class: "choice" }, input, make("b", {}, String(at + 1)), share && make("span", {}, share));
  }

  table(columns) {
    const { drawn, sentence } = this;
    const { forms } = sentence;
    const probabilities = drawn.probabilities;
    const first = ["", "word", "head", "relation", "plane", ...columns];
    const names = [...first, ...(drawn.tasks ?? []), ...(probabilities ? ["probability"] : [])];
    const head = (number) => (number ? `${number} ${forms[number - 1]}` : "root");
    const row = (form, at) => [
      String(at + 1), form, head(drawn.heads[at]), drawn.deprels[at], drawn.planes[at] ? String(drawn.planes[at]) : "",
      ...columns.map((name) => sentence[name][at]), ...(drawn.labels?.[at] ?? []), ...(probabilities ? [percent(probabilities[at])] : []),
    ];
    const kind = (at) => (at < first.length ? null : "mono");
    const cells = (texts) => texts.map((text, at) => make("td", { dir: "auto", class: kind(at) }, text));
    return make(
      "table",
      {},
      make("thead", {}, make("tr", {}, names.map((name) => make("th", { scope: "col" }, name)))),
      make("tbody", {}, forms.map((form, at) => make("tr", {}, cells(row(form, at))))),
    );
  }
}

/** Why the probabilities of some trees do not add up to 100 %. */
function shareOf(trees) {
  const probabilities = trees.map(probabilityOf).filter((probability) => probability !== null);
  const share = probabilities.reduce((sum, probability) => sum + probability, 0);
  if (trees.length < 2 || !probabilities.length || share > 0.995) return "";
  return `Together ${share < 0.01 ? "less than 1 %" : percent(share)}; the rest belongs to trees that are not listed.`;
}

function cannotSay(encoding) {
  const why = encoding === "rel-pos" ? "lack parts of speech for this sentence" : "cannot express this tree";
  return `The labels of ${encoding} ${why}, so there is no decoding to show.`;
}
