// Reads a text from left to right, and says where it cannot go on.

export class TextError extends Error {
  constructor(message, place) {
    super(message);
    this.place = place;
  }
}

class Scanner {
  constructor(text) {
    this.text = text;
    this.place = 0;
  }
  get rest() {
    return this.text.slice(this.place);
  }
  sees(token) {
    return this.text.startsWith(token, this.place);
  }
  take(token) {
    if (!this.sees(token)) return false;
    this.place += token.length;
    return true;
  }
  need(token) {
    if (!this.take(token)) this.fail(`"${token.trim()}"`);
  }
  // What the sticky pattern matches here; null if it does not.
  match(pattern) {
    pattern.lastIndex = this.place;
    const found = pattern.exec(this.text);
    if (found) this.place += found[0].length;
    return found && found[0];
  }
  fail(wanted) {
    const rest = this.rest;
    throw new TextError(`expected ${wanted} ${rest ? `before "${rest}"` : "at the end"}`, this.place);
  }
}

// A scanner with the methods of a grammar, each of which reads one thing.
export const readerOf = (text, grammar) => Object.assign(new Scanner(text), grammar);
