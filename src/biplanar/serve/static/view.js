// One sentence of the answer: its trees, the picture of the chosen one, its decoding and its table.

import { isBrackets } from "./brackets.js";
import { columnRows } from "./columns.js";
import { byId, fill, make } from "./dom.js";
import { decodingOf } from "./moments.js";
import { Picture } from "./picture.js";
import { Replay } from "./replay.js";
import { arcsOf, described, differing, percent } from "./trees.js";

const HINT = "Point at an arc, a word or a sign of a label to see what belongs together.";

/**
 * Shows sentences; remembers the one it shows, with the number of the tree that was chosen. `columns` gives the names
 * of those to show under the words.
 */
export class SentenceView {
  constructor(columns) {
    this.columns = columns;
    this.sentence = null;
    this.replay = null;
  }

  get tree() {
    return this.sentence.trees[this.number];
  }

  show(sentence, encoding) {
    Object.assign(this, { sentence, encoding });
    fill(byId("choices"), sentence.trees.length > 1 ? sentence.trees.map((tree, at) => this.choice(tree, at)) : []);
    this.showTree(0);
  }

  /** Nothing to show any more. */
  clear() {
    this.replay?.stop();
    Object.assign(this, { sentence: null, replay: null });
  }

  showTree(number) {
    this.replay?.stop();
    this.number = number;
    const { sentence, tree, encoding } = this;
    const decoding = tree.labels ? decodingOf(tree, encoding) : null;
    this.rows = columnRows(tree.conllu, this.columns());
    byId("no-columns").hidden = !this.columns().length || this.rows.length > 0;
    const picture = new Picture({
      forms: sentence.forms, rtl: sentence.rtl, arcs: this.arcs(decoding), rows: this.rows, labels: tree.labels,
      tasks: tasksOf(encoding, tree), signs: decoding?.signs ?? null, onSelect: (arcs) => this.tell(arcs),
    });
    picture.showMoment(null, decoding?.at(decoding.last).lost);
    fill(byId("picture"), picture.element);
    this.replay = decoding ? new Replay(decoding, sentence.forms, picture) : null;
    fill(byId("replay"), this.replay ? this.replay.element : make("p", { class: "hint" }, cannotSay(encoding)));
    fill(byId("table"), this.table());
    this.tell([]);
  }

  arcs(decoding) {
    const changed = this.number ? differing(this.tree, this.sentence.trees[0]) : new Set();
    const arcs = arcsOf(this.tree).map((arc) => ({ ...arc, changed: changed.has(arc.dependent) }));
    return [...arcs, ...(decoding?.stray ?? [])];
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
    const chance = tree.log_probability === null ? null : Math.exp(tree.log_probability);
    const share = chance === null ? "" : chance < 0.01 ? "< 1 %" : percent(chance);
    const name = `Tree ${at + 1}${share && `, probability ${share}`}`;
    const input = make("input", { type: "radio", name: "tree", "aria-label": name, change: () => this.showTree(at) });
    input.checked = at === 0;
    return make("label", { class: "choice" }, input, make("b", {}, String(at + 1)), share && make("span", {}, share));
  }

  table() {
    const { tree } = this;
    const { forms } = this.sentence;
    const tasks = tree.labels ? tasksOf(this.encoding, tree) : [];
    const chances = tree.probabilities;
    const columns = this.rows.map((row) => row.name);
    const first = ["", "word", "head", "relation", "plane", ...columns];
    const names = [...first, ...tasks, ...(chances ? ["probability"] : [])];
    const head = (number) => (number ? `${number} ${forms[number - 1]}` : "root");
    const row = (form, at) => [
      String(at + 1), form, head(tree.heads[at]), tree.deprels[at], tree.planes[at] ? String(tree.planes[at]) : "",
      ...this.rows.map((one) => one.values[at]), ...(tree.labels?.[at] ?? []), ...(chances ? [percent(chances[at])] : []),
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

function tasksOf(encoding, { labels, replay, tasks }) {
  if (replay) return tasks;
  return isBrackets(encoding) ? (labels?.[0] ?? []).map((_, at) => `plane ${at + 1}`) : ["head"];
}

function cannotSay(encoding) {
  const why = encoding === "rel-pos" ? "lack parts of speech for this sentence" : "cannot say this tree";
  return `The labels of ${encoding} ${why}, so there is no decoding to show.`;
}
