// The calls of models as a table that sorts, and what differs between one text and the next.
const CALL_COLUMNS = ["event", "bidder", "for", "item", "tokens in", "tokens out", "dollars", "seconds", "tries", "outcome"];
const MOST_CALLS = 200; // rows that are drawn unless all are asked for
const sorting = { column: 0, isDown: false, isWhole: false };

/** List the calls that are loaded, in the order of the log; a price that is not known is null. */
function callRows() {
  const taken = new Map(); // number of a decision -> how many of its calls are listed
  const isCall = (entry) => entry[TYPE] === "model_called" && store.decisions.has(entry[DECISION]);
  return store.slots.flatMap((slot) => (slot.entries ?? []).filter(isCall)).map((entry) => {
    const { bidder, what, item, calls } = store.decisions.get(entry[DECISION]).decision, nth = taken.get(entry[DECISION]) ?? 0;
    taken.set(entry[DECISION], nth + 1);
    const { tokens, dollars, seconds, retries, attempt, outcome } = calls[nth];
    return [entry[SEQ], bidder, what, item, tokens[0], tokens[2], dollars, seconds, retries + 1, attempt > 1 ? `${outcome}, attempt ${attempt}` : outcome];
  });
}

/** Add up calls, tokens, dollars and seconds per bidder; dollars are null where a price is not known. */
function callTotals(rows) {
  const sum = (own, column) => own.reduce((all, row) => (all === null || row[column] === null ? null : all + row[column]), 0);
  return [...Map.groupBy(rows, (row) => row[1])].map(([bidder, own]) => [bidder, own.length, ...[4, 5, 6, 7].map((column) => sum(own, column))]);
}

const spelled = (columns) => (row) => row.map((value, at) => ({ dollars: dollarsOf, seconds: (one) => one.toFixed(2) })[columns[at]]?.(value) ??
  (typeof value === "number" ? thousands.format(value) : value));

function drawCallTable() {
  byId("calls").hidden = byId("show-calls").hidden = page.viewer + store.head.seat !== "" || !store.kinds.has("model_called");
  if (!byId("calls").open || byId("calls").hidden) return;
  const { column, isDown, isWhole } = sorting, all = callRows();
  const rows = all.toSorted((one, other) => (isDown ? -1 : 1) *
    (typeof (one[column] ?? 0) === "number" ? (one[column] ?? -1) - (other[column] ?? -1) : one[column].localeCompare(other[column])));
  const shown = isWhole ? rows : rows.slice(0, MOST_CALLS);
  const heads = CALL_COLUMNS.map((name, at) => element("button", { class: "plain", type: "button", onclick: () => sortCalls(at) }, name));
  const listed = table("Calls", heads, shown.map(spelled(CALL_COLUMNS)).map(([seq, ...rest]) => [element("button", { class: "plain", type: "button" }, seq), ...rest]));
  listed.querySelectorAll("th")[column].ariaSort = isDown ? "descending" : "ascending";
  listed.querySelectorAll("tbody tr").forEach((drawn, at) => drawn.addEventListener("click", () => think(shown[at][0])));
  const sums = ["bidder", "calls", "tokens in", "tokens out", "dollars", "seconds"];
  const whole = element("button", { type: "button", onclick: () => { sorting.isWhole = true; drawCallTable(); } }, `Show all ${thousands.format(rows.length)}`);
  const file = element("button", { type: "button", onclick: () => download("calls.csv", "text/csv", csvFrom(CALL_COLUMNS, rows)) }, "CSV");
  byId("call-table").replaceChildren(table("Calls per bidder", sums, callTotals(all).map(spelled(sums))), element("p", {}, file), listed,
    shown.length < rows.length ? whole : "");
}

/** Sort by a column: numbers from the greatest, words from A; again, the other way round. */
function sortCalls(column) {
  const isNumber = typeof (callRows()[0]?.[column] ?? 0) === "number";
  sorting.isDown = sorting.column === column ? !sorting.isDown : isNumber;
  sorting.column = column;
  drawCallTable();
  byId("call-table").querySelector("th[aria-sort] button").focus({ preventScroll: true });
}

function showCalls() {
  byId("calls").open = true;
  drawCallTable();
  byId("calls").scrollIntoView();
}

const MOST_WORDS = 2000; // in a text that is compared word by word; a longer one is compared by lines
const MOST_PAIRS = 4_000_000; // of what is compared; beyond, all of it counts as replaced

/** Tell what of two texts is the same, and what was taken out or put in: [tag, text], "" where it is the same. */
function differences(before, after) {
  const words = [before, after].map((text) => text.match(/\S+\s*|\s+/g) ?? []);
  const [old, now] = words.some((one) => one.length > MOST_WORDS) ? [before, after].map((text) => text.split(/(?<=\n)/)) : words;
  let first = 0, last = 0;
  while (first < Math.min(old.length, now.length) && old[first] === now[first]) first++;
  while (last < Math.min(old.length, now.length) - first && old.at(-1 - last) === now.at(-1 - last)) last++;
  const gone = old.slice(first, old.length - last), come = now.slice(first, now.length - last), width = come.length + 1;
  const found = now.slice(0, first).map((text) => ["", text]), end = now.slice(now.length - last).map((text) => ["", text]);
  if (gone.length * come.length > MOST_PAIRS) return [...found, ["del", gone.join("")], ["ins", come.join("")], ...end];
  const longest = new Uint16Array((gone.length + 1) * width); // of what is left from a pair of places on
  for (let one = gone.length - 1; one >= 0; one--)
    for (let other = come.length - 1; other >= 0; other--)
      longest[one * width + other] = gone[one] === come[other] ? longest[(one + 1) * width + other + 1] + 1
        : Math.max(longest[(one + 1) * width + other], longest[one * width + other + 1]);
  for (let one = 0, other = 0; one < gone.length || other < come.length;) {
    if (one < gone.length && gone[one] === come[other]) found.push(["", come[other++]]), one++;
    else if (other === come.length || (one < gone.length && longest[(one + 1) * width + other] >= longest[one * width + other + 1])) found.push(["del", gone[one++]]);
    else found.push(["ins", come[other++]]);
  }
  return [...found, ...end];
}

/** Draw a text with what is new in it marked, and what is gone unless it is left out; alike neighbours are one element. */
function compared(before, after, without = "") {
  const told = [];
  for (const [tag, text] of differences(before, after))
    if (tag === told.at(-1)?.[0]) told.at(-1)[1] += text;
    else if (tag !== without || tag === "") told.push([tag, text]);
  return told.map(([tag, text]) => (tag ? element(tag, {}, text) : text));
}

/** Write the JSON that stands in lines of a text as a reader wants it: a line per field. */
function unfolded(text) {
  return text.replace(/^[[{].*$/gm, (line) => {
    try {
      return JSON.stringify(JSON.parse(line), null, 1);
    } catch {
      return line;
    }
  });
}
