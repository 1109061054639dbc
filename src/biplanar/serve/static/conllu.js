// Files of CoNLL-U, cut into chunks that one request may carry.

const FIRST_WORDS = 300; // so that there is something to see soon
const USUAL_WORDS = 3000;

/**
 * Whole sentences at a time: a small chunk, then larger ones, within the server's limits where sentences allow it.
 * Where several trees are asked for, fewer words make as much work.
 */
export function* chunksOf(text, limits, trees = 1) {
  let chunk = { blocks: [], words: 0, bytes: 0 };
  let most = Math.min(FIRST_WORDS, limits.words) / trees;
  for (const block of blocksOf(text)) {
    const words = wordsIn(block);
    const bytes = new TextEncoder().encode(JSON.stringify(block)).length;
    if (chunk.words && (chunk.words + words > most || chunk.bytes + bytes > limits.bytes / 2)) {
      yield joined(chunk);
      chunk = { blocks: [], words: 0, bytes: 0 };
      most = Math.min(USUAL_WORDS, limits.words) / trees;
    }
    chunk.blocks.push(block);
    chunk.words += words;
    chunk.bytes += bytes;
  }
  if (chunk.words) yield joined(chunk);
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

function joined(chunk) {
  return { text: chunk.blocks.map((block) => `${block}\n\n`).join(""), sentences: chunk.blocks.length };
}
