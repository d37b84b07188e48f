// The pictures of a moment: which are shown, of which part and panel, what they lead to, and what is taken away of them.
const LEADING = 2; // pictures above the board
const HEIGHT = 270; // of a picture, in pixels
const TABLE_ROWS = 200; // of the numbers of a picture; the rest is in its CSV
const FIRST_COLUMNS = ["estimate", "limit", "bid", "out", "price", "worth"], LAST_COLUMN = "starting price";
const DRAWN = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font", "text-anchor", "visibility"]; // of an SVG that stands alone
const cards = new Map(); // place of a picture in the head -> its card
const indexed = { key: "", marks: new Map() }; // place -> number of the part, or all -> marks

/** Sort the marks that the viewer may see by picture and part, anew only when there are others. */
function indexMarks() {
  const { viewers, pictures, places, seat } = store.head, viewer = page.viewer || seat, key = `${viewer} ${store.marks.length} ${places.length}`;
  if (indexed.key === key) return;
  const bit = 2 ** viewers.indexOf(viewer), starts = places.filter(([, kind]) => kind === "part");
  indexed.key = key;
  indexed.marks = new Map();
  for (const mark of store.marks) {
    if (Math.floor(mark[VIEWERS] / bit) % 2 === 0) continue; // more than 31 viewers are more than a number's bits
    const place = mark[PICTURE], part = pictures[place][5] ? Math.max(lastUpTo(starts, mark[SEQ]), 0) : "all";
    if (!indexed.marks.has(place)) indexed.marks.set(place, new Map());
    const parts = indexed.marks.get(place);
    if (!parts.has(part)) parts.set(part, []);
    parts.get(part).push(mark);
  }
}

/** Give a series its colour and marker, the same on all pictures: bidders by their seats, all else in ink. */
function styleOf(series) {
  const place = seatOf(series);
  return place < 0 ? { colour: "ink", marker: 3, rank: Infinity } : { colour: `c${place % COLOURS}`, marker: place % MARKERS.length, rank: place };
}

const seatOf = (series) => store.head.seats.indexOf(series);

function drawPictures(seq) {
  indexMarks();
  const shown = [...indexed.marks.keys()].sort((one, other) => one - other);
  if (shown.join() !== [...cards.keys()].join()) {
    const kept = new Map(cards);
    cards.clear();
    for (const place of shown) cards.set(place, kept.get(place) ?? cardOf(place));
    [shown.slice(0, LEADING), shown.slice(LEADING)].forEach((places, at) => {
      byId(["pictures", "more"][at]).replaceChildren(...places.map((place) => cards.get(place).node));
      byId(["pictures", "more"][at]).hidden = places.length === 0;
    });
  }
  for (const card of cards.values()) drawCard(card, seq);
}

function cardOf(place) {
  const [name, title] = store.head.pictures[place], card = { place, panel: "", drawn: "" };
  const button = (text, click) => element("button", { type: "button", class: "plain", onclick: click, "aria-label": `${text} of ${title}` }, text);
  const again = () => drawCard(card, page.seq);
  Object.assign(card, {
    part: element("span", { class: "of" }), tip: element("div", { class: "tip", hidden: true }), frame: element("div", { class: "drawing" }),
    choice: element("select", { "aria-label": `Whose ${title}`, onchange: (event) => { card.panel = event.target.value; again(); } }),
    numbers: element("details", { ontoggle: again }, element("summary", {}, "Numbers"), element("div")),
  });
  const takes = element("span", { class: "take" }, button("CSV", () => download(`${name}.csv`, "text/csv", csvOf(card))),
    button("SVG", () => download(`${name}.svg`, "image/svg+xml", alone(card.chart.svg))), button("PNG", () => paint(card, `${name}.png`)));
  card.node = element("figure", { class: "picture", "data-picture": name },
    element("figcaption", {}, element("h3", {}, isolated(title)), card.part, card.choice), card.frame, card.tip, element("div", { class: "menu" }, takes, card.numbers));
  const point = (event) => {
    const box = card.chart.svg.getBoundingClientRect(), scale = card.width / box.width;
    return card.chart.near((event.clientX - box.left) * scale, (event.clientY - box.top) * scale);
  };
  card.frame.addEventListener("click", (event) => { const mark = point(event); if (mark) jump(mark[SEQ]); });
  card.frame.addEventListener("pointermove", (event) => tipAt(card, point(event), event));
  card.frame.addEventListener("pointerleave", () => tipAt(card, null));
  return card;
}

function tipAt(card, mark, event) {
  card.tip.hidden = !mark;
  card.frame.classList.toggle("near", Boolean(mark));
  if (!mark) return;
  const [, , x, , scale, , xScale] = store.head.pictures[card.place], box = card.node.getBoundingClientRect();
  const what = [mark[SERIES], mark[ROLE] === mark[SERIES] ? "" : mark[ROLE], written(mark[Y], scale)].filter(Boolean).join(" ");
  card.tip.textContent = what + (mark[X] === null ? "" : ` · ${x} ${written(mark[X], xScale)}`) + ` · event ${thousands.format(mark[SEQ])}`;
  card.tip.style.left = `${Math.min(event.clientX - box.left + 12, Math.max(box.width - card.tip.offsetWidth - 4, 0))}px`;
  card.tip.style.top = `${event.clientY - box.top + 16}px`;
}

/** Show a moment in a picture; it is drawn anew only if it is another part, panel or size, or has other marks. */
function drawCard(card, seq) {
  const [, title, x, y, scale, isOfPart, xScale] = store.head.pictures[card.place], parts = store.head.places.filter(([, kind]) => kind === "part");
  const at = Math.max(lastUpTo(parts, seq), 0), all = indexed.marks.get(card.place).get(isOfPart ? at : "all") ?? [];
  if (card.all !== all) card.panels = [...new Set(all.map((mark) => mark[PANEL]).filter(Boolean))];
  card.all = all;
  const news = all.slice(Math.max(lastUpTo(all, seq - 1) + 1, 0), lastUpTo(all, seq) + 1).find((mark) => mark[PANEL]);
  if (news && page.seq !== card.seq) card.panel = news[PANEL]; // an event leads to its marks
  if (!card.panels.includes(card.panel)) card.panel = card.panels[0] ?? "";
  const width = Math.max(Math.round(card.frame.clientWidth), 260), key = [indexed.key, isOfPart && at, card.panel, width].join("|");
  if (key !== card.drawn) {
    const marks = all.filter((mark) => mark[PANEL] === "" || mark[PANEL] === card.panel), part = isOfPart ? parts[at]?.[2] ?? "" : "";
    const series = [...new Set(marks.map((mark) => `${mark[ROLE]} of ${mark[SERIES]}`))], told = `${[title, part, card.panel].filter(Boolean).join(", ")}: ${series.slice(0, 12).join(", ")}, by ${x}; ${counted(marks.length, "mark")}`;
    Object.assign(card, { drawn: key, marks, width, chart: drawChart({ marks, x, y, scale, xScale, width, height: HEIGHT, told, styleOf }) });
    card.frame.replaceChildren(card.chart.svg);
    card.part.textContent = part;
    card.choice.hidden = card.panels.length < 2;
    card.choice.replaceChildren(...card.panels.map((name) => element("option", { value: name, selected: name === card.panel }, name)));
  }
  card.seq = seq;
  card.chart.show(seq, placeOfMoment(card, seq, parts, at));
  if (card.numbers.open) card.numbers.lastChild.replaceChildren(numbersOf(card, seq));
}

/** Say where along a picture a moment is: at its part, or, if its marks go on along x as time does, at the last of them. */
function placeOfMoment({ marks, place }, seq, parts, at) {
  const label = parts[at]?.[2], titleOfX = store.head.pictures[place][2], last = marks.findLast((mark) => mark[SEQ] <= seq && mark[X] !== null);
  if (marks.some((mark) => mark[X] === label)) return label;
  if (titleOfX === store.head.parts.replace(/s$/, "")) return at + 1;
  return titleOfX === "round" && last ? last[X] : null;
}

/** Make the table of a picture at a moment: a row per bidder (and place, where places have names), a column per role. */
function numbersOf({ marks, place }, seq) {
  const [, title, x, , scale, , xScale] = store.head.pictures[place], rows = new Map(), shared = new Map(), roles = new Set();
  const byPlace = marks.some((mark) => typeof mark[X] === "string" || mark[KIND] === "bar"), hasSeats = marks.some((mark) => seatOf(mark[SERIES]) >= 0);
  for (const mark of marks) {
    if (mark[SEQ] > seq) continue;
    const at = byPlace ? mark[X] : "", isShared = hasSeats && !byPlace && seatOf(mark[SERIES]) < 0, key = JSON.stringify([at, mark[SERIES]]);
    const column = isShared && mark[SERIES] !== mark[ROLE] && mark[ROLE] === "" ? mark[SERIES] : mark[ROLE];
    roles.add(column);
    if (!isShared && !rows.has(key)) rows.set(key, { at, series: mark[SERIES], cells: new Map() });
    (isShared ? shared : rows.get(key).cells).set(column, mark);
  }
  const rank = (role) => (role === LAST_COLUMN ? 99 : FIRST_COLUMNS.includes(role) ? FIRST_COLUMNS.indexOf(role) : 50);
  const columns = [...roles].sort((one, other) => rank(one) - rank(other));
  const cell = (mark) => (!mark || mark[Y] === null ? "" : element("button", { type: "button", class: "plain", onclick: () => jump(mark[SEQ]), title: `event ${thousands.format(mark[SEQ])}` },
    written(mark[Y], scale) + (mark[HIGH] === null ? "" : ` to ${written(mark[HIGH], scale)}`)));
  const sorted = [...rows.values()].sort((one, other) => (byPlace ? 0 : seatOf(one.series) - seatOf(other.series)));
  const told = sorted.slice(0, TABLE_ROWS).map((one) => [...(byPlace ? [one.at === null ? "" : written(one.at, xScale)] : []), one.series, ...columns.map((role) => cell(one.cells.get(role) ?? shared.get(role)))]);
  const made = table(`Numbers of ${title}`, [...(byPlace ? [x] : []), "", ...columns], told);
  if (sorted.length > TABLE_ROWS) made.append(element("p", { class: "note" }, `${thousands.format(sorted.length - TABLE_ROWS)} more rows are in the CSV.`));
  return told.length ? made : element("p", { class: "note" }, "Nothing is known yet at this moment.");
}

function csvOf({ marks, place }) {
  const [, , x, y] = store.head.pictures[place];
  return csvFrom(["event", "panel", "series", "role", "drawn as", x, y, "up to"], marks.map((mark) => [SEQ, PANEL, SERIES, ROLE, KIND, X, Y, HIGH].map((field) => mark[field] ?? "")));
}

/** Write an SVG that stands alone: what the page's style says of each of its elements is written into it. */
function alone(svg) {
  const copy = svg.cloneNode(true), from = [svg, ...svg.querySelectorAll("*")], [, , width, height] = svg.getAttribute("viewBox").split(" ");
  [copy, ...copy.querySelectorAll("*")].forEach((one, at) => {
    const style = getComputedStyle(from[at]);
    for (const name of DRAWN) one.style.setProperty(name, style.getPropertyValue(name));
    one.removeAttribute("class");
  });
  for (const [name, value] of [["xmlns", "http://www.w3.org/2000/svg"], ["width", width], ["height", height]]) copy.setAttribute(name, value);
  copy.prepend(vector("rect", { width, height, fill: getComputedStyle(byId("board")).backgroundColor }));
  return new XMLSerializer().serializeToString(copy);
}

function paint({ chart }, name) {
  const image = new Image();
  image.addEventListener("load", () => {
    const canvas = element("canvas", { width: 2 * image.width, height: 2 * image.height });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => download(name, "image/png", blob));
  });
  image.src = `data:image/svg+xml,${encodeURIComponent(alone(chart.svg))}`;
}
