// The decoding, replayed: buttons and a slider that go through its moments, the stacks, and a sentence for each step.

import { fill, make } from "./dom.js";

const PAUSE = 900; // milliseconds between two steps that go by themselves

/** The panel under a picture. It begins at the end, where the tree is whole. */
export class Replay {
  constructor(decoding, forms, picture) {
    Object.assign(this, { decoding, forms, picture });
    this.at = this.last;
    this.timer = null;
    this.slider = make("input", {
      type: "range", min: 0, max: this.last, value: this.last, "aria-label": "Step of the decoding",
      input: () => this.go(Number(this.slider.value)),
    });
    this.count = make("span", { class: "count" });
    this.story = make("p", { class: "story", "aria-live": "polite" });
    this.stacks = make("div", { class: "stacks" });
    this.play = make("button", { type: "button", class: "primary small", click: () => this.toggle() }, "Play");
    this.element = make("section", { class: "card replay", "aria-label": "The decoding, step by step" }, this.parts());
    this.render();
  }

  get last() {
    return this.decoding.last;
  }

  parts() {
    const button = (name, sign, to) => {
      const properties = { type: "button", class: "icon", "aria-label": name, title: name };
      return make("button", { ...properties, click: () => this.go(to()) }, sign);
    };
    return [
      make(
        "div",
        { class: "bar" },
        make("h2", {}, "From labels to the tree"),
        make(
          "div",
          { class: "buttons" },
          button("Back to the start", "⇤", () => 0),
          button("One step back", "←", () => this.at - 1),
          this.play,
          button("One step on", "→", () => this.at + 1),
          button("To the end", "⇥", () => this.last),
        ),
        this.slider,
        this.count,
      ),
      this.story,
      this.stacks,
    ];
  }

  /** Go to a step; whoever does so by hand stops the playing. */
  go(step, { playing = false } = {}) {
    if (!playing) this.stop();
    this.at = Math.min(Math.max(step, 0), this.last);
    this.picture.showMoment(this.decoding.at(this.at));
    this.render();
  }

  toggle() {
    if (this.timer) return this.stop();
    this.go(this.at === this.last ? 0 : this.at, { playing: true });
    this.timer = setInterval(() => {
      this.go(this.at + 1, { playing: true });
      if (this.at === this.last) this.stop();
    }, PAUSE);
    this.play.textContent = "Pause";
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.play.textContent = "Play";
  }

  render() {
    const moment = this.decoding.at(this.at);
    this.slider.value = this.at;
    this.slider.setAttribute("aria-valuetext", `step ${this.at} of ${this.last}`);
    this.count.textContent = `${this.at} / ${this.last}`;
    fill(this.story, moment.story.map((part) => this.part(part)));
    fill(this.stacks, moment.stacks.map((plane) => this.plane(plane)));
  }

  part(part) {
    if (typeof part === "string") return part;
    return part.code ? make("code", {}, part.code) : make("b", { dir: "auto" }, this.forms[part.word - 1]);
  }

  plane({ title, plane, rows }) {
    const stacks = rows.map(({ name, items }) =>
      make(
        "div",
        { class: "stack" },
        make("span", { class: "stack-name" }, name),
        this.chips(items, `${title ? `${title}, stack` : "Stack"} of ${name}`),
      ),
    );
    return make("div", { class: `plane plane${plane}` }, title && make("h3", {}, title), stacks);
  }

  /** What lies on a stack, the top last. */
  chips(items, name) {
    if (!items.length) return make("span", { class: "empty" }, "empty");
    const chip = (word) => make("li", { dir: "auto" }, word ? this.forms[word - 1] : "start");
    return make("ol", { "aria-label": name }, items.map(chip));
  }
}
