// Elements of HTML, and the server's pictures. Text only becomes text nodes, so nothing a user typed is read as markup.

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element; properties that are functions listen to the event of their name. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (isThere(value)) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter(isThere));
  return element;
}

/** The element of the page that has this id. */
export function byId(id) {
  return document.getElementById(id);
}

/** Put these children in the place of all that an element has. */
export function fill(element, ...children) {
  element.replaceChildren(...children.flat().filter(isThere));
  return element;
}

function isThere(value) {
  return value !== null && value !== undefined && value !== false;
}

/** An SVG document of the server's as an element of this page. One with anything in it that could act is refused. */
export function importedSvg(text) {
  const root = new DOMParser().parseFromString(withoutStyle(text), "image/svg+xml").documentElement;
  const isSvg = root.namespaceURI === SVG && root.localName === "svg";
  if (!isSvg) throw new Error("the server sent a picture that is no SVG");
  for (const element of [root, ...root.querySelectorAll("*")]) {
    if (!isHarmless(element)) throw new Error(`the server sent a picture with <${element.localName}> in it`);
  }
  return document.importNode(root, true);
}

/**
 * An SVG document without its style sheet, which is there to follow its reader's theme. In the page, the page's own
 * does that; what is painted can follow nobody. It goes before the text is parsed: browsers report it even then.
 */
export function withoutStyle(text) {
  return text.replace(/<style\b[^>]*>[^<]*<\/style>/g, "");
}

const HARMLESS = new Set(["svg", "g", "path", "rect", "text", "tspan", "title", "desc", "line", "circle"]);

function isHarmless(element) {
  const names = element.getAttributeNames().map((name) => name.toLowerCase());
  const acts = names.some((name) => name.startsWith("on") || name === "style" || name.endsWith("href"));
  return HARMLESS.has(element.localName) && element.namespaceURI === SVG && !acts;
}
