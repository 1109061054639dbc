// Tabs, of which one is open: by pointer, or by the arrow keys.

import { byId } from "./dom.js";

/** Wired to the page's tablist; `onOpen` is given the name of the tab that was opened. */
export class Tabs {
  constructor(names, onOpen) {
    Object.assign(this, { names, onOpen, open: names[0] });
    for (const name of names) {
      byId(`tab-${name}`).addEventListener("click", () => this.show(name));
      byId(`tab-${name}`).addEventListener("keydown", (event) => this.press(event));
    }
  }

  press(event) {
    const at = this.names.indexOf(this.open);
    const last = this.names.length - 1;
    const places = { ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at === 0 ? last : at - 1, Home: 0, End: last };
    if (!(event.key in places)) return;
    event.preventDefault();
    this.show(this.names[places[event.key]]);
    byId(`tab-${this.open}`).focus();
  }

  show(name) {
    this.open = name;
    for (const one of this.names) {
      byId(`tab-${one}`).setAttribute("aria-selected", String(one === name));
      byId(`tab-${one}`).tabIndex = one === name ? 0 : -1;
      byId(`panel-${one}`).hidden = one !== name;
    }
    this.onOpen(name);
  }
}
