// Stands in for the browser's document, as far as views that make elements and listen to them need it.

class Element {
  constructor(tag) {
    Object.assign(this, { tag, attributes: {}, childNodes: [], listeners: {}, style: {}, disabled: false });
    this.classList = { add: (name) => (this.className += ` ${name}`) };
  }
  get children() {
    return this.childNodes.filter((child) => child instanceof Element);
  }
  get className() {
    return this.attributes.class ?? "";
  }
  set className(names) {
    this.attributes.class = names;
  }
  get textContent() {
    return this.childNodes.map((child) => child.textContent ?? child).join("");
  }
  set textContent(text) {
    this.childNodes = [text];
  }
  setAttribute(name, value) {
    this.attributes[name] = String(value);
    if (name === "value") this.value = String(value);
  }
  removeAttribute(name) {
    delete this.attributes[name];
  }
  append(...children) {
    for (const child of children) if (child instanceof Element) child.parent = this;
    this.childNodes.push(...children);
  }
  replaceChildren(...children) {
    this.childNodes = [];
    this.append(...children);
  }
  replaceWith(other) {
    this.parent.childNodes[this.parent.childNodes.indexOf(this)] = other;
    other.parent = this.parent;
  }
  addEventListener(type, listener) {
    (this.listeners[type] ??= []).push(listener);
  }
  fire(type, event = {}) {
    for (const listener of this.listeners[type] ?? []) listener(event);
  }
  all(matches) {
    return this.children.flatMap((child) => [...(matches(child) ? [child] : []), ...child.all(matches)]);
  }
  tagged(tag) {
    return this.all((element) => element.tag === tag);
  }
  withClass(name) {
    return this.all((element) => element.className.split(" ").includes(name));
  }
  byId(id) {
    return this.all((element) => element.attributes.id === id)[0];
  }
  getContext() {
    return new Proxy({}, { get: () => () => {} });
  }
}

export const element = (tag) => new Element(tag);

export const standIn = () =>
  Object.assign(globalThis, {
    window: { devicePixelRatio: 1 },
    matchMedia: () => ({ matches: false, addEventListener: () => {} }),
    getComputedStyle: () => ({ getPropertyValue: () => "#000000" }),
    document: {
      documentElement: element("html"),
      createElement: element,
      createElementNS: (_, tag) => element(tag),
      createTextNode: (text) => text,
      querySelectorAll: () => [],
    },
  });
