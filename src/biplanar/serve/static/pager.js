// Going through sentences one by one, all of them or only those of a kind.

import { byId, fill, make } from "./dom.js";

/** Wired to the elements of the page whose ids begin with `name`; `onShow` is given the item to show, or null. */
export class Pager {
  constructor(name, { isChosen, textOf, badgeOf, onShow }) {
    Object.assign(this, { isChosen, textOf, badgeOf, onShow, items: [], shown: [], at: 0 });
    const ids = ["bar", "filter", "filter-count", "list", "next", "number", "of", "previous"];
    this.parts = Object.fromEntries(ids.map((id) => [id, byId(`${name}-${id}`)]));
    this.parts.previous.addEventListener("click", () => this.go(this.at - 1));
    this.parts.next.addEventListener("click", () => this.go(this.at + 1));
    this.parts.number.addEventListener("change", () => this.go(Number(this.parts.number.value) - 1));
    this.parts.filter.addEventListener("change", () => this.refilter());
  }

  get current() {
    return this.shown[this.at] ?? null;
  }

  /** Begin with other items. */
  reset(items) {
    this.items = [...items];
    this.parts.filter.checked = false;
    this.at = 0;
    this.refresh();
    this.onShow(this.current);
  }

  /** More of the same; what is shown stays, unless nothing was. */
  add(items) {
    const before = this.current;
    this.items.push(...items);
    this.refresh();
    if (!before) this.onShow(this.current);
  }

  refilter() {
    const before = this.current;
    this.shown = this.chosenItems();
    this.at = Math.max(0, this.shown.indexOf(before));
    this.refresh();
    this.onShow(this.current);
  }

  go(at) {
    this.at = Math.min(Math.max(Number.isInteger(at) ? at : this.at, 0), Math.max(this.shown.length - 1, 0));
    this.refreshPlace();
    this.onShow(this.current);
  }

  chosenItems() {
    return this.parts.filter.checked ? this.items.filter(this.isChosen) : this.items;
  }

  refresh() {
    this.shown = this.chosenItems();
    this.parts.bar.hidden = this.items.length < 2;
    this.parts.list.hidden = this.items.length < 2;
    this.parts["filter-count"].textContent = String(this.items.filter(this.isChosen).length);
    fill(this.parts.list, this.shown.map((item, at) => this.row(item, at)));
    this.refreshPlace();
  }

  row(item, at) {
    const badge = this.badgeOf(item);
    return make(
      "li",
      {},
      make(
        "button",
        { type: "button", click: () => this.go(at) },
        make("span", { class: "text", dir: "auto" }, this.textOf(item)),
        badge && make("span", { class: "badge" }, badge),
      ),
    );
  }

  refreshPlace() {
    const count = this.shown.length;
    this.parts.previous.disabled = this.at <= 0;
    this.parts.next.disabled = this.at >= count - 1;
    this.parts.number.value = count ? this.at + 1 : 0;
    this.parts.number.max = count;
    this.parts.of.textContent = `of ${count}`;
    [...this.parts.list.children].forEach((row, at) => {
      const isCurrent = at === this.at;
      if (isCurrent) row.firstChild.setAttribute("aria-current", "true");
      else row.firstChild.removeAttribute("aria-current");
      if (isCurrent) this.reveal(row);
    });
  }

  /** Scroll the list, and nothing else, until a row is in sight. */
  reveal(row) {
    const { list } = this.parts;
    const above = row.offsetTop - list.offsetTop;
    if (above < list.scrollTop || above + row.offsetHeight > list.scrollTop + list.clientHeight) {
      list.scrollTop = above - list.clientHeight / 2;
    }
  }
}
