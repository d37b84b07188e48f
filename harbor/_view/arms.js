// The games with the same draw in other arms: the first event that differs, and links to their pages.

/** Offer the other games. A page outside an experiment has none, and a page inside another page offers none. */
function drawArms({ others = [] }) {
  byId("beside").hidden = others.length === 0 || parent !== window;
  const options = others.map(([label], at) => element("option", { value: at }, label));
  byId("other").replaceChildren(element("option", { value: "" }, "no other game"), ...options);
}

/** Open another game beside this one, both at the first public event that differs. */
function openBeside(at) {
  byId("arms").hidden = byId("other").value === "";
  if (byId("arms").hidden) return byId("arms").replaceChildren();
  const [label, file, here, there] = store.head.others[at], address = there?.[0] >= 0 ? `${file}#at=${there[0]}` : file;
  const moment = ([seq, words]) => isolated(seq < 0 ? words : `event ${thousands.format(seq)}: ${words}`);
  const other = element("a", { href: address }, isolated(label)), told = here ? ["The first event that everyone sees and that differs is here ",
    moment(here), " In ", other, " it is ", moment(there)] : [`No event that everyone sees differs from ${label}.`];
  byId("arms").replaceChildren(element("p", {}, ...told), element("iframe", { src: address, title: label }));
  if (here?.[0] >= 0) jump(here[0]);
}
