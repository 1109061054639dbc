// Two parses of the same sentences: the server's pictures of what differs, and the scores.

import { byId, fill, importedSvg, make } from "./dom.js";
import { savePng, saveText } from "./download.js";
import { Pager } from "./pager.js";

/** The part of the page for comparisons. `guard` runs what may fail, and shows the error. */
export class Comparison {
  constructor(guard) {
    this.pager = new Pager("pairs", {
      isChosen: (pair) => pair.wrong > 0,
      textOf: (pair) => pair.text,
      badgeOf: (pair) => (pair.wrong ? `${pair.wrong} of ${pair.words}` : null),
      onShow: (pair) => this.showPair(pair),
    });
    const picture = () => this.pager.current.svg;
    byId("save-pair-svg").addEventListener("click", () => saveText("comparison.svg", picture(), "image/svg+xml"));
    byId("save-pair-png").addEventListener("click", () => guard(() => savePng("comparison.png", picture())));
  }

  show({ sentences, scores }) {
    const percents = (share) => (100 * share).toFixed(2);
    const score = ([name, share]) => make("div", {}, make("dt", {}, name), make("dd", {}, percents(share)));
    fill(byId("scores"), Object.entries(scores).map(score));
    this.pager.reset(sentences);
  }

  showPair(pair) {
    fill(byId("pair"), pair && importedSvg(pair.svg));
    byId("pair-note").textContent = pair ? noteOn(pair) : "No sentence here differs.";
    for (const id of ["save-pair-svg", "save-pair-png"]) byId(id).disabled = !pair;
  }
}

function noteOn({ wrong, words }) {
  return wrong ? `${wrong} of ${words} words differ.` : `All ${words} words agree.`;
}
