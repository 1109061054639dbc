// What the page asks the server. Addresses are relative, so that the page may live under any path.

/** An answer that says what went wrong. */
export class ServerError extends Error {}

export function models() {
  return answer("api/models");
}

export function parse(request, signal) {
  return post("api/parse", request, signal);
}

export function compare(gold, system, signal) {
  return post("api/compare", { gold, system }, signal);
}

function post(address, body, signal) {
  const headers = { "Content-Type": "application/json" };
  return answer(address, { method: "POST", headers, body: JSON.stringify(body), signal });
}

async function answer(address, options) {
  let response;
  try {
    response = await fetch(address, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServerError("The server cannot be reached.");
  }
  const content = await response.json().catch(() => ({}));
  if (response.ok) return content;
  const wait = response.headers.get("Retry-After");
  const message = content.error ?? `The server answered with status ${response.status}`;
  throw new ServerError(wait ? `${message} (in ${wait} s)` : message);
}
