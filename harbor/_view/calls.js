// The model calls as a sortable table, and the differences between two texts.
const CALL_COLUMNS = ["event", "bidder", "for", "item", "tokens in", "tokens out", "dollars", "seconds", "tries", "outcome"];
const TEXTS = new Set([1, 2, 3, 9]); // columns of words: sorted from A, all others from the greatest
const MOST_CALLS = 200; // most rows on the page; the CSV has all
const sorting = { column: 0, isDown: false };

/** List the loaded calls in log order. An unknown price is null. */
function callRows() {
  const taken = new Map(); // number of a decision -> how many of its calls are listed
  const isCall = (entry) => entry[TYPE] === "model_called" && store.decisions.has(entry[DECISION]);
  return store.slots.flatMap((slot) => (slot.entries ?? []).filter(isCall)).map((entry) => {
    const { bidder, what, item, calls } = store.decisions.get(entry[DECISION]).decision, nth = taken.get(entry[DECISION]) ?? 0;
    taken.set(entry[DECISION], nth + 1);
    const { tokens, dollars, seconds, retries } = calls[nth];
    return [entry[SEQ], bidder, what, item, tokens[0], tokens[2], dollars, seconds, retries + 1, outcomeOf(calls[nth])];
  });
}

const outcomeOf = ({ outcome, attempt }) => (attempt > 1 ? `${outcome}, attempt ${attempt}` : outcome);

const spelled = (row) => row.map((value, at) => ({ dollars: dollarsOf, seconds: (one) => one.toFixed(2) })[CALL_COLUMNS[at]]?.(value) ??
  (typeof value === "number" ? thousands.format(value) : value));

function drawCallTable() {
  byId("calls").hidden = byId("show-calls").hidden = watcher() !== "" || !store.kinds.has("model_called");
  if (!byId("calls").open || byId("calls").hidden) return;
  const { column, isDown } = sorting, rows = callRows();
  const order = (one, other) => (TEXTS.has(column) ? one.localeCompare(other) : (one ?? -1) - (other ?? -1));
  const shown = rows.toSorted((one, other) => (isDown ? -1 : 1) * order(one[column], other[column])).slice(0, MOST_CALLS);
  const heads = CALL_COLUMNS.map((name, at) => plain(name, () => sortCalls(at)));
  const listed = table("Calls", heads, shown.map(spelled).map(([seq, ...rest]) => [plain(seq), ...rest]));
  listed.querySelectorAll("th")[column].ariaSort = isDown ? "descending" : "ascending";
  listed.querySelectorAll("tbody tr").forEach((drawn, at) => drawn.addEventListener("click", () => think(shown[at][0])));
  const left = rows.length - shown.length, file = button("CSV", () => saveTable("calls", CALL_COLUMNS, rows));
  byId("call-table").replaceChildren(element("p", { class: "note" }, file, left ? ` ${counted(left, "more row")} in the CSV.` : ""), listed);
}

/** Sort by a column. A second call reverses the order. */
function sortCalls(column) {
  Object.assign(sorting, { column, isDown: sorting.column === column ? !sorting.isDown : !TEXTS.has(column) });
  drawCallTable();
  byId("call-table").querySelector("th[aria-sort] button").focus({ preventScroll: true });
}

function showCalls() {
  byId("calls").open = true;
  drawCallTable();
  byId("calls").scrollIntoView();
}

const MOST_WORDS = 2000; // most words of a text that is compared by words; a longer text is compared by lines
const MOST_PAIRS = 4_000_000; // most compared pairs; a larger text counts as replaced

/** Compare two texts. Return pieces [tag, text]; the tag is "" for a piece in both, or marks a removal or addition. */
function differences(before, after) {
  const words = [before, after].map((text) => text.match(/\S+\s*|\s+/g) ?? []);
  const [old, now] = words.some((one) => one.length > MOST_WORDS) ? [before, after].map((text) => text.split(/(?<=\n)/)) : words;
  if (old.length * now.length > MOST_PAIRS) return [["del", before], ["ins", after]];
  const width = now.length + 1, found = [], longest = new Uint16Array((old.length + 1) * width); // common pieces from a pair to the end
  for (let one = old.length - 1; one >= 0; one--)
    for (let other = now.length - 1, here = one * width + other; other >= 0; other--, here--)
      longest[here] = old[one] === now[other] ? longest[here + width + 1] + 1 : Math.max(longest[here + width], longest[here + 1]);
  for (let one = 0, other = 0; one < old.length || other < now.length;) {
    const here = one * width + other, isGone = other === now.length || longest[here + width] >= longest[here + 1];
    const tag = old[one] === now[other] ? "" : isGone ? "del" : "ins", text = tag === "ins" ? now[other] : old[one];
    if (tag !== "ins") one++;
    if (tag !== "del") other++;
    if (found.at(-1)?.[0] === tag) found.at(-1)[1] += text;
    else found.push([tag, text]);
  }
  return found;
}

/** Draw a text with its additions marked, and with its removals unless they are left out. A removal ends in a space. */
function compared(before, after, without = "") {
  return differences(before, after).filter(([tag]) => !tag || tag !== without)
    .flatMap(([tag, text]) => (tag ? [element(tag, {}, text), tag === "del" && /\S$/.test(text) ? " " : ""] : text));
}

/** Format JSON lines in a text for reading: one field per line. */
function unfolded(text) {
  return text.replace(/^[[{].*$/gm, (line) => {
    try {
      return JSON.stringify(JSON.parse(line), null, 1);
    } catch {
      return line;
    }
  });
}
