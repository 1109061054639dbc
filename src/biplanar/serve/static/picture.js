// A sentence's tree as a picture that answers: plane 1 above the words, plane 2 below, columns and labels in between.

import { bracketKey } from "./brackets.js";
import { make, makeSvg } from "./dom.js";
import { CORNER, layOut } from "./layout.js";
import { described, percent } from "./trees.js";

const MARGIN = 12;
const WORD = { size: 16, line: 30, baseline: 20 };
const SMALL = { size: 12, line: 22, baseline: 14 };
const VALUE = { line: 18, baseline: 10 }; // tags, lemmas, features
const BRACKET = { size: 14, width: 11 };
const BOLD = 600; // relations may become bold, and need room for it
const ARROW = { length: 7, width: 7 };
const FIRST_LEVEL = 27;
const LEVEL = { usual: 21, least: 9, roomy: 24 }; // where there are more levels than `roomy`, they move together

/** Made anew for every tree. `signs`: arcs by signs of labels. `onSelect` hears of arcs that are pointed at or chosen. */
export class Picture {
  constructor({ forms, rtl, arcs, rows, labels, tasks, signs, onSelect }) {
    Object.assign(this, { forms: forms.map((form) => shortened(form)), rtl, arcs, labels, tasks, signs, onSelect });
    this.rows = rows.map(({ name, values }) => ({ name: shortened(name), values: values.map((one) => shortened(one)) }));
    this.byWord = new Map(arcs.filter((arc) => !arc.extra).map((arc) => [arc.dependent, arc]));
    this.chosen = null; // the word whose arc stays lit
    this.layout = this.layOut();
    this.svg = this.draw();
    this.element = this.frame();
    this.listen();
  }

  frame() {
    const name = "Words and their heads; the arrow keys go from word to word";
    const list = { role: "listbox", "aria-orientation": "horizontal", "aria-label": name, tabindex: "0" };
    return make("div", { class: "picture", dir: this.rtl ? "rtl" : "ltr", ...list }, this.svg);
  }

  layOut() {
    const forms = this.forms.map((form) => textWidth(form, WORD.size, "sans"));
    const labelWidth = (text) =>
      this.signs ? [...text].length * BRACKET.width : textWidth(text, SMALL.size, "mono");
    const valueWidths = (at) => this.rows.map((row) => textWidth(row.values[at], SMALL.size, "sans"));
    const words = forms.map((width, at) =>
      Math.max(width, ...valueWidths(at), ...(this.labels?.[at] ?? []).map(labelWidth)),
    );
    const named = [...this.rows.map((row) => row.name), ...(this.labels ? this.tasks : [])];
    const names = named.map((name) => textWidth(name, SMALL.size, "sans"));
    const relationWidth = (arc) => textWidth(relationText(arc), SMALL.size, "sans", BOLD) + 8;
    const arcs = this.arcs.map((arc) => ({ ...arc, width: relationWidth(arc) }));
    return layOut({ words, forms, arcs, gutter: names.length ? Math.max(...names) + 20 : 0 });
  }

  // ---- drawing

  draw() {
    const { arcs, width } = this.layout;
    const levels = (side) => Math.max(0, ...arcs.filter((arc) => arc.side === side).map((arc) => arc.level));
    const most = Math.max(levels(1), levels(2));
    this.step = most > LEVEL.roomy ? Math.max(LEVEL.least, (LEVEL.usual * LEVEL.roomy) / most) : LEVEL.usual;
    const depth = (side) => (levels(side) ? FIRST_LEVEL + (levels(side) - 1) * this.step + SMALL.size : 0);
    this.width = Math.ceil(width) + 2 * MARGIN;
    this.top = MARGIN + depth(1);
    const labels = SMALL.line * (this.labels ? this.tasks.length : 0);
    this.bottom = this.top + WORD.line + VALUE.line * this.rows.length + labels;
    const height = this.bottom + depth(2) + MARGIN;
    const size = { width: this.width, height, viewBox: `0 0 ${this.width} ${height}` };
    const lines = [...arcs].sort((one, other) => one.crossing - other.crossing).map((arc) => this.drawArc(arc));
    return makeSvg(
      "svg",
      { ...size, role: "presentation", class: "tree" },
      makeSvg("g", { "aria-hidden": "true" }, this.drawNames()),
      this.forms.map((form, at) => this.drawWord(form, at + 1)),
      makeSvg("g", { "aria-hidden": "true" }, lines),
    );
  }

  x(column) {
    return round(this.rtl ? this.width - MARGIN - column : MARGIN + column);
  }

  y(arc) {
    const away = FIRST_LEVEL + (arc.level - 1) * this.step;
    return round(arc.side === 1 ? this.top - away : this.bottom + away);
  }

  drawArc(arc) {
    const kinds = ["crossing", "changed", "extra"].filter((kind) => arc[kind]);
    const line = this.line(arc);
    const place = { x: this.x(arc.middle), y: this.y(arc) + 4 };
    const text = makeSvg("text", { ...place, class: "relation" }, shortened(arc.relation));
    if (arc.chance !== null) text.append(makeSvg("tspan", { class: "chance" }, ` ${percent(arc.chance)}`));
    return makeSvg(
      "g",
      { class: ["arc", `plane${arc.plane}`, ...kinds].join(" "), "data-arc": arc.key },
      makeSvg("path", { class: "reach", d: line }),
      makeSvg("path", { class: "line", d: line }),
      makeSvg("path", { class: "arrow", d: this.arrow(arc) }),
      text,
    );
  }

  /** Away from the head, around a corner, on to the relation, and behind it back to the dependent. */
  line(arc) {
    const inwards = arc.side === 1 ? 1 : -1;
    const base = arc.side === 1 ? this.top : this.bottom;
    const [from, to, middle, y] = [this.x(arc.from), this.x(arc.to), this.x(arc.middle), this.y(arc)];
    const tip = base - inwards * (ARROW.length - 1);
    if (!arc.head) return `M${to} ${y + inwards * 10}V${tip}`;
    const onward = to > from ? 1 : -1;
    const right = onward * CORNER.width;
    const down = inwards * CORNER.height;
    const half = (onward * arc.width) / 2;
    const there = `M${from} ${base}V${y + down}q0 ${-down} ${right} ${-down}H${round(middle - half)}`;
    return `${there}M${round(middle + half)} ${y}H${to - right}q${right} 0 ${right} ${down}V${tip}`;
  }

  arrow(arc) {
    const inwards = arc.side === 1 ? 1 : -1;
    const base = arc.side === 1 ? this.top : this.bottom;
    return `M${this.x(arc.to)} ${base}l${-ARROW.width / 2} ${-inwards * ARROW.length}h${ARROW.width}z`;
  }

  drawNames() {
    const place = { x: this.x(0), class: "name", "text-anchor": this.rtl ? "end" : "start" };
    const draw = (name, y) => makeSvg("text", { ...place, y }, name);
    return [
      this.rows.map(({ name }, row) => draw(name, this.valueY(row))),
      this.labels ? this.tasks.map((task, row) => draw(task, this.labelY(row))) : [],
    ].flat();
  }

  drawWord(form, word) {
    const x = this.x(this.layout.centres[word - 1]);
    const arc = this.byWord.get(word);
    const width = textWidth(form, WORD.size, "sans") + 10;
    const text = { x, y: this.top + WORD.baseline, class: "form", direction: this.rtl ? "rtl" : null };
    return makeSvg(
      "g",
      {
        class: "word", role: "option", id: `word-${word}`, "data-word": word, "data-arc": arc.key,
        "aria-selected": "false", "aria-label": described(arc, this.forms),
      },
      makeSvg("rect", { class: "tile", x: x - width / 2, y: this.top + 2, width, height: WORD.line - 4, rx: 6 }),
      makeSvg("text", text, form),
      this.rows.map(({ name, values }, row) => this.drawValue(name, values[word - 1], row, x)),
      (this.labels?.[word - 1] ?? []).map((label, row) => this.drawLabel(label, word, row, x)),
    );
  }

  /** Lemmas are of the words' script; tags and features are not, and may end in signs that would be turned. */
  drawValue(name, value, row, x) {
    const direction = this.rtl && name === "lemma" ? "rtl" : null;
    return value ? makeSvg("text", { class: "value", x, y: this.valueY(row), direction }, value) : null;
  }

  valueY(row) {
    return this.top + WORD.line + VALUE.line * row + VALUE.baseline;
  }

  labelY(row) {
    return this.bottom - SMALL.line * (this.tasks.length - row) + SMALL.baseline;
  }

  drawLabel(label, word, row, x) {
    const y = this.labelY(row);
    const place = { class: `label ${label === "_" ? "none" : ""}`, x, y };
    if (!this.signs || label === "_") return makeSvg("text", place, label);
    const signs = [...label];
    const start = x - ((signs.length - 1) * BRACKET.width) / 2;
    const columns = signs.map((_, at) => start + at * BRACKET.width);
    return makeSvg("g", {}, signs.map((sign, at) => this.drawBracket(sign, [word, row + 1, at], columns[at], y)));
  }

  drawBracket(sign, place, x, y) {
    const key = bracketKey(...place);
    const tile = { class: "tile", x: x - BRACKET.width / 2, y: y - 14, width: BRACKET.width, height: 19, rx: 4 };
    return makeSvg(
      "g",
      { class: `bracket plane${place[1]}`, "data-bracket": key, "data-arc": this.signs.get(key)?.join(" ") },
      makeSvg("rect", tile),
      makeSvg("text", { x, y }, sign),
    );
  }

  // ---- answering

  listen() {
    this.element.addEventListener("pointerover", (event) => this.light(keysUnder(event.target) ?? this.chosenKeys()));
    this.element.addEventListener("pointerleave", () => this.light(this.chosenKeys()));
    this.element.addEventListener("click", (event) => {
      const key = keysUnder(event.target)?.[0];
      const arc = this.arcs.find((one) => one.key === key);
      this.choose(arc && arc.dependent !== this.chosen ? arc.dependent : null);
    });
    this.element.addEventListener("keydown", (event) => this.press(event));
  }

  press(event) {
    const forward = this.rtl ? "ArrowLeft" : "ArrowRight";
    const backward = this.rtl ? "ArrowRight" : "ArrowLeft";
    const last = this.forms.length;
    const now = this.chosen ?? 0;
    const steps = { [forward]: Math.min(now + 1, last), [backward]: Math.max(now - 1, 1) };
    const places = { ...steps, Home: 1, End: last, Escape: null };
    if (!(event.key in places)) return;
    event.preventDefault();
    this.choose(places[event.key]);
  }

  /** Keep a word's arc lit, or none. */
  choose(word) {
    this.chosen = word;
    for (const element of this.svg.querySelectorAll("[role=option]")) {
      element.setAttribute("aria-selected", String(Number(element.dataset.word) === word));
    }
    if (word) this.element.setAttribute("aria-activedescendant", `word-${word}`);
    else this.element.removeAttribute("aria-activedescendant");
    if (word) this.reveal(word);
    this.light(this.chosenKeys());
  }

  chosenKeys() {
    return this.chosen ? [this.byWord.get(this.chosen).key] : [];
  }

  /** Light up arcs, each with its two words and its signs. */
  light(keys) {
    const arcs = this.arcs.filter((one) => keys.includes(one.key));
    for (const element of this.svg.querySelectorAll(".lit")) element.classList.remove("lit");
    this.svg.classList.toggle("pointing", arcs.length > 0);
    for (const { key, head, dependent } of arcs) {
      for (const element of this.svg.querySelectorAll(`.arc[data-arc="${key}"], .bracket[data-arc~="${key}"]`)) {
        element.classList.add("lit");
      }
      for (const word of [head, dependent]) this.word(word)?.classList.add("lit");
    }
    this.onSelect?.(arcs);
  }

  word(number) {
    return this.svg.querySelector(`.word[data-word="${number}"]`);
  }

  /** Scroll a word into sight, sideways only. */
  reveal(word) {
    const box = this.element.getBoundingClientRect();
    const place = this.word(word).getBoundingClientRect();
    const hidden = place.left < box.left + 40 || place.right > box.right - 40;
    if (hidden) this.element.scrollLeft += place.left + place.width / 2 - (box.left + box.width / 2);
  }

  /** Show a moment of the decoding: these arcs only, this word and bracket at work. Null shows the whole tree. Arcs
   * that labels cannot say are dashed. */
  showMoment(moment, lost = moment?.lost) {
    this.svg.classList.toggle("replaying", moment !== null);
    for (const element of this.svg.querySelectorAll(".arc")) {
      const extra = element.classList.contains("extra");
      element.classList.toggle("absent", moment ? !moment.arcs.has(element.dataset.arc) : extra);
      element.classList.toggle("fresh", Boolean(moment?.fresh.includes(element.dataset.arc)));
      element.classList.toggle("lost", Boolean(lost?.has(element.dataset.arc)));
    }
    for (const element of this.svg.querySelectorAll(".word")) {
      element.classList.toggle("current", Number(element.dataset.word) === moment?.word);
    }
    for (const element of this.svg.querySelectorAll(".bracket")) {
      element.classList.toggle("read", Boolean(moment?.read.has(element.dataset.bracket)));
      element.classList.toggle("current", Boolean(moment?.brackets.includes(element.dataset.bracket)));
    }
    if (moment?.word) this.reveal(moment.word);
  }
}

function relationText(arc) {
  const relation = shortened(arc.relation);
  return arc.chance === null ? relation : `${relation} ${percent(arc.chance)}`;
}

/** The keys of the arcs under the pointer; a sign of a label may have a part in several. */
function keysUnder(target) {
  return target.closest?.("[data-arc]")?.dataset.arc.split(" ") ?? null;
}

function round(number) {
  return Math.round(2 * number) / 2;
}

const measurer = document.createElement("canvas").getContext("2d");
const families = {};

function textWidth(text, size, family, weight = 400) {
  families[family] ??= getComputedStyle(document.documentElement).getPropertyValue(`--${family}`);
  measurer.font = `${weight} ${size}px ${families[family]}`;
  return measurer.measureText(text).width;
}

/** A text of a length that fits into a picture. */
function shortened(text, most = 48) {
  const signs = [...text];
  return signs.length > most ? `${signs.slice(0, most - 1).join("")}…` : text;
}
