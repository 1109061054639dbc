// The settings that all requests share, and the address that remembers them.

import { byId, fill, make } from "./dom.js";

const COUNTS = [1, 2, 3, 5, 10, 20];
const USUAL_COUNT = 5;
const DECODERS = { search: "search (best tree)", "minimum-risk": "minimum risk", paper: "the paper's" };
const REMEMBERED = ["model", "decoder", "encoding", "columns", "best"];

/** Wired to the selects of the page. `onChange` hears of every change. */
export class Settings {
  constructor(known, onChange) {
    this.known = known;
    const { models, decoders, limits } = known;
    fill(byId("model"), models.map((model) => option(model.name, model.name)));
    fill(byId("decoder"), decoders.map((name) => option(name, DECODERS[name] ?? name)));
    const counts = COUNTS.filter((count) => count <= limits.best);
    fill(byId("best"), counts.map((count) => option(count, count === 1 ? "the best" : `the best ${count}`)));
    this.listEncodings();
    this.set("model", known.default);
    this.set("best", USUAL_COUNT);
    this.usual = Object.fromEntries(REMEMBERED.map((id) => [id, byId(id).value]));
    for (const id of [...REMEMBERED, "probabilities"]) {
      byId(id).addEventListener("change", () => {
        this.refresh();
        onChange(id);
      });
    }
    this.refresh();
  }

  get model() {
    return this.known.models.find((model) => model.name === byId("model").value) ?? this.known.models[0];
  }

  get encoding() {
    return byId("encoding").value || this.model.encoding;
  }

  /** The names of the columns that are shown under the words. */
  get columns() {
    return byId("columns").value.split(",").filter(Boolean);
  }

  /** Take over the values that an address remembers; those that this server does not know are passed over. */
  restore(values) {
    for (const [id, value] of values) this.set(id, value);
    byId("probabilities").checked = values.get("probabilities") === "yes";
    this.refresh();
  }

  /** What differs from the beginning, for an address. */
  remembered() {
    const changed = REMEMBERED.map((id) => [id, byId(id).value]).filter(([id, value]) => value !== this.usual[id]);
    return [...changed, ...(byId("probabilities").checked ? [["probabilities", "yes"]] : [])];
  }

  /** For requests that parse. */
  forParsing() {
    const best = byId("best");
    return {
      model: this.model.name,
      decoder: byId("decoder").value,
      probabilities: byId("probabilities").checked,
      best: best.disabled ? 1 : Number(best.value),
    };
  }

  /** For requests about trees that are there. */
  forShowing() {
    return { model: this.model.name, parse: false };
  }

  /** For requests that draw a tree. */
  forDrawing() {
    const probabilities = byId("probabilities").checked;
    const shown = { labels: this.encoding, columns: this.columns.join(","), probabilities };
    return { ...this.forShowing(), ...shown, svg: true, replay: true };
  }

  /** Show only those settings that say something about what is looked at: a kind of input, parsed or only shown. */
  showFor(input, parses) {
    const shows = input !== "compare";
    const used = { encoding: shows, columns: shows, best: parses && shows, model: parses, decoder: parses };
    for (const [id, isUsed] of Object.entries(used)) byId(id).parentElement.hidden = !isUsed;
    byId("probabilities").parentElement.hidden = !used.best;
  }

  set(id, value) {
    const select = byId(id);
    if ([...(select?.options ?? [])].some((one) => one.value === String(value))) select.value = String(value);
  }

  /** Models whose labels each name a head know no second best tree. */
  refresh() {
    byId("best").disabled = !this.model.several_trees;
    this.listEncodings();
  }

  listEncodings() {
    const select = byId("encoding");
    const before = select.value;
    const { encoding } = this.model;
    const others = this.known.encodings.filter((name) => name !== encoding);
    fill(select, option("", `${encoding} (the model's)`), others.map((name) => option(name, name)));
    this.set("encoding", before);
  }
}

function option(value, text) {
  return make("option", { value: String(value) }, text);
}
