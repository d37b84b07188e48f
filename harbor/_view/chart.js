// Draws one picture as SVG from its marks, and knows no game: a series has a colour and a marker, a role a dash or a shape.
const MOST_POINTS = 2000; // of a series; a longer one is drawn by its least and its greatest per column of pixels
const REACH = 20; // pixels within which a mark is meant
const STRIPE = 6; // pixels of a dash where several series have the same line
const LINE = 14; // pixels from one line of text to the next
const COLOURS = 8;
const EXPECTED = new Set(["limit", "estimate", "belief", "expected", "predicted", "mirrored", "profile", "theory"]); // dashed; facts are solid
const MARKERS = ["M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0Z", "M-3.5-3.5h7v7h-7Z", "M0-4.5L4.5 3.5h-9Z", "M0-5L5 0L0 5L-5 0Z", "M0 4.5L4.5-3.5h-9Z"];
const CROSS = "M-4-4L4 4M4-4L-4 4";
const OUT = "out"; // the role of the points that are crosses: there a series ends

function vector(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const pen = document.createElement("canvas").getContext("2d");

/** Cut a text to a width in pixels. */
function fitted(text, width) {
  pen.font = "11px system-ui, sans-serif";
  if (pen.measureText(text).width <= width) return text;
  let end = Math.min(text.length, Math.ceil(width / 2));
  while (end > 0 && pen.measureText(`${text.slice(0, end)}…`).width > width) end--;
  return `${text.slice(0, end)}…`;
}

/** Write a text that may be cut; what is cut is in its title. */
function label(text, width, attributes) {
  const short = fitted(text, width);
  return vector("text", attributes, short, ...(short === text ? [] : [vector("title", {}, text)]));
}

const shortly = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 4 });
const exactly = new Intl.NumberFormat("en-US", { maximumFractionDigits: 4 });
const cents = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });

function written(value, scale, isShort = false) {
  if (typeof value === "string") return value;
  const sign = value < 0 ? "−" : "", size = Math.abs(value);
  if (scale === "share") return `${sign}${exactly.format(100 * size)}%`;
  const full = scale === "dollars" && size % 1 ? cents : exactly;
  return sign + (scale === "dollars" ? "$" : "") + (isShort ? shortly.format(size).replace("K", "k") : full.format(size));
}

/** Choose round numbers between two, about so many. */
function roundNumbers(low, high, most, isWhole) {
  const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough));
  const found = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough * 0.999), step = isWhole ? Math.max(1, found) : found;
  const first = Math.ceil(low / step), last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(last - first + 1, 0) }, (_, at) => Number(((first + at) * step).toPrecision(12)));
}

function extent(values, least = Infinity, greatest = -Infinity) {
  for (const value of values) {
    if (value === null) continue;
    least = Math.min(least, value);
    greatest = Math.max(greatest, value);
  }
  return least <= greatest ? [least, greatest] : [0, 1];
}

/** Lay out a picture: where x and y stand in it, and what its axes say. */
function frameOf({ marks, width, height, xScale, scale, top, right }) {
  const placed = marks.filter((mark) => mark[X] !== null), hasBars = placed.some((mark) => mark[KIND] === "bar");
  const isNamed = hasBars || placed.some((mark) => typeof mark[X] === "string");
  const names = isNamed ? [...new Set(placed.map((mark) => mark[X]))] : [], places = new Map();
  if (names.every((name) => typeof name === "number")) names.sort((one, other) => one - other);
  names.forEach((name, at) => places.set(name, at));
  let [low, high] = extent(marks.flatMap((mark) => [mark[Y], mark[HIGH]]), ...(hasBars ? [0, 0] : []));
  const air = (high - low) * 0.06 || Math.abs(high) * 0.05 || 1;
  if (low !== 0 || !hasBars) low -= low >= 0 && low < air ? low : air;
  if (high !== 0 || !hasBars) high += air;
  const isWhole = !isNamed && placed.every((mark) => mark[X] % 1 === 0);
  const [first, last] = isNamed ? [-0.5, names.length - 0.5] : extent(placed.map((mark) => mark[X]));
  const side = isNamed ? 0 : isWhole && last - first < 100 ? 0.5 : (last - first) * 0.03 || 0.5;
  const ticks = roundNumbers(low, high, Math.max(2, (height - top) / 50)), widths = ticks.map((tick) => pen.measureText(written(tick, scale, true)).width);
  const left = Math.max(24, ...widths) + 8, bottom = height - 30, end = width - right, tenth = (value) => Math.round(value * 10) / 10;
  const ratio = (end - left) / (last - first + 2 * side), rise = (bottom - top) / (high - low);
  const x = (value) => tenth(left + ((isNamed ? places.get(value) ?? -1 : value) - first + side) * ratio);
  const y = (value) => tenth(bottom - (value - low) * rise);
  const most = Math.max(2, (end - left) / (isNamed ? 64 : 40)), nth = Math.ceil(names.length / most);
  const marksOfX = isNamed ? names.filter((_, at) => at % nth === 0) : roundNumbers(first - side, last + side, most, isWhole);
  return { x, y, left, right: end, edge: width, top, bottom, ticks, xTicks: marksOfX, slot: isNamed ? ratio : 0, tickWidth: isNamed ? nth * ratio - 4 : 60, has: (value) => (isNamed ? places.has(value) : value >= first && value <= last), xScale, scale };
}

function drawAxes({ x, y }, frame) {
  const made = vector("g", { class: "axes" });
  for (const tick of frame.ticks) {
    const at = frame.y(tick), kind = tick === 0 ? "zero" : "grid";
    made.append(vector("line", { class: kind, x1: frame.left, x2: frame.right, y1: at, y2: at }));
    made.append(vector("text", { x: frame.left - 6, y: at + 4, "text-anchor": "end" }, written(tick, frame.scale, true)));
  }
  made.append(vector("line", { class: "zero", x1: frame.left, x2: frame.right, y1: frame.bottom, y2: frame.bottom }));
  for (const tick of frame.xTicks)
    made.append(label(written(tick, frame.xScale, true), Math.min(frame.tickWidth, 2 * (frame.edge - frame.x(tick))), { x: frame.x(tick), y: frame.bottom + 14, "text-anchor": "middle" }));
  made.append(label(y, frame.right - frame.left, { class: "title", x: frame.left, y: frame.top - 8 }));
  made.append(label(x, frame.right - frame.left, { class: "title", x: frame.right, y: frame.bottom + 27, "text-anchor": "end" }));
  return made;
}

/** Put marks that belong together into groups: those of a series, a role and a kind. */
function groupsOf(marks, styleOf) {
  const groups = new Map();
  for (const mark of marks) {
    const kind = mark[X] === null ? "level" : mark[KIND], key = JSON.stringify([mark[SERIES], mark[ROLE], kind]);
    if (!groups.has(key)) groups.set(key, { series: mark[SERIES], role: mark[ROLE], kind, rows: [], ...styleOf(mark[SERIES]) });
    groups.get(key).rows.push(mark);
  }
  const all = [...groups.values()].sort((one, other) => one.rank - other.rank);
  for (const kind of ["bar", "point"]) {
    const roles = [...new Set(all.filter((one) => one.kind === kind && one.role !== OUT).map((one) => one.role))];
    for (const group of all) if (group.kind === kind) group.nth = Math.min(Math.max(roles.indexOf(group.role), 0), 2);
  }
  return all;
}

const isExpected = (group) => EXPECTED.has(group.role) || EXPECTED.has(group.series);
const classOf = (group) => `${group.kind} ${group.colour}${isExpected(group) ? " expected" : ""}${group.nth ? ` nth${group.nth}` : ""}`;

/** Leave of a long row the least and the greatest in each column of pixels, and where it ends. */
function thinned(rows, frame) {
  if (rows.length <= MOST_POINTS) return rows;
  const columns = new Map();
  for (const row of rows) {
    const column = Math.round(frame.x(row[X])), kept = columns.get(column) ?? {};
    columns.set(column, kept);
    if (row[Y] === null) kept.end = row;
    else if (!kept.least || row[Y] < kept.least[Y]) kept.least = row;
    if (row[Y] !== null && (!kept.greatest || (row[HIGH] ?? row[Y]) > (kept.greatest[HIGH] ?? kept.greatest[Y]))) kept.greatest = row;
  }
  const left = new Set([...columns.values()].flatMap(Object.values));
  return rows.filter((row) => left.has(row));
}

const hitOf = (row, x, y, right = x, bottom = y) => ({ row, x, y, right, bottom });

/** Cut a line into pieces, each there from the event on that ends it. */
function piecesOf({ rows, kind }, frame) {
  const made = [];
  rows.forEach((row, at) => {
    if (row[Y] === null) return;
    const x = frame.x(row[X]), y = frame.y(row[Y]), next = rows[at + 1], there = next && frame.x(next[X]);
    if (kind === "step") made.push([x, y, next ? there : frame.right, y, row[SEQ]]);
    if (next && next[Y] !== null) made.push([kind === "step" ? there : x, y, there, frame.y(next[Y]), Math.max(row[SEQ], next[SEQ])]);
    else if (kind === "line" && (at === 0 || rows[at - 1][Y] === null)) made.push([x - 3, y, x + 3, y, row[SEQ]]);
  });
  return made;
}

function pathOf(pieces) {
  let path = "", x, y;
  for (const [left, top, right, bottom] of pieces) {
    path += `${left === x && top === y ? "" : `M${left} ${top}`}L${right} ${bottom}`;
    [x, y] = [right, bottom];
  }
  return path;
}

/** Draw lines and steps: a piece that several of them have is striped in the colours of all. */
function drawLines(groups, frame) {
  const owners = new Map(), made = [], hits = [], node = vector("g");
  const keyOf = (piece) => piece.slice(0, 4).map(Math.round).join();
  for (const group of groups) {
    group.rows = thinned(group.kind === "line" ? group.rows.toSorted((one, other) => (typeof one[X] === "string" ? frame.x(one[X]) - frame.x(other[X]) : one[X] - other[X])) : group.rows, frame);
    group.pieces = piecesOf(group, frame);
    for (const piece of group.pieces) owners.set(keyOf(piece), (owners.get(keyOf(piece)) ?? new Set()).add(group));
    for (const row of group.rows) if (row[Y] !== null) hits.push(hitOf(row, frame.x(row[X]), frame.y(row[Y])));
  }
  for (const group of groups) {
    const strands = Map.groupBy(group.pieces, (piece) => [...owners.get(keyOf(piece))].map((one) => (one === group ? "1" : "0")).join(""));
    for (const [strand, pieces] of strands) {
      const all = strand.length, nth = strand.indexOf("1");
      const dash = all > 1 ? { "stroke-dasharray": `${STRIPE} ${STRIPE * (all - 1)}`, "stroke-dashoffset": -STRIPE * nth } : {};
      const [past, later] = ["", " later"].map((when) => vector("path", { class: classOf(group) + when, ...dash }));
      node.append(later, past);
      made.push({ pieces, past, later, count: -1 });
    }
  }
  const show = (seq) => {
    for (const one of made) {
      const there = one.pieces.filter((piece) => piece[4] <= seq);
      if (there.length === one.count) continue;
      one.count = there.length;
      one.past.setAttribute("d", pathOf(there));
      one.later.setAttribute("d", pathOf(one.pieces.filter((piece) => piece[4] > seq)));
    }
  };
  return { node, hits, show };
}

/** Draw points; those at one place stand side by side. */
function drawPoints(groups, frame) {
  const taken = Map.groupBy(groups.flatMap((group) => thinned(group.rows, frame).filter((row) => row[Y] !== null).map((row) => ({ group, row, x: frame.x(row[X]), y: frame.y(row[Y]) }))), ({ x, y }) => `${Math.round(x)} ${Math.round(y)}`);
  const node = vector("g"), hits = [];
  for (const here of taken.values())
    here.forEach(({ group, row, x, y }, at) => {
      const shift = x + (at - (here.length - 1) / 2) * Math.min(8, 40 / here.length), isOut = group.role === OUT;
      const drawn = vector("path", { class: classOf(group) + (isOut ? " cross" : ""), d: isOut ? CROSS : MARKERS[group.marker], transform: `translate(${shift} ${y})`, "data-seq": row[SEQ] });
      node.append(drawn);
      hits.push({ ...hitOf(row, shift, y), drawn });
    });
  return { node, hits, show: (seq) => hits.forEach((hit) => fade(hit.drawn, hit.row, seq)) };
}

function fade(drawn, row, seq) {
  drawn.classList.toggle("later", row[SEQ] > seq);
  drawn.classList.toggle("now", row[SEQ] === seq);
}

/** Give of the marks at one place the one that holds at a moment: the last up to it, else the first to come. */
function holding(rows, seq) {
  return rows[Math.max(lastUpTo(rows, seq), 0)];
}

function drawBars(groups, frame) {
  const all = groups.flatMap((group) => [...Map.groupBy(group.rows, (row) => row[X]).values()].map((rows) => ({ group, rows })));
  const left = new Set(groups.flatMap((group) => thinned(all.filter((one) => one.group === group).map(({ rows }) => rows.at(-1)), frame)));
  const here = Map.groupBy(all.filter(({ rows }) => left.has(rows.at(-1))), ({ rows }) => rows[0][X]), node = vector("g"), hits = [];
  const most = extent([...here.values()].map((one) => one.length), 1)[1], room = Math.max(frame.slot * 0.76, 1), wide = Math.max(Math.min(room / most, 28), 0.6);
  for (const [x, bars] of here)
    bars.sort((one, other) => one.group.nth - other.group.nth).forEach(({ group, rows }, at) => {
      const from = frame.x(x) + (at - bars.length / 2) * wide;
      const drawn = vector("rect", { class: classOf(group), x: from, width: Math.max(wide - 1, 0.6) });
      node.append(drawn);
      hits.push({ ...hitOf(rows[0], from, 0, from + wide), rows, drawn });
    });
  const show = (seq) => {
    for (const hit of hits) {
      hit.row = holding(hit.rows, seq);
      const base = frame.y(0), to = hit.row[Y] === null ? base : frame.y(hit.row[Y]);
      [hit.y, hit.bottom] = [Math.min(base, to), Math.max(base, to)];
      hit.drawn.setAttribute("y", hit.y);
      hit.drawn.setAttribute("height", hit.row[Y] === null ? 0 : Math.max(hit.bottom - hit.y, 1));
      hit.drawn.dataset.seq = hit.row[SEQ];
      fade(hit.drawn, hit.row, seq);
    }
  };
  return { node, hits, show };
}

function drawBands(groups, frame) {
  const node = vector("g"), hits = [];
  const made = groups.map((group) => ({ group, drawn: ["", " later"].map((when) => node.appendChild(vector("path", { class: classOf(group) + when }))) }));
  const edge = (rows, at) => rows.map((row) => `${frame.x(row[X])} ${frame.y(row[at] ?? row[Y])}`);
  const show = (seq) => {
    for (const { group, drawn } of made) {
      const rows = thinned(group.rows, frame).filter((row) => row[Y] !== null), split = lastUpTo(rows, seq) + 1;
      [rows.slice(0, split), rows.slice(Math.max(split - 1, 0))].forEach((part, at) =>
        drawn[at].setAttribute("d", part.length > 1 ? `M${[...edge(part, Y), ...edge(part, HIGH).reverse()].join("L")}Z` : ""));
    }
  };
  return { node, hits, show };
}

/** Draw levels, with their names beside them: those at one height are one line, striped, with the names of all. */
function drawLevels(groups, ends, frame, width) {
  const node = vector("g"), hits = [];
  const show = (seq) => {
    const here = groups.map((group) => ({ group, row: holding(group.rows, seq) })).filter(({ row }) => row[Y] !== null);
    const heights = [...Map.groupBy(here, ({ row }) => Math.round(frame.y(row[Y]))).entries()], names = [...ends];
    node.replaceChildren();
    hits.length = 0;
    for (const [y, levels] of heights) {
      levels.forEach(({ group, row }, at) => {
        const dash = levels.length > 1 ? { "stroke-dasharray": `${STRIPE} ${STRIPE * (levels.length - 1)}`, "stroke-dashoffset": -STRIPE * at } : {};
        const drawn = vector("path", { class: classOf(group), d: `M${frame.left} ${y}H${frame.right}`, "data-seq": row[SEQ], ...dash });
        if (row[HIGH] !== null) node.append(vector("path", { class: `band ${group.colour}`, d: `M${frame.left} ${y}H${frame.right}V${frame.y(row[HIGH])}H${frame.left}Z` }));
        fade(drawn, row, seq);
        node.append(drawn);
        hits.push(hitOf(row, frame.left, y, frame.right));
      });
      const roles = [...Map.groupBy(levels, ({ group }) => group.role).entries()];
      const told = roles.map(([role, all]) => [all.map(({ group }) => group.series).filter((name) => name !== role).join(", "), role].filter(Boolean).join(" "));
      names.push({ y, text: told.join("; "), colour: levels.length > 1 ? "ink" : levels[0].group.colour, isLater: levels.every(({ row }) => row[SEQ] > seq) });
    }
    let last = frame.top - LINE;
    for (const name of names.sort((one, other) => one.y - other.y)) {
      last = Math.max(name.y, last + LINE - 2);
      if (last < frame.bottom + 6) node.append(label(name.text, width - frame.right - 8, { class: `name ${name.colour}${name.isLater ? " later" : ""}`, x: frame.right + 5, y: last + 4 }));
    }
  };
  return { node, hits, show };
}

/** Say which series has which colour and which role which shape, in rows; what has a name beside it is left out. */
function drawLegend(groups, width) {
  const node = vector("g", { class: "legend" }), shown = groups.filter((group) => group.kind !== "level");
  const roles = [...Map.groupBy(shown, (group) => group.role).values()].map(([first]) => ({ ...first, colour: "ink", marker: 0, text: first.role }));
  const series = [...Map.groupBy(groups, (group) => group.series).values()].map((all) => ({ ...(all.find((one) => one.kind !== "level" && one.role !== OUT) ?? all[0]), role: "", nth: 0, text: all[0].series }));
  const told = [...series.filter((one) => one.colour !== "ink" || one.kind !== "level"), ...(roles.length > 1 ? roles.filter((one) => !series.some(({ text }) => text === one.text)) : [])];
  let x = 0, y = 12;
  for (const [at, one] of told.entries()) {
    const text = fitted(one.text, 140), wide = 24 + pen.measureText(text).width + 10;
    if (x > 0 && x + wide > width) [x, y] = [0, y + LINE + 2];
    if (y > 12 + 3 * (LINE + 2)) {
      node.append(label(`and ${told.length - at} more`, 140, { x, y: y - LINE / 2 }));
      break;
    }
    const shape = { point: { d: one.role === OUT ? CROSS : MARKERS[one.marker], transform: `translate(${x + 9} ${y - 4})` }, bar: { d: `M${x + 4} ${y - 9}h10v10h-10Z` }, band: { d: `M${x} ${y - 8}h18v8h-18Z` } }[one.kind];
    node.append(vector("path", { class: classOf(one) + (one.role === OUT ? " cross" : ""), ...(shape ?? { d: `M${x} ${y - 4}h18` }) }), label(one.text, 140, { x: x + 22, y }));
    x += wide;
  }
  return { node, height: told.length ? y + 6 : 0 };
}

/** Draw a picture: its SVG, what shows a moment in it, and what mark is near a place of it. */
function drawChart(spec) {
  const { width, height, marks } = spec, groups = groupsOf(marks, spec.styleOf), of = (...kinds) => groups.filter((group) => kinds.includes(group.kind));
  const legend = drawLegend(groups, width), isNamed = of("level").length > 0;
  const frame = frameOf({ ...spec, top: legend.height + 24, right: isNamed ? Math.min(130, width * 0.27) : 10 });
  const layers = [drawBands(of("band"), frame), drawBars(of("bar"), frame), drawLevels(of("level"), [], frame, width), drawLines(of("line", "step"), frame), drawPoints(of("point"), frame)];
  const cursor = vector("line", { class: "cursor", y1: frame.top, y2: frame.bottom }), rings = vector("g");
  const svg = vector("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": spec.told }, legend.node, drawAxes(spec, frame), cursor, ...layers.map(({ node }) => node), rings);
  const hits = () => layers.flatMap((layer) => layer.hits);
  const show = (seq, at) => {
    for (const layer of layers) layer.show(seq);
    cursor.classList.toggle("none", at === null || !frame.has(at));
    if (at !== null) for (const end of ["x1", "x2"]) cursor.setAttribute(end, frame.x(at));
    const now = layers[3].hits.filter(({ row }) => row[SEQ] === seq);
    rings.replaceChildren(...now.map(({ row, x, y }) => vector("circle", { class: `ring ${spec.styleOf(row[SERIES]).colour}`, cx: x, cy: y, r: 4 })));
  };
  const near = (x, y) => {
    let found = null, least = REACH;
    for (const hit of hits()) {
      const far = Math.hypot(Math.max(hit.x - x, x - hit.right, 0), Math.max(hit.y - y, y - hit.bottom, 0)) + (hit.row[X] === null ? 3 : 0);
      if (far < least) [found, least] = [hit.row, far];
    }
    return found;
  };
  return { svg, show, near };
}
