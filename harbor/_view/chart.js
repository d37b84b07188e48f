// Draws one picture as SVG from its marks, for any game: a series has a colour and marker, a role a dash or shape.
const MOST_POINTS = 2000; // of a series; of a longer one the least and the greatest per column of pixels are drawn, or a point per cell
const CELL = 3; // pixels of a cell, smaller than a point
const REACH = 20; // pixels within which the pointer selects a mark
const STRIPE = 6; // pixels of a dash if several series share a line
const LINE = 14, NAME = 140, LEGEND = 70; // pixels from text to text, of the longest name, and of the longest legend
const TURNED = Math.SQRT1_2; // of its length: how high a name is that is turned by 45 degrees
const EXPECTED = new Set(["limit", "estimate", "belief", "expected", "profile", "theory"]); // dashed; facts are solid
const MARKERS = ["M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0Z", "M-3.5-3.5h7v7h-7Z", "M0-4.5L4.5 3.5h-9Z", "M0-5L5 0L0 5L-5 0Z", "M0 4.5L4.5-3.5h-9Z"];
const OUT = "out", CROSS = "M-4-4L4 4M4-4L-4 4"; // where a bidder ends, in any game
const pen = document.createElement("canvas").getContext("2d");
pen.font = "11px system-ui, sans-serif";
const shortly = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 4 });
const exactly = new Intl.NumberFormat("en-US", { maximumFractionDigits: 4 });
const cents = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2 });

function vector(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const widthOf = (text) => pen.measureText(text).width;

/** Write a text in a width in pixels. A cut text has its full form in the title. */
function label(text, width, attributes) {
  const isWhole = widthOf(text) <= width;
  let end = Math.min(text.length, Math.ceil(width / 3));
  while (!isWhole && end > 0 && widthOf(`${text.slice(0, end)}…`) > width) end--;
  return vector("text", attributes, isWhole ? text : `${text.slice(0, end)}…`, isWhole ? "" : vector("title", {}, text));
}

function written(value, scale, isShort = false) {
  if (typeof value === "string") return value;
  const sign = value < 0 ? "−" : "", size = Math.abs(value), isMoney = scale === "dollars";
  if (scale === "share") return `${sign}${exactly.format(100 * size)}%`;
  const text = isShort ? shortly.format(size).replace("K", "k") : (isMoney && size % 1 ? cents : exactly).format(size);
  return sign + (isMoney ? "$" : "") + text;
}

/** Choose about as many round numbers as asked between two numbers. */
function roundNumbers(low, high, most, isWhole = false) {
  const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(isWhole ? 1 : 0, [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough * 0.999));
  const first = Math.ceil(low / step), count = Math.floor(high / step + 1e-9) - first + 1;
  return Array.from({ length: Math.max(count, 0) }, (_, at) => Number(((first + at) * step).toPrecision(12)));
}

function extent(values, least = Infinity, greatest = -Infinity) {
  for (const value of values) if (value !== null) [least, greatest] = [Math.min(least, value), Math.max(greatest, value)];
  return least <= greatest ? [least, greatest] : [0, 1];
}

/** Lay a picture out: the positions of x and y, and the labels of its axes. */
function frameOf({ marks, width, height, scale, xScale }, top, margin) {
  const placed = marks.filter((mark) => mark[X] !== null), hasBars = placed.some((mark) => mark[KIND] === "bar"), names = new Map();
  const isNamed = hasBars || placed.some((mark) => typeof mark[X] === "string"), isWhole = placed.every((mark) => mark[X] % 1 === 0);
  if (isNamed) [...new Set(placed.map((mark) => mark[X]))].sort((one, other) => one - other || 0).forEach((name, at) => names.set(name, at));
  const [first, last] = isNamed ? [0, names.size - 1] : extent(placed.map((mark) => mark[X]));
  const side = isNamed || (isWhole && last - first < 100) ? 0.5 : (last - first) * 0.03 || 0.5;
  let [low, high] = extent(marks.flatMap((mark) => [mark[Y], mark[HIGH]]), ...(hasBars ? [0, 0] : []));
  const air = (high - low) * 0.06 || Math.abs(high) * 0.05 || 1;
  if (low !== 0) low -= low > 0 ? Math.min(air, low) : air;
  if (high !== 0 || low === 0) high += air;
  const isText = typeof placed[0]?.[X] === "string"; // names, whose ends stand left of their places where they are turned
  const ticks = roundNumbers(low, high, (height - top) / 50), left = Math.max(isText ? 48 : 16, ...ticks.map((tick) => widthOf(written(tick, scale, true)))) + 8;
  const right = width - margin, bottom = height - 30, unit = (right - left) / (last - first + 2 * side);
  const [, widest] = extent([...names.keys()].map((name) => widthOf(written(name, xScale, true))), 0, 0);
  const isTurned = isText && widest > unit - 4, nth = Math.ceil((isTurned ? LINE : 64) / unit);
  const xTicks = isNamed || !placed.length ? [...names.keys()].filter((_, at) => at % nth === 0)
    : roundNumbers(first - side / 2, last + side / 2, (right - left) / 40, isWhole);
  const tenth = (value) => Math.round(value * 10) / 10, placeOf = (value) => (isNamed ? names.get(value) ?? -1 : value) - first + side;
  return { left, right, top, bottom, ticks, xTicks, unit, room: isNamed ? nth * unit - 4 : 64, isTurned, foot: isTurned ? Math.min(widest, NAME) * TURNED : 0,
    x: (value) => tenth(left + placeOf(value) * unit), y: (value) => tenth(bottom - ((value - low) * (bottom - top)) / (high - low)),
    start: (value) => tenth(left + (placeOf(value) - (isNamed ? 0.5 : 0)) * unit) }; // of a place, which a step holds for
}

function drawAxes({ x, y, scale, xScale, width }, frame) {
  const { left, right, top, bottom } = frame, across = (at, kind) => vector("path", { class: kind, d: `M${left} ${at}H${right}` });
  const heights = frame.ticks.map((tick) => [tick, frame.y(tick)]), places = frame.xTicks.map((tick) => [tick, frame.x(tick)]);
  return vector("g", {}, ...heights.map(([tick, at]) => across(at, tick === 0 ? "zero" : "grid")), across(bottom, "zero"),
    ...heights.map(([tick, at]) => label(written(tick, scale, true), left, { x: left - 6, y: at + 4, "text-anchor": "end" })),
    ...places.map(([tick, at]) => frame.isTurned
      ? label(tick, Math.min(NAME, (at - 6) / TURNED), { transform: `translate(${at + 4} ${bottom + 12}) rotate(-45)`, "text-anchor": "end" })
      : label(written(tick, xScale, true), Math.min(frame.room, 2 * (width - at), 2 * at), { x: at, y: bottom + 14, "text-anchor": "middle" })),
    label(y, right - left, { x: left, y: top - 8 }), label(x, right - left, { x: right, y: bottom + 27 + frame.foot, "text-anchor": "end" }));
}

/** Group marks by series, role and kind. `nth` is the index of the role among those of its kind. */
function groupsOf(marks, styleOf) {
  const keyOf = (mark) => JSON.stringify([mark[SERIES], mark[ROLE], mark[X] === null ? "level" : mark[KIND]]), roles = { bar: [], point: [] };
  return [...Map.groupBy(marks, keyOf)].map(([key, rows]) => {
    const [series, role, kind] = JSON.parse(key), known = roles[kind] ?? [];
    if (known.length < 3 && role !== OUT && !EXPECTED.has(role) && !known.includes(role)) known.push(role);
    return { series, role, kind, rows, nth: Math.max(known.indexOf(role), 0), ...styleOf(series) };
  }).sort((one, other) => one.rank - other.rank || 0);
}

function classOf({ kind, role, series, colour, nth }) {
  const isExpected = EXPECTED.has(role) || EXPECTED.has(series);
  return [kind === "point" && role === OUT ? "cross" : kind, colour, isExpected ? "expected" : "", nth ? `nth${nth}` : ""].join(" ");
}

/** Keep only the smallest and the largest mark in each column of pixels, and the end of a line. */
function thinned(all, frame, rowOf = (one) => one) {
  if (all.length <= MOST_POINTS) return all;
  const kept = new Set(), low = (one) => rowOf(one)[Y], high = (one) => rowOf(one)[HIGH] ?? low(one);
  for (const column of Map.groupBy(all, (one) => Math.round(frame.x(rowOf(one)[X]))).values()) {
    const there = column.filter((one) => low(one) !== null), least = (of) => there.reduce((best, one) => (of(one) < of(best) ? one : best), there[0]);
    for (const one of [column.findLast((last) => low(last) === null), least(low), least((each) => -high(each))]) kept.add(one);
  }
  return all.filter((one) => kept.has(one));
}

/** Return the valid one of the marks at one place: the last up to the moment, or else the next. */
const holding = (rows, seq) => rows[Math.max(lastUpTo(rows, seq), 0)];

function fade(drawn, row, seq) {
  drawn.classList.toggle("later", row[SEQ] > seq);
  drawn.classList.toggle("now", row[SEQ] === seq);
  drawn.dataset.seq = row[SEQ];
}

const stripes = (count, nth) => (count > 1 ? { "stroke-dasharray": `${STRIPE} ${STRIPE * (count - 1)}`, "stroke-dashoffset": -STRIPE * nth } : {});

/** Cut a line, a step or a band into paths. Each path appears at the event that ends it. */
function piecesOf({ rows, kind }, frame) {
  const made = [], piece = (from, to, row) => made.push({ from, to, path: from + to, seq: row[SEQ] });
  rows.forEach((row, at) => {
    if (row[Y] === null) return;
    const x = frame.x(row[X]), y = frame.y(row[Y]), next = rows[at + 1], isLast = !next || next[Y] === null, end = next ? frame.x(next[X]) : frame.right;
    const from = frame.start(row[X]), to = next ? frame.start(next[X]) : end;
    const last = isLast || row[SEQ] > next[SEQ] ? row : next, top = (one) => `${frame.x(one[X])} ${frame.y(one[HIGH] ?? one[Y])}`;
    if (kind === "step") piece(`M${from} ${y}`, `L${to} ${y}`, row);
    if (kind === "step" && !isLast) piece(`M${to} ${y}`, `L${to} ${frame.y(next[Y])}`, next);
    if (kind === "line") piece(`M${isLast ? x - 2 : x} ${y}`, isLast ? `L${x + 2} ${y}` : `L${end} ${frame.y(next[Y])}`, last);
    if (kind === "band" && !isLast) piece(`M${x} ${y}`, `L${end} ${frame.y(next[Y])}L${top(next)}L${top(row)}Z`, last);
  });
  return made;
}

const joined = (pieces) => pieces.map(({ from, to }, at) => (pieces[at - 1]?.to === `L${from.slice(1)}` ? to : from + to)).join("");

/** Draw lines, steps and bands. A piece that several series share is striped in their colours. */
function drawLines(groups, frame) {
  const owners = new Map(), strands = [], hits = [], node = vector("g");
  for (const group of groups) {
    const place = (row) => (typeof row[X] === "string" ? frame.x(row[X]) : row[X]);
    group.rows = thinned(group.kind === "step" ? group.rows : group.rows.toSorted((one, other) => place(one) - place(other)), frame);
    group.pieces = piecesOf(group, frame);
    for (const { path } of group.pieces) owners.set(path, (owners.get(path) ?? new Set()).add(group));
    for (const row of group.rows) if (row[Y] !== null) hits.push({ row, group, box: [frame.x(row[X]), frame.y(row[Y])] });
  }
  for (const group of groups)
    for (const pieces of Map.groupBy(group.pieces, ({ path }) => [...owners.get(path)].map((one) => groups.indexOf(one)).join()).values()) {
      const all = [...owners.get(pieces[0].path)], dash = group.kind === "band" ? {} : stripes(all.length, all.indexOf(group));
      node.append(vector("path", { class: `${classOf(group)} later`, d: joined(pieces), ...dash }));
      strands.push({ pieces, past: node.appendChild(vector("path", { class: classOf(group), d: "", ...dash })), count: 0 });
    }
  const rings = node.appendChild(vector("g"));
  const show = (seq) => {
    for (const strand of strands) {
      const there = strand.pieces.filter((piece) => piece.seq <= seq);
      if (there.length !== strand.count) strand.past.setAttribute("d", joined(there));
      strand.count = there.length;
    }
    const ring = ({ group, box: [cx, cy] }) => vector("circle", { class: group.colour, cx, cy, r: 4 });
    rings.replaceChildren(...hits.filter(({ row }) => row[SEQ] === seq).map(ring));
  };
  return { node, hits, show };
}

/** Draw bars and points side by side at each place. If there are many points, draw one per cell. */
function drawPlaces(groups, frame) {
  const isBar = groups[0]?.kind === "bar", node = vector("g");
  const cellOf = (row) => [frame.x(row[X]), frame.y(row[Y])].map((at) => Math.round(at / CELL)).join();
  const barsOf = (rows) => thinned([...Map.groupBy(rows, (row) => row[X]).values()], frame, (own) => own.at(-1));
  const pointsOf = (rows) => [...Map.groupBy(rows.filter((row) => row[Y] !== null), rows.length > MOST_POINTS ? cellOf : (row) => row).values()];
  const hits = groups.flatMap((group) => (isBar ? barsOf : pointsOf)(group.rows).map((rows) => ({ group, rows, row: rows[0] })));
  const here = [...Map.groupBy(hits, ({ row }) => `${frame.x(row[X])} ${isBar ? "" : frame.y(row[Y])}`).values()];
  const [, most] = extent(here.map((all) => all.length), 1);
  for (const all of here) {
    const owners = [...new Set(all.map(({ group }) => group))].sort((one, other) => one.nth - other.nth);
    const wide = isBar ? Math.min(28, (0.76 * frame.unit) / most) : Math.min(8, (0.8 * frame.unit) / owners.length);
    for (const hit of all) {
      const { group, row } = hit, shape = group.role === OUT ? CROSS : MARKERS[group.marker];
      const x = frame.x(row[X]) + (owners.indexOf(group) - (owners.length - !isBar) / 2) * wide;
      hit.box = isBar ? [x, 0, x + wide, 0] : [x, frame.y(row[Y])];
      hit.drawn = isBar ? vector("rect", { x, width: Math.max(wide - 1, 0.6) }) : vector("path", { d: shape, transform: `translate(${hit.box.join()})` });
      hit.drawn.setAttribute("class", classOf(group));
      node.append(hit.drawn);
    }
  }
  const show = (seq) => {
    for (const hit of hits) {
      const row = holding(hit.rows, seq), when = Math.sign(row[SEQ] - seq);
      if (hit.row === row && hit.when === when) continue;
      Object.assign(hit, { row, when });
      fade(hit.drawn, row, seq);
      if (!isBar) continue;
      [hit.box[1], hit.box[3]] = extent([frame.y(0), frame.y(row[Y] ?? 0)]);
      hit.drawn.setAttribute("y", hit.box[1]);
      hit.drawn.setAttribute("height", row[Y] === null ? 0 : Math.max(hit.box[3] - hit.box[1], 1));
    }
  };
  return { node, hits, show };
}

/** Name some of the levels of a role: "bidder: role" for one bidder, and "role: bidders" for several. */
function nameOfLevels(role, some, all) {
  const names = some.map(({ series }) => series).filter((name) => name !== role);
  if (names.length > 2 && names.length === all.length) return `${role}: all`;
  return names.length === 1 ? `${names[0]}: ${role}` : [role, names.join(", ")].filter(Boolean).join(": ");
}

/** Draw levels with their names. Levels at one height are one striped line with all names. */
function drawLevels(groups, frame, width) {
  const node = vector("g"), hits = [];
  const show = (seq) => {
    const here = groups.map((group) => ({ group, row: holding(group.rows, seq) })).filter(({ row }) => row[Y] !== null);
    let last = frame.top - LINE;
    hits.length = 0;
    node.replaceChildren();
    for (const [y, levels] of [...Map.groupBy(here, ({ row }) => Math.round(frame.y(row[Y])))].sort(([one], [other]) => one - other)) {
      levels.forEach(({ group, row }, at) => {
        const drawn = vector("path", { class: classOf(group), d: `M${frame.left} ${y}H${frame.right}`, ...stripes(levels.length, at) });
        fade(drawn, row, seq);
        node.append(drawn);
        hits.push({ row, box: [frame.left, y, frame.right] });
      });
      const told = [...Map.groupBy(levels, ({ group }) => group.role)].map(([role, some]) =>
        nameOfLevels(role, some.map(({ group }) => group), groups.filter((one) => one.role === role)));
      last = Math.max(y, last + LINE - 2);
      const style = `name ${levels.length > 1 ? "ink" : levels[0].group.colour}${levels.every(({ row }) => row[SEQ] > seq) ? " later" : ""}`;
      if (last < frame.bottom + 8) node.append(label(told.join("; "), width - frame.right - 8, { class: style, x: frame.right + 5, y: last + 4 }));
    }
  };
  return { node, hits, show };
}

/** Draw the legend: a colour per series and a shape per role. Levels have their names beside them. */
function drawLegend(groups, width) {
  const firsts = (all, by, look) => [...Map.groupBy(all, by)].map(([text, [one]]) => ({ ...one, ...look, text }));
  const node = vector("g"), kinds = groups.filter(({ kind }) => kind !== "level");
  const seats = groups.filter(({ colour }) => colour !== "ink"), roles = firsts(kinds, (one) => one.role, { colour: "ink", marker: 0 });
  const series = firsts([...kinds, ...seats], (one) => one.series, { nth: 0, role: "", series: "" });
  const told = [...series, ...roles.filter(({ text }) => roles.length > 1 && !series.some((one) => one.text === text))];
  let x = 0, y = 12;
  for (const [at, one] of told.entries()) {
    const wide = 34 + Math.min(widthOf(one.text), NAME);
    if (x > 0 && x + wide > width) [x, y] = [0, y + LINE + 2];
    const isFull = y > LEGEND, point = one.role === OUT ? CROSS : MARKERS[one.marker];
    const d = { point, bar: "M-5-5h10v10h-10Z", band: "M-9-4h18v8h-18Z" }[one.kind] ?? "M-9 0h18";
    node.append(label(isFull ? `and ${told.length - at} more` : one.text, NAME, { x: x + 22, y }));
    if (isFull) break;
    node.append(vector("path", { class: classOf(one), d, transform: `translate(${x + 9} ${y - 4})` }));
    x += wide;
  }
  return { node, height: told.length ? y + 6 : 0 };
}

/** Draw a picture. Return its SVG, a function that shows a moment, and one that finds the nearest mark. */
function drawChart(spec) {
  const { width, height } = spec, groups = groupsOf(spec.marks, spec.styleOf), of = (...kinds) => groups.filter(({ kind }) => kinds.includes(kind));
  const legend = drawLegend(groups, width), levels = of("level");
  const alike = [...Map.groupBy(levels, ({ role }) => role).values()], names = [...levels.map((one) => [one]), ...alike];
  const [, widest] = extent(names.map((some) => widthOf(nameOfLevels(some[0].role, some, some))), 0, 0);
  const frame = frameOf(spec, legend.height + 24, levels.length ? Math.min(widest + 14, width * 0.36) : 10);
  const lines = drawLines(of("line", "step", "band"), frame);
  const layers = [drawPlaces(of("bar"), frame), drawLevels(levels, frame, width), lines, drawPlaces(of("point"), frame)];
  const cursor = vector("path", { class: "cursor" }), drawn = [legend.node, drawAxes(spec, frame), cursor, ...layers.map(({ node }) => node)];
  const show = (seq, at) => {
    for (const layer of layers) layer.show(seq);
    const x = at === null ? 0 : frame.x(at);
    cursor.setAttribute("d", x >= frame.left && x <= frame.right ? `M${x} ${frame.top}V${frame.bottom}` : "");
  };
  const near = (x, y) => {
    let found = null, least = REACH;
    for (const { row, box: [left, top, right = left, bottom = top] } of layers.flatMap(({ hits }) => hits)) {
      const behind = row[X] === null ? 4 : 0; // a level is behind what is on it
      const far = Math.hypot(Math.max(left - x, x - right, 0), Math.max(top - y, y - bottom, 0)) + behind;
      if (far <= least) [found, least] = [row, far];
    }
    return found;
  };
  return { svg: vector("svg", { viewBox: `0 0 ${width} ${height + frame.foot}`, role: "img", "aria-label": spec.told }, ...drawn), show, near };
}
