// Files of CoNLL-U, cut into pieces that one request may carry.

const FIRST_WORDS = 300; // so that there is something to see soon
const USUAL_WORDS = 3000;

/**
 * Whole sentences at a time: a small piece, then larger ones, within the server's limits where sentences allow it.
 * Where several trees are asked for, fewer words make as much work.
 */
export function* piecesOf(text, limits, trees = 1) {
  let piece = { blocks: [], words: 0, bytes: 0 };
  let most = Math.min(FIRST_WORDS, limits.words) / trees;
  for (const block of blocksOf(text)) {
    const words = wordsIn(block);
    const bytes = new TextEncoder().encode(JSON.stringify(block)).length;
    if (piece.words && (piece.words + words > most || piece.bytes + bytes > limits.bytes / 2)) {
      yield joined(piece);
      piece = { blocks: [], words: 0, bytes: 0 };
      most = Math.min(USUAL_WORDS, limits.words) / trees;
    }
    piece.blocks.push(block);
    piece.words += words;
    piece.bytes += bytes;
  }
  if (piece.words) yield joined(piece);
}

/** How many sentences a file has. */
export function countSentences(text) {
  return blocksOf(text).length;
}

function blocksOf(text) {
  const plain = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  const blocks = plain.split(/\n[ \t]*(?:\n[ \t]*)+/).map((block) => block.replace(/^\n+|\n+$/g, ""));
  return blocks.filter((block) => wordsIn(block));
}

function wordsIn(block) {
  return block.split("\n").filter((line) => line && !line.startsWith("#")).length;
}

function joined(piece) {
  return { text: piece.blocks.map((block) => `${block}\n\n`).join(""), sentences: piece.blocks.length };
}
