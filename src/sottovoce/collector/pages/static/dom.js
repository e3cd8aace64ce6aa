/** Elements of a page: text only, never markup. */

export const element = (id) => document.getElementById(id);

/** A new element with properties and children. */
export function node(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** A new element of a picture, with attributes. */
export function shape(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}
