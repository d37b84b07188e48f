// The loaded data of the run: entries in slots (one per file, or one that grows), boards, decisions.
// All its values are texts and numbers from others. The page only ever shows them as text.
const SEQ = 0, AT = 1, TO = 2, TYPE = 3, WORDS = 4, FIELDS = 5, DECISION = 6;

const PICTURE = 1, PANEL = 2, SERIES = 3, ROLE = 4, KIND = 5, X = 6, Y = 7, HIGH = 8, VIEWERS = 9; // of a mark; its entry is SEQ

const store = {
  head: null,
  slots: [],
  decisions: new Map(), // number -> {decision, texts}
  thoughts: new Map(), // bidder -> kind of thought -> [[seq, number], ...] in order
  kinds: new Map(), // type -> number of loaded entries
  labels: new Map(), // number of an entry -> name of the part or round that begins there, in lower case
  part: "", // name of a part: item, day, run
  parts: [], // the places where a part begins
  marks: [], // the marks of all pictures, in order
};

function emptySlot(first, last, file) {
  return { first, last, file, from: 0, size: last - first + 1, entries: null, boards: {}, asked: false };
}

function takeHead(head) {
  store.head = head;
  store.labels = new Map();
  store.part = head.parts.replace(/s$/, "");
  store.parts = head.places.filter(([, kind]) => kind === "part");
  let number = 0;
  for (const [seq, kind, label] of head.places)
    store.labels.set(seq, `${store.labels.get(seq) ?? ""} ${kind === "part" ? `${store.part} ${++number} ` : ""}${label}`.toLowerCase());
  if (head.marks) addScript(head.marks);
  if (store.slots.length === 0) store.slots = head.chunks.map((chunk) => emptySlot(...chunk));
  count();
}

/** Compute the place in the run at which each slot begins. */
function count() {
  let from = 0;
  for (const slot of store.slots) [slot.from, from] = [from, from + slot.size];
}

function takeChunk(chunk) {
  const first = chunk.entries[0]?.[SEQ];
  for (const mark of chunk.marks) store.marks.push(mark);
  for (const [number, decision] of Object.entries(chunk.decisions))
    store.decisions.set(Number(number), { decision, texts: chunk.texts });
  if (first === undefined) return;
  const slot = store.slots.find((one) => one.file && one.entries === null && one.first === first);
  if (slot) Object.assign(slot, { entries: chunk.entries, boards: chunk.boards, size: chunk.entries.length });
  else grow(chunk);
  count();
  chunk.entries.forEach(index);
  if (slot) for (const kinds of store.thoughts.values()) for (const all of kinds.values()) all.sort((a, b) => a[0] - b[0]);
}

/** Append inline or new data to the loaded data. */
function grow(chunk) {
  if (store.slots.at(-1)?.file !== "") store.slots.push({ ...emptySlot(chunk.entries[0][SEQ], 0, ""), entries: [] });
  const slot = store.slots.at(-1);
  for (const entry of chunk.entries) slot.entries.push(entry);
  slot.last = slot.entries.at(-1)[SEQ];
  slot.size = slot.entries.length;
  for (const [viewer, boards] of Object.entries(chunk.boards))
    slot.boards[viewer] = [...(slot.boards[viewer] ?? []), ...boards];
}

/** Index a decision: by its last entry, its kind, and its rival if it names one. */
function index(entry) {
  store.kinds.set(entry[TYPE], (store.kinds.get(entry[TYPE]) ?? 0) + 1);
  const number = entry[DECISION], known = store.decisions.get(number);
  if (!known || entry[TO] === "everyone") return; // a public event results from the decision, and is no thought
  const { bidder, what } = known.decision, rival = entry[FIELDS].find(([name]) => name === "rival")?.[1];
  const kinds = store.thoughts.get(bidder) ?? new Map(), kind = rival ? `${what} of ${rival}` : what;
  if (kinds.get(what)?.at(-1)?.[1] === number) kinds.get(what).pop();
  store.thoughts.set(bidder, kinds.set(kind, kinds.get(kind) ?? []));
  kinds.get(kind).push([entry[SEQ], number]);
}

/** Return the index of the last of the sorted rows whose number is at most `seq`, or -1. */
function lastUpTo(rows, seq) {
  let low = 0, high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle][0] <= seq) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function slotOf(seq) {
  return store.slots.findLast((slot) => slot.first <= seq) ?? store.slots[0];
}

/** Return the board at a moment: the last whole board, with the later changed rows. */
function boardAt(viewer, seq) {
  const boards = slotOf(seq)?.boards[viewer] ?? [], at = lastUpTo(boards, seq);
  if (at < 0) return null;
  let from = at;
  while (boards[from][1].length < WHOLE) from--;
  const [headline, state] = boards[at][1], [, , columns, first] = boards[from][1], rows = [...first];
  for (const [, [, , changed]] of boards.slice(from + 1, at + 1))
    for (const [place, row] of Object.entries(changed)) rows[place] = row;
  return [headline, state, columns, rows];
}

const WHOLE = 4; // headline, state, columns, rows; a board that goes on has the changed rows as its third

/** Return the seats that may see an event that is not public. */
function seatsOf(to) {
  if (to.startsWith("seats:")) return JSON.parse(to.slice("seats:".length));
  return to.startsWith("bidder:") ? [to.slice("bidder:".length)] : [];
}

function isSeenBy(viewer, entry) {
  return viewer === "" || entry[TO] === "everyone" || seatsOf(entry[TO]).includes(viewer);
}

/** The entries of a run in order, including those not loaded yet, for which `at` returns null. */
function wholeCourse() {
  const last = store.slots.at(-1);
  return {
    length: last ? last.from + last.size : 0,
    at(place) {
      const slot = store.slots.findLast((one) => one.from <= place);
      if (slot && slot.entries === null) load(slot);
      return slot?.entries?.[place - slot.from] ?? null;
    },
    find(seq) {
      const slot = slotOf(seq);
      if (!slot) return 0;
      const inside = slot.entries ? lastUpTo(slot.entries, seq) : Math.min(seq - slot.first, slot.size - 1);
      return slot.from + Math.max(inside, 0);
    },
  };
}

const entryAt = (seq) => wholeCourse().at(wholeCourse().find(seq));

function chosenCourse(isChosen) {
  const rows = store.slots.flatMap((slot) => (slot.entries ?? []).filter(isChosen));
  return { length: rows.length, at: (place) => rows[place] ?? null, find: (seq) => Math.max(lastUpTo(rows, seq), 0) };
}

/** Load a file of entries. A page from a disk may not fetch, but it may add a script. */
function load(slot) {
  if (slot.asked || slot.entries !== null) return;
  slot.asked = true;
  addScript(slot.file);
}

function addScript(file) {
  document.head.append(element("script", { src: file, onerror: () => tell(`${file} can't be read: keep it beside the page`) }));
}

function loadAll() {
  store.slots.forEach(load);
  return store.slots.every((slot) => slot.entries !== null);
}
