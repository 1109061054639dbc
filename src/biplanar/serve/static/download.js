// Downloads.

import { make, withoutStyle } from "./dom.js";

const SHARPNESS = 2; // pixels of a PNG for each of the picture's
const LONGEST_SIDE = 16000; // that browsers can paint

export function saveText(name, text, type = "text/plain") {
  save(name, new Blob([text], { type: `${type};charset=utf-8` }));
}

/** An SVG document, painted in its own colours: those for light paper. */
export async function savePng(name, svg) {
  save(name, await painted(withoutStyle(svg)));
}

function save(name, blob) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

async function painted(svg) {
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const scale = Math.min(SHARPNESS, LONGEST_SIDE / Math.max(image.width, image.height));
    const canvas = make("canvas", { width: Math.round(image.width * scale), height: Math.round(image.height * scale) });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
    if (!blob) throw new Error("This picture is too large for a PNG.");
    return blob;
  } finally {
    URL.revokeObjectURL(address);
  }
}
