// The pictures of a moment: their choice by part and panel, their links, and their downloads.
const LEADING = 2; // pictures above the board
const HEIGHT = 270; // of a picture, in pixels
const TABLE_ROWS = 200; // most rows of a picture's numbers; its CSV has all
const COLOURS = 8;
const COLUMNS = ["estimate", "limit", "bid", "out", "price", "worth", "", "starting price"]; // of Numbers, in this order; "" is any other
const ALONE = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font", "text-anchor"]; // style properties that are copied into an SVG file
const cards = new Map(); // place of a picture in the head -> its card
const indexed = { key: "", marks: new Map() }; // place -> number of the part, or "all" -> marks

const seatOf = (series) => store.head.seats.indexOf(series);

/** Set the colour and marker of a series for all pictures: bidders by their seats, all others in ink. */
function styleOf(series) {
  const seat = seatOf(series);
  return seat < 0 ? { colour: "ink", marker: 3, rank: Infinity } : { colour: `c${seat % COLOURS}`, marker: seat % MARKERS.length, rank: seat };
}

/** Index the marks that the viewer may see by picture and part. Do it again only if marks have come. */
function indexMarks() {
  const { viewers, pictures, seats } = store.head, key = [watcher(), store.marks.length, store.parts.length, seats.length].join();
  if (indexed.key === key) return;
  const bit = 2 ** viewers.indexOf(watcher());
  const seen = store.marks.filter((mark) => Math.floor(mark[VIEWERS] / bit) % 2); // viewers may be more than the 31 bits that & has
  const partOf = (mark) => (pictures[mark[PICTURE]][5] ? Math.max(lastUpTo(store.parts, mark[SEQ]), 0) : "all");
  const marks = [...Map.groupBy(seen, (mark) => mark[PICTURE])].map(([place, all]) => [place, Map.groupBy(all, partOf)]);
  Object.assign(indexed, { key, marks: new Map(marks) });
}

function drawPictures(seq) {
  indexMarks();
  const shown = [...indexed.marks.keys()].sort((one, other) => one - other);
  if (shown.join() !== [...cards.keys()].join()) {
    const all = shown.map((place) => cards.get(place) ?? cardOf(place));
    cards.clear();
    for (const card of all) cards.set(card.place, card);
    for (const [id, here] of [["pictures", all.slice(0, LEADING)], ["more", all.slice(LEADING)]]) {
      byId(id).hidden = here.length === 0;
      byId(id).replaceChildren(...here.map(({ node }) => node));
    }
  }
  for (const card of cards.values()) drawCard(card, seq);
}

function cardOf(place) {
  const [name, title, x, y, scale, isOfPart, xScale] = store.head.pictures[place], again = () => drawCard(card, page.seq);
  const take = (text, click) => plain(text, click, { "aria-label": `${text} of ${title}` });
  const card = { place, name, title, x, y, scale, isOfPart, xScale, panel: "", key: "", part: element("span", { class: "of" }),
    choice: element("select", { "aria-label": `Whose: ${title}`, onchange: (event) => { card.panel = event.target.value; again(); } }),
    frame: element("div", { class: "drawing" }), tip: element("div", { class: "tip", hidden: true }), table: element("div") };
  card.numbers = element("details", { ontoggle: again }, element("summary", {}, "Numbers"), card.table);
  card.node = element("figure", { class: "picture", "data-picture": name },
    element("figcaption", {}, element("h3", {}, isolated(title)), card.part, card.choice), card.frame, card.tip,
    element("div", { class: "menu" }, card.numbers, element("span", { class: "take" }, take("CSV", () => saveMarks(card)),
      take("SVG", () => download(`${name}.svg`, "image/svg+xml", alone(card.chart.svg))), take("PNG", () => paint(card)))));
  const pointed = ({ clientX, clientY }) => {
    const box = card.chart.svg.getBoundingClientRect(), scale = card.width / box.width;
    return card.chart.near((clientX - box.left) * scale, (clientY - box.top) * scale);
  };
  card.frame.addEventListener("click", (event) => pointed(event) && jump(pointed(event)[SEQ]));
  card.frame.addEventListener("pointermove", (event) => tipAt(card, pointed(event), event));
  card.frame.addEventListener("pointerleave", () => tipAt(card, null));
  return card;
}

function tipAt({ tip, frame, node, scale, xScale, x }, mark, event) {
  tip.hidden = !mark;
  frame.classList.toggle("near", Boolean(mark));
  if (!mark) return;
  const box = node.getBoundingClientRect(), what = [...new Set([mark[SERIES], mark[ROLE], mark[Y] === null ? "ends" : written(mark[Y], scale)])].join(" ");
  tip.textContent = `${what}${mark[X] === null ? "" : ` · ${x} ${written(mark[X], xScale)}`} · event ${thousands.format(mark[SEQ])}`;
  tip.style.left = `${Math.max(Math.min(event.clientX - box.left + 12, box.width - tip.offsetWidth - 4), 0)}px`;
  tip.style.top = `${event.clientY - box.top + 16}px`;
}

/** Show a moment in a picture. Draw it again only for another part, panel or size, or for new marks. */
function drawCard(card, seq) {
  const { parts } = store, at = Math.max(lastUpTo(parts, seq), 0), all = indexed.marks.get(card.place).get(card.isOfPart ? at : "all") ?? [];
  if (card.all !== all) card.panels = [...new Set(all.map((mark) => mark[PANEL]).filter(Boolean))];
  const news = all[lastUpTo(all, seq)]; // an event leads to its marks, in whichever panel they are
  if (news?.[SEQ] === seq && card.seq !== seq && news[PANEL]) card.panel = news[PANEL];
  if (!card.panels.includes(card.panel)) card.panel = card.panels[0] ?? "";
  const width = Math.max(Math.round(card.frame.clientWidth), 260), key = [card.panel, width, at * card.isOfPart].join();
  if (key !== card.key || card.all !== all) {
    const marks = all.filter((mark) => mark[PANEL] === "" || mark[PANEL] === card.panel), part = card.isOfPart ? parts[at]?.[2] ?? "" : "";
    const kinds = [...new Set(marks.map((mark) => [...new Set([mark[SERIES], mark[ROLE]])].join(" ")))].slice(0, 20).join(", ");
    const told = `${[card.title, part, card.panel].filter(Boolean).join(", ")}, by ${card.x}: ${kinds}`;
    Object.assign(card, { key, all, marks, width, chart: drawChart({ ...card, marks, width, height: HEIGHT, told, styleOf }) });
    card.frame.replaceChildren(card.chart.svg);
    card.part.textContent = part;
    card.choice.hidden = card.panels.length < 2;
    card.choice.replaceChildren(...card.panels.map((panel) => element("option", { selected: panel === card.panel }, panel)));
  }
  card.seq = seq;
  card.chart.show(seq, placeOfMoment(card, seq, parts[at]?.[2], at + 1));
  if (card.numbers.open) card.table.replaceChildren(numbersOf(card, seq));
}

/** Say where along a picture a moment is: at its part, or at its last round (or part that is over); null if x is something else. */
function placeOfMoment({ marks, x }, seq, part, number) {
  if (x === store.part) return marks.some((mark) => mark[X] === part) ? part : number;
  return x === "round" || x.includes(store.part) ? marks.findLast((mark) => mark[SEQ] <= seq && mark[X] !== null)?.[X] ?? null : null;
}

/**
 * Return the table of a picture: a row per bidder and a column per role. Marks of no bidder are in every row.
 * A row holds the marks of one place. If places have names, each place has rows. Otherwise it is the bidder's last place,
 * or its place in the current part if x is no part, such as a value. A picture of one part has all places in a row.
 */
function numbersOf({ marks, title, x, scale, xScale, isOfPart }, seq) {
  const byName = marks.some((mark) => typeof mark[X] === "string" || mark[KIND] === "bar"), hasPlaces = byName || !isOfPart;
  const isSeat = (mark) => seatOf(mark[SERIES]) >= 0, isOwn = marks.some(isSeat) ? isSeat : () => true;
  const isNow = (mark) => lastUpTo(store.parts, mark[SEQ]) === lastUpTo(store.parts, seq);
  const rank = (role) => COLUMNS.indexOf(COLUMNS.includes(role) ? role : "");
  const roles = [...new Set(marks.map((mark) => mark[ROLE]))].sort((one, other) => rank(one) - rank(other));
  const rows = [...Map.groupBy(marks, (mark) => (byName ? mark[X] ?? "" : ""))].flatMap(([name, all]) => {
    const own = Map.groupBy(all.some(isOwn) ? all.filter(isOwn) : all, (mark) => mark[SERIES]), others = all.filter((mark) => !isOwn(mark));
    return [...own].sort(([one], [other]) => styleOf(one).rank - styleOf(other).rank || 0).map(([series, its]) => {
      const placed = its.filter((mark) => mark[X] !== null), here = x.includes(store.part) ? [] : placed.filter(isNow);
      const at = byName ? name : holding(here.length ? here : placed, seq)?.[X] ?? null;
      const isThere = (mark) => !hasPlaces || byName || mark[X] === null || mark[X] === at;
      return { at, series, its: its.filter(isThere), others: others.filter(isThere) };
    });
  });
  const cell = (found) => {
    const mark = found[lastUpTo(found, seq)] ?? found.at(-1); // a mark that is yet to come is shown with its last value
    if (!mark || mark[Y] === null) return "";
    const told = written(mark[Y], scale) + (mark[HIGH] === null ? "" : ` to ${written(mark[HIGH], scale)}`);
    return plain(told, () => jump(mark[SEQ]), { class: `plain${mark[SEQ] > seq ? " yet" : ""}`, title: `event ${thousands.format(mark[SEQ])}` });
  };
  const told = rows.slice(0, TABLE_ROWS).map(({ at, series, its, others }) => [...(hasPlaces ? [at === null ? "" : written(at, xScale)] : []), series,
    ...roles.map((role) => [its, others].map((all) => all.filter((mark) => mark[ROLE] === role)).find((all) => all.length) ?? []).map(cell)]);
  const made = table(`Numbers: ${title}`, [...(hasPlaces ? [x] : []), "", ...roles], told), left = rows.length - TABLE_ROWS;
  const isByCall = roles.includes(OUT) && roles.includes("bid") && !roles.includes("limit");
  made.append(element("p", { class: "note" }, isByCall ? "No limits were set: bidders bid call by call; their last bid and exit stand here. " : "",
    `In italics: still to come at this moment.${left > 0 ? ` ${counted(left, "more row")} in the CSV.` : ""}`));
  return made;
}

function saveMarks({ name, marks, x, y }) {
  const fields = [SEQ, PANEL, SERIES, ROLE, KIND, X, Y, HIGH], rows = marks.map((mark) => fields.map((field) => mark[field] ?? ""));
  saveTable(name, ["event", "panel", "series", "role", "drawn as", x, y, "up to"], rows);
}

/** Write an SVG file that needs no style sheet: copy the page's style into each of its elements. */
function alone(svg) {
  const copy = svg.cloneNode(true), [, , width, height] = svg.getAttribute("viewBox").split(" "), from = [svg, ...svg.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((one, at) => {
    for (const name of ALONE) one.style.setProperty(name, getComputedStyle(from[at]).getPropertyValue(name));
  });
  for (const [name, value] of Object.entries({ width, height })) copy.setAttribute(name, value);
  copy.prepend(vector("rect", { width, height, fill: getComputedStyle(byId("board")).backgroundColor }));
  return new XMLSerializer().serializeToString(copy);
}

function paint({ chart, name }) {
  const image = new Image();
  image.addEventListener("load", () => {
    const canvas = element("canvas", { width: 2 * image.width, height: 2 * image.height });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => download(`${name}.png`, "image/png", blob));
  });
  image.src = `data:image/svg+xml,${encodeURIComponent(alone(chart.svg))}`;
}
