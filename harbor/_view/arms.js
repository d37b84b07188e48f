// The games of the same draw in other arms: which event is the first that differs, and their pages beside this one.

/** Offer the other games; a page that comes of no experiment has none, and one that stands beside another offers none. */
function drawArms({ others = [] }) {
  byId("beside").hidden = others.length === 0 || parent !== window;
  const options = others.map(([label], at) => element("option", { value: at }, label));
  byId("other").replaceChildren(element("option", { value: "" }, "no other game"), ...options);
}

/** Keep the page beside this one in step: at its own first event that differs, or else at the same part and round. */
function keepInStep() {
  const frame = byId("arms").querySelector("iframe");
  if (!frame) return;
  const [, file, here, there] = store.head.others[byId("other").value], differs = here && here[0] === page.seq && there[0] >= 0;
  frame.src = `${file}#${differs ? `at=${there[0]}` : `part=${countUpTo("part")}&round=${countUpTo("round")}`}`;
}

/** Count the parts, or the rounds of the part, that have begun. */
function countUpTo(kind) {
  const begun = store.head.places.filter(([seq]) => seq <= page.seq).map(([, what]) => what);
  return begun.slice(kind === "round" ? begun.lastIndexOf("part") + 1 : 0).filter((what) => what === kind).length;
}

/** Find where a round of a part begins, both counted; of a part that has fewer rounds, where its last one begins. */
function startOf(part, round) {
  const places = store.head.places, starts = places.flatMap(([, what], at) => (what === "part" ? [at] : []));
  const from = part > 0 ? starts[part - 1] ?? places.length - 1 : -1, rounds = places.slice(from + 1, starts[part]).filter(([, what]) => what === "round");
  return (rounds[Math.min(round, rounds.length) - 1] ?? places[Math.max(from, 0)])?.[SEQ] ?? 0;
}

/** Open another game beside this one, both at the first event that everyone sees and that differs. */
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
