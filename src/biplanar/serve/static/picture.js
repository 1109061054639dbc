// A sentence's tree as the server draws it, made to respond: to the pointer, to keys, and to moments of the decoding.

import { importedSvg, make } from "./dom.js";
import { described } from "./trees.js";

/**
 * One tree. `svg` tells by its attributes which arc, word or character of a label an element is. `signs` has the arcs of
 * each character of the labels, `changed` the words that differ from another tree. `onSelect` is given the arcs that are
 * pointed at or chosen.
 */
export class Picture {
  constructor({ svg, tree, forms, rtl, signs, changed, onSelect }) {
    Object.assign(this, { forms, rtl, onSelect, svg: importedSvg(svg) });
    this.arcs = this.all(".bp-arc").map((element) => arcOf(element, tree));
    this.byWord = new Map(this.arcs.filter((arc) => !arc.isFurther).map((arc) => [arc.dependent, arc]));
    this.chosen = null; // the word whose arc stays lit
    this.prepare(signs, changed);
    this.element = this.frame();
    this.listen();
  }

  all(selector) {
    return [...this.svg.querySelectorAll(selector)];
  }

  prepare(signs, changed) {
    this.svg.classList.add("tree");
    this.svg.removeAttribute("aria-label");
    for (const element of [this.svg, ...this.all("g")]) element.setAttribute("role", "presentation");
    for (const arc of this.arcs) {
      arc.element.setAttribute("aria-hidden", "true");
      arc.element.classList.toggle("changed", !arc.isFurther && changed.has(arc.dependent));
    }
    for (const element of this.all("[data-word]")) {
      const arc = this.byWord.get(Number(element.dataset.word));
      Object.assign(element.dataset, { arc: arc.key });
      element.id = `word-${arc.dependent}`;
      const facts = { role: "option", "aria-selected": "false", "aria-label": described(arc, this.forms) };
      for (const [name, value] of Object.entries(facts)) element.setAttribute(name, value);
    }
    for (const element of this.all("[data-sign]")) {
      const arcs = signs?.get(element.dataset.sign);
      if (arcs) element.dataset.arc = arcs.join(" ");
    }
  }

  frame() {
    const name = "Words and their heads; the arrow keys go from word to word";
    const list = { role: "listbox", "aria-orientation": "horizontal", "aria-label": name, tabindex: "0" };
    return make("div", { class: "picture", dir: this.rtl ? "rtl" : "ltr", ...list }, this.svg);
  }

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
    for (const element of this.all("[role=option]")) {
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

  /** Light up arcs, each with its two words and the characters of labels that say it. */
  light(keys) {
    const arcs = this.arcs.filter((one) => keys.includes(one.key));
    for (const element of this.all(".lit")) element.classList.remove("lit");
    this.svg.classList.toggle("pointing", arcs.length > 0);
    for (const { element, key, head, dependent } of arcs) {
      const words = [head, dependent].map((word) => this.word(word)).filter(Boolean);
      for (const one of [element, ...this.all(`[data-sign][data-arc~="${key}"]`), ...words]) one.classList.add("lit");
    }
    this.onSelect?.(arcs);
  }

  word(number) {
    return this.svg.querySelector(`[data-word="${number}"]`);
  }

  /** Scroll a word into sight, sideways only. */
  reveal(word) {
    const box = this.element.getBoundingClientRect();
    const place = this.word(word).getBoundingClientRect();
    const hidden = place.left < box.left + 40 || place.right > box.right - 40;
    if (hidden) this.element.scrollLeft += place.left + place.width / 2 - (box.left + box.width / 2);
  }

  /** Show a moment of the decoding: these arcs only, this word and character at work. Null shows the whole tree. Arcs
   * that labels cannot express are dashed. */
  showMoment(moment, lost = moment?.lost) {
    this.svg.classList.toggle("replaying", moment !== null);
    for (const { element, key, extra, enhanced } of this.arcs) {
      element.classList.toggle("absent", moment ? enhanced || !moment.arcs.has(key) : extra);
      element.classList.toggle("fresh", Boolean(moment?.fresh.includes(key)));
      element.classList.toggle("lost", Boolean(lost?.has(key)));
    }
    for (const element of this.all("[data-word]")) {
      element.classList.toggle("current", Number(element.dataset.word) === moment?.word);
    }
    for (const element of this.all("[data-sign]")) {
      element.classList.toggle("read", Boolean(moment?.read.has(element.dataset.sign)));
      element.classList.toggle("current", Boolean(moment?.signs.includes(element.dataset.sign)));
    }
    if (moment?.word) this.reveal(moment.word);
  }
}

/** An arc of the picture, and what the tree says of it, or, of an arc of the enhanced graph alone, its relation there. */
function arcOf(element, tree) {
  const { arc: key, plane, crossing, extra, enhanced } = element.dataset;
  const [head, dependent] = key.split("-").map(Number);
  const isFurther = extra !== undefined || enhanced !== undefined;
  const own = { relation: tree.deprels[dependent - 1], probability: tree.probabilities?.[dependent - 1] ?? null };
  const facts = isFurther ? { relation: enhanced ?? "", probability: null } : own;
  const kinds = { crossing: crossing !== undefined, extra: extra !== undefined, enhanced: enhanced !== undefined };
  return { element, key, head, dependent, plane: Number(plane ?? 0), ...facts, ...kinds, isFurther };
}

/** The keys of the arcs under the pointer; a character of a label may have a part in several. */
function keysUnder(target) {
  return target.closest?.("[data-arc]")?.dataset.arc.split(" ") ?? null;
}
