// Builds elements. Text from recordings only ever becomes text nodes and attribute values.

const SVG = "http://www.w3.org/2000/svg";

/** Creates an element: `on` has listeners, `data` data attributes, everything else is an attribute. */
export function el(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** Creates an SVG element. */
export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(element, { on = {}, data = {}, ...attributes }, children) {
  for (const [name, value] of Object.entries(attributes)) {
    // The states of accessibility attributes are words.
    if (name.startsWith("aria-") && value !== null && value !== undefined) element.setAttribute(name, String(value));
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  for (const [name, value] of Object.entries(data)) element.dataset[name] = value;
  for (const [event, listener] of Object.entries(on)) element.addEventListener(event, listener);
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const byId = (id) => document.getElementById(id);

/** Replaces the children of an element. */
export function show(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
}

export function setPressed(button, value) {
  button.setAttribute("aria-pressed", String(value));
}

export const isPressed = (button) => button.getAttribute("aria-pressed") === "true";
