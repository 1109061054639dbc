// The page: what is asked for, what is shown.

import * as api from "./api.js";
import { Comparison } from "./compare.js";
import { countSentences, chunksOf } from "./conllu.js";
import { byId, fill, make } from "./dom.js";
import { savePng, saveText } from "./download.js";
import { TEXTS, TREES } from "./examples.js";
import { onFileChosen, onFileDropped } from "./files.js";
import { Pager } from "./pager.js";
import { Settings } from "./settings.js";
import { Tabs } from "./tabs.js";
import { SentenceView } from "./view.js";

const TYPING_PAUSE = 500; // milliseconds after which what was typed is parsed
const LONGEST_LIVE = 600; // characters; a longer text waits for its button

const DRAWN = new Set(["columns", "encoding"]); // settings of the picture alone
const LONGEST_REMEMBERED = 2000; // characters
const NARROW = matchMedia("(max-width: 44rem)"); // there the settings are folded away, as in the style sheet

class Page {
  constructor(known) {
    this.file = null;
    this.run = null; // what is under way, to be aborted by what comes next
    this.typing = null; // the timer that waits for the end of typing
    this.limits = known.limits;
    this.settings = new Settings(known, (id) => (DRAWN.has(id) ? this.redraw() : this.resettled()));
    this.view = new SentenceView(this.settings, (work) => this.guard(work));
    this.comparison = new Comparison((work) => this.guard(work));
    this.pager = new Pager("sentences", {
      isChosen: (sentence) => sentence.nonprojective,
      textOf: (sentence) => sentence.text,
      badgeOf: (sentence) => (sentence.nonprojective ? "crossing" : null),
      onShow: (sentence) => this.showSentence(sentence),
    });
    this.tabs = new Tabs(["text", "file", "compare"], (name) => this.opened(name));
    this.listen();
  }

  // ---- what the user does

  listen() {
    const text = byId("text");
    text.addEventListener("input", () => {
      clearTimeout(this.typing);
      if (text.value.length <= LONGEST_LIVE) this.typing = setTimeout(() => this.parseText(), TYPING_PAUSE);
      else this.nothing("This is a long text: press Parse when it is complete.");
    });
    text.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.parseText();
    });
    byId("parse").addEventListener("click", () => this.parseText());
    fill(byId("examples"), TEXTS.map((example) => this.exampleChip(example)), this.treesChip());
    byId("file-example").addEventListener("click", () => this.openFile(TREES, "four-languages.conllu"));
    onFileChosen(byId("file"), (content, name) => this.openFile(content, name));
    onFileDropped(byId("drop"), (content, name) => this.openFile(content, name));
    for (const radio of document.querySelectorAll("[name=words]")) {
      radio.addEventListener("change", () => {
        this.showSettings();
        this.readFile();
      });
    }
    this.listenToComparison();
    this.listenToDownloads();
    byId("stop").addEventListener("click", () => this.run?.abort());
    const fold = () => (byId("settings").open = !NARROW.matches);
    NARROW.addEventListener("change", fold);
    fold();
  }

  exampleChip(example) {
    const choose = () => {
      byId("text").value = example;
      this.parseText();
    };
    return make("button", { type: "button", class: "chip", click: choose }, example);
  }

  treesChip() {
    const choose = () => {
      this.file = { content: TREES, name: "four-languages.conllu" };
      byId("file-name").textContent = this.file.name;
      this.tabs.show("file");
      byId("tab-file").focus();
    };
    return make("button", { type: "button", class: "chip", click: choose }, "Crossing arcs in four languages");
  }

  listenToComparison() {
    for (const id of ["gold", "system"]) {
      onFileChosen(byId(`${id}-file`), (content) => (byId(id).value = content));
    }
    byId("compare").addEventListener("click", () => this.compare());
    byId("compare-example").addEventListener("click", () => {
      byId("gold").value = TREES;
      byId("system").value = "";
      this.compare();
    });
  }

  listenToDownloads() {
    byId("save-conllu").addEventListener("click", () => saveText("sentence.conllu", this.view.tree.conllu));
    byId("save-all").addEventListener("click", () =>
      saveText("sentences.conllu", this.pager.shown.map((sentence) => sentence.conllu).join("")),
    );
    byId("save-svg").addEventListener("click", () => saveText("sentence.svg", this.view.drawn.svg, "image/svg+xml"));
    byId("save-png").addEventListener("click", () => this.guard(() => savePng("sentence.png", this.view.drawn.svg)));
  }

  /** Another setting: whatever is open is done again. */
  resettled() {
    this.explainText();
    if (this.tabs.open === "text") this.parseText();
    else if (this.tabs.open === "file") this.readFile();
    else if (byId("gold").value.trim() && !byId("system").value.trim()) this.compare();
  }

  /** Other columns or labels: what is there is drawn again. */
  redraw() {
    const text = byId("text").value;
    if (this.tabs.open === "text" && text.trim()) this.remember(text);
    if (this.view.sentence) this.view.showTree(this.view.number);
  }

  opened(name) {
    clearTimeout(this.typing);
    this.run?.abort();
    this.tell("");
    this.showSettings();
    byId("error").hidden = true;
    byId("result").hidden = byId("comparison").hidden = true;
    this.view.clear();
    if (name === "text") this.parseText();
    else if (name === "file") this.readFile();
    else if (this.comparison.pager.items.length) byId("comparison").hidden = false;
  }

  showSettings() {
    this.settings.showFor(this.tabs.open, this.tabs.open !== "file" || this.parsesFile());
  }

  parsesFile() {
    return document.querySelector("[name=words]:checked").value === "parsed";
  }

  // ---- asking

  /** Whatever was saved in the address, or the first example. */
  start() {
    const saved = new URLSearchParams(location.hash.slice(1));
    this.settings.restore(saved);
    this.explainText();
    byId("text").value = saved.get("text") ?? TEXTS[0];
    return this.parseText();
  }

  explainText() {
    const { model } = this.settings;
    const how = "It takes words: put a space between any two, and each sentence on a line of its own.";
    byId("text-hint").textContent = `${model.name}: ${model.description}. ${model.raw_text ? "" : how}`;
  }

  async parseText() {
    clearTimeout(this.typing);
    const text = byId("text").value;
    if (!text.trim()) return this.nothing();
    this.remember(text);
    const request = { ...this.content(text), ...this.settings.forParsing() };
    // Of a long text, the server would refuse to find more than the best trees.
    if (2 * request.best * text.split(/\s+/).length > this.limits.drawn_words) request.best = 1;
    return this.work(async (signal) => {
      const answer = await api.parse(request, signal);
      this.show(answer.sentences);
    });
  }

  /** In the address, so that it can be sent to others and is there when the page is loaded again. */
  remember(text) {
    const values = new URLSearchParams([["text", text], ...this.settings.remembered()]);
    history.replaceState(null, "", text.length <= LONGEST_REMEMBERED ? `#${values}` : " ");
  }

  content(text) {
    if (this.settings.model.raw_text) return { text };
    const lines = text.split("\n").filter((line) => line.trim());
    return { words: lines.map((line) => line.trim().split(/\s+/)) };
  }

  openFile(content, name) {
    this.file = { content, name };
    byId("file-name").textContent = name;
    return this.readFile();
  }

  /** A file is read chunk by chunk, and what is there can be looked at meanwhile. */
  async readFile() {
    if (!this.file) return this.nothing();
    const settings = this.parsesFile() ? this.settings.forParsing() : this.settings.forShowing();
    const total = countSentences(this.file.content);
    if (!total) return this.fail(new Error(`${this.file.name}: no sentences in CoNLL-U`));
    return this.work(async (signal) => {
      this.show([]);
      for (const chunk of chunksOf(this.file.content, this.limits, settings.best)) {
        const answer = await api.parse({ conllu: chunk.text, ...settings }, signal);
        this.pager.add(answer.sentences);
        this.tellProgress(this.pager.items.length, total);
      }
    });
  }

  async compare() {
    const gold = byId("gold").value;
    if (!gold.trim()) return this.fail(new Error("Put gold trees in CoNLL-U to the left, or choose a file of them."));
    return this.work(async (signal) => {
      byId("comparison").hidden = true;
      const system = byId("system").value.trim() ? byId("system").value : await this.parsed(gold, signal);
      const answer = await api.compare(gold, system, signal);
      byId("comparison").hidden = false;
      this.comparison.show(answer);
      const differing = answer.sentences.filter((pair) => pair.wrong).length;
      this.tell(`${differing || "none"} of ${counted(answer.sentences.length, "sentence")} with differences`);
    });
  }

  /** A file's sentences as the model parses them. */
  async parsed(content, signal) {
    const { model, decoder } = this.settings.forParsing();
    const blocks = [];
    for (const chunk of chunksOf(content, this.limits)) {
      const answer = await api.parse({ conllu: chunk.text, model, decoder }, signal);
      blocks.push(...answer.sentences.map((sentence) => sentence.conllu));
    }
    return blocks.join("");
  }

  // ---- one thing at a time

  /** Run what asks the server; it ends whatever was under way. */
  async work(task) {
    this.run?.abort();
    const run = (this.run = new AbortController());
    document.body.setAttribute("aria-busy", "true");
    byId("stop").hidden = this.tabs.open === "text";
    try {
      byId("error").hidden = true;
      await task(run.signal);
    } catch (error) {
      if (error.name !== "AbortError") this.fail(error);
    } finally {
      if (this.run === run) this.settle();
    }
  }

  settle() {
    document.body.removeAttribute("aria-busy");
    byId("stop").hidden = true;
    byId("progress").hidden = true;
  }

  async guard(work) {
    try {
      await work();
    } catch (error) {
      this.fail(error);
    }
  }

  fail(error) {
    byId("error").textContent = error.message;
    byId("error").hidden = false;
  }

  // ---- showing

  show(sentences) {
    byId("comparison").hidden = true;
    this.pager.reset(sentences);
    this.tellCounts();
  }

  /** Show no tree, and perhaps a message. */
  nothing(message = "") {
    this.run?.abort();
    this.show([]);
    this.tell(message);
  }

  showSentence(sentence) {
    byId("result").hidden = !this.pager.items.length;
    byId("none").hidden = sentence !== null;
    byId("sentence").hidden = sentence === null;
    byId("save-all").hidden = this.pager.items.length < 2;
    if (sentence) this.view.show(sentence);
    else this.view.clear();
  }

  tellProgress(done, total) {
    byId("save-all").hidden = this.pager.items.length < 2;
    Object.assign(byId("progress"), { hidden: false, max: total, value: done });
    this.tellCounts();
  }

  tellCounts() {
    const { items } = this.pager;
    const crossing = items.filter((sentence) => sentence.nonprojective).length;
    const words = items.reduce((sum, sentence) => sum + sentence.forms.length, 0);
    const all = `${counted(items.length, "sentence")}, ${counted(words, "word")}`;
    this.tell(`${all}, ${crossing || "none"} with crossing arcs`);
  }

  tell(message) {
    byId("status").textContent = message;
  }
}

function counted(number, thing) {
  return `${number} ${thing}${number === 1 ? "" : "s"}`;
}

try {
  await new Page(await api.models()).start();
} catch (error) {
  byId("error").textContent = error.message;
  byId("error").hidden = false;
}
document.body.dataset.ready = "yes";
