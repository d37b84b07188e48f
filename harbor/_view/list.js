// The list of events. Only visible rows are elements, so that a run with 100,000 events stays fast.
const SPARE = 6; // rows that are drawn above and below the visible ones

function rowHeight() {
  return parseFloat(getComputedStyle(byId("list")).getPropertyValue("--row")) *
    parseFloat(getComputedStyle(document.documentElement).fontSize);
}

/** Select the events that match the filter: its words in sequence, or else all its words in any order. */
function found() {
  const { words } = page.filter, together = chosenCourse((entry) => matches(entry, [words]));
  return together.length || !words.includes(" ") ? together : chosenCourse((entry) => matches(entry, words.split(" ")));
}

function matches(entry, words) {
  const { bidder, kind } = page.filter;
  if (!isSeenBy(page.viewer, entry) || (kind && entry[TYPE] !== kind)) return false;
  if (bidder && !seatsOf(entry[TO]).includes(bidder) && !entry[FIELDS].some(([, text]) => text === bidder)) return false;
  const told = (entry[WORDS] + (store.labels.get(entry[SEQ]) ?? "")).toLowerCase();
  return words.every((word) => told.includes(word));
}

const isFiltered = () => Object.values(page.filter).some(Boolean);

function drawList() {
  const list = byId("list"), height = rowHeight(), rows = page.rows;
  const first = Math.max(Math.floor(list.scrollTop / height) - SPARE, 0);
  const last = Math.min(Math.ceil((list.scrollTop + list.clientHeight) / height) + SPARE, rows.length);
  const here = rows.length ? rows.find(page.seq) : -1;
  const drawn = Array.from({ length: Math.max(last - first, 0) }, (_, at) => row(first + at, here, height));
  byId("rows").replaceChildren(...drawn);
  list.setAttribute("aria-activedescendant", drawn.find((one) => one.ariaSelected === "true")?.id ?? "");
  const all = `${counted(page.course.length, "event")}, numbered from 0`;
  byId("found").textContent = isFiltered() ? `${thousands.format(rows.length)} of ${all}` : all;
}

function row(place, here, height) {
  const entry = page.rows.at(place);
  const made = element("div", { role: "option", id: `row-${place}`, "aria-setsize": page.rows.length,
    "aria-posinset": place + 1, "aria-selected": String(place === here && entry?.[SEQ] === page.seq) });
  made.style.top = `${place * height}px`;
  made.append(element("span", { class: "seq" }, entry ? thousands.format(entry[SEQ]) : ""), element("span", { class: "words" }, "…"));
  if (!entry) return made;
  made.dataset.seq = entry[SEQ];
  if (store.parts[lastUpTo(store.parts, entry[SEQ])]?.[0] === entry[SEQ]) made.classList.add("begins");
  if (entry[TO] !== "everyone") made.classList.add(entry[TO] === "analyst" ? "analyst" : "private");
  const chip = entry[TO] === "everyone" ? null : element("span", { class: "chip" }, isolated(seenBy(entry[TO])));
  made.lastChild.replaceChildren(chip ?? "", isolated(entry[WORDS]));
  return made;
}

/** Scroll to the moment, and centre it if it was not visible. */
function follow() {
  const list = byId("list"), height = rowHeight(), top = page.rows.find(page.seq) * height;
  byId("rows").style.height = `${Math.max(page.rows.length, 1) * height}px`;
  if (top >= list.scrollTop && top + height <= list.scrollTop + list.clientHeight) return;
  list.scrollTop = top - (list.clientHeight - height) / 2;
}

function drawKinds() {
  const select = byId("kind"), chosen = page.filter.kind;
  const kinds = [...new Set([...store.kinds.keys(), chosen].filter(Boolean))].sort();
  if (select.options.length === kinds.length + 1 && select.value === chosen) return;
  const options = kinds.map((kind) => element("option", { value: kind }, kind.replaceAll("_", " ")));
  select.replaceChildren(element("option", { value: "" }, "all kinds"), ...options);
  select.value = chosen;
}

function listen() {
  const list = byId("list");
  list.addEventListener("scroll", drawList, { passive: true });
  list.addEventListener("click", (event) => {
    const found = event.target.closest("[data-seq]");
    if (found) jump(Number(found.dataset.seq));
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!step || !page.rows.length) return;
    event.preventDefault();
    const here = page.rows.find(page.seq), isHere = page.rows.at(here)?.[SEQ] === page.seq;
    const next = page.rows.at(isHere || step < 0 ? here + (isHere ? step : 0) : here + (page.rows.at(here)?.[SEQ] > page.seq ? 0 : 1));
    if (next) go(next[SEQ]);
  });
  addEventListener("resize", drawList);
}
