// The page of a run: the shown moment and viewer, set by the scrubber, the keys, the list or the address.
const page = {
  seq: 0, // the number of the event whose moment is shown
  viewer: "", // "" is the analyst
  filter: { bidder: "", kind: "", words: "" },
  course: null, // the events that the viewer may see, over which the scrubber moves
  rows: null, // those of them that match the filter, for the list
  isBegun: false,
};

const harborView = {
  head(head) {
    takeHead(head);
    if (!page.isBegun) return;
    drawHead();
    choose();
    refresh();
  },
  add(chunk) {
    const wasLast = page.isBegun && page.seq >= lastSeq();
    takeChunk(chunk);
    if (!page.isBegun) return;
    choose();
    const isNews = !store.slots.some((slot) => slot.file), isAwaited = byId("moment").ariaBusy === "true";
    if (wasLast && isNews) page.seq = lastSeq();
    if (isAwaited || (isNews ? wasLast : watcher() || isFiltered())) draw();
    else refresh(chunk);
  },
};
window.harborView = harborView;

const watcher = () => page.viewer || store.head.seat; // whose eyes the page sees with; "": the analyst's
const lastSeq = () => page.course?.at(page.course.length - 1)?.[SEQ] ?? 0;

/** Select the events that the viewer may see, and those of them that match the filter. */
function choose() {
  if (watcher() || isFiltered()) loadAll();
  page.course = watcher() ? chosenCourse((entry) => isSeenBy(page.viewer, entry)) : wholeCourse();
  page.rows = isFiltered() ? found() : page.course;
  drawTicks();
  drawCallTable();
}

/** Show the moment of an event: the last event up to it that the viewer may see. */
function go(seq) {
  page.seq = page.course.at(page.course.find(seq))?.[SEQ] ?? seq;
  come();
  draw();
}

function come() {
  clearTimeout(resting);
  resting = setTimeout(rest, REST);
}

const REST = 150; // milliseconds without a step before the address follows: browsers refuse hundreds of changes
let resting = 0;

/** Handle the end of the steps: write the moment to the address, and announce it to screen readers. */
function rest() {
  writeAddress();
  byId("spoken").textContent = `${byId("number").textContent}: ${byId("words").textContent}`;
}

const writeAddress = () => history.replaceState(null, "", address());

/** Go, so that the browser's Back comes back; the keys are then those of the moment, wherever the way began. */
function jump(seq) {
  writeAddress();
  history.pushState(null, "", address());
  go(seq);
  byId("number").focus({ preventScroll: true });
}

function step(by) {
  const place = Math.min(Math.max(page.course.find(page.seq) + by, 0), page.course.length - 1);
  const entry = page.course.at(place);
  if (entry) go(entry[SEQ]);
}

/** Go to the start of the next (1) or the last (-1) part or round. */
function leap(kind, by) {
  const starts = store.head.places.filter(([, what]) => kind === "round" || what !== "round").map(([seq]) => seq);
  const seq = by > 0 ? starts.find((one) => one > page.seq) : starts.findLast((one) => one < page.seq);
  if (seq !== undefined) go(seq);
}

function look(viewer) {
  page.viewer = viewer;
  byId("viewer").value = viewer;
  choose();
  go(page.seq);
}

function address() {
  const kept = Object.entries({ seat: page.viewer, ...page.filter }).filter(([, value]) => value);
  return `#at=${page.seq}${kept.map(([name, value]) => `&${name}=${encodeURIComponent(value)}`).join("")}`;
}

/** Read the moment from the address. Missing or unknown values stay unchanged. */
function readAddress() {
  const asked = new URLSearchParams(location.hash.slice(1)), known = (name) => (store.head.seats.includes(name) ? name : "");
  const [at, seat, bidder, kind, words] = ["at", "seat", "bidder", "kind", "words"].map((name) => asked.get(name) ?? "");
  page.viewer = store.head.seat ? "" : known(seat);
  page.filter = { bidder: known(bidder), kind, words };
  for (const [id, value] of Object.entries({ viewer: page.viewer, bidder: known(bidder), search: words })) byId(id).value = value;
  if (Number.isFinite(Number.parseInt(at, 10))) page.seq = Number.parseInt(at, 10);
}

function draw() {
  const place = page.course.find(page.seq), entry = page.course.at(place);
  drawControls(place, entry);
  drawKinds();
  follow();
  drawList();
  const isThere = entry && (entry[SEQ] === page.seq || !isComing(page.seq));
  byId("moment").ariaBusy = String(!isThere);
  if (!entry) return;
  if (isThere) page.seq = entry[SEQ]; // else the moment that was asked for stays so until it has come
  drawPictures(entry[SEQ]);
  drawBoard(entry[SEQ], place > 0 ? page.course.at(place - 1)?.[SEQ] ?? null : null);
  drawEntry(entry);
  drawThoughts(entry[SEQ]);
  drawDecision(entry);
}

/** Say whether events up to a moment are being loaded: a nearer one than those that are there may come. */
function isComing(seq) {
  return store.slots.some((slot) => slot.asked && slot.entries === null && slot.first <= seq);
}

/** Show new data, and keep the reader's place. */
function refresh(chunk = { decisions: {} }) {
  const place = page.course.find(page.seq), entry = page.course.at(place);
  drawControls(place, entry);
  drawKinds();
  drawList();
  if (entry) drawPictures(entry[SEQ]);
  if (entry && entry[DECISION] in chunk.decisions) drawDecision(entry);
  if (entry && !byId("matrix").contains(document.activeElement)) drawThoughts(entry[SEQ]);
}

function drawControls(place, entry) {
  const range = byId("scrubber");
  range.max = Math.max(page.course.length - 1, 0);
  range.value = place;
  range.setAttribute("aria-valuetext", entry ? `event ${entry[SEQ]}: ${entry[WORDS].slice(0, 120)}` : "loading");
  const here = (...kinds) => store.head.places.filter(([seq, what]) => kinds.includes(what) && seq <= page.seq).at(-1);
  const part = here("part", "end"), round = here("round");
  byId("part").value = part ? part[0] : "";
  const where = [part?.[2], round && (!part || round[0] >= part[0]) ? round[2] : ""].filter(Boolean).join(", ");
  byId("place").textContent = [countOf(place), where].filter(Boolean).join(" · ");
}

/** Return the place of the moment among all that the viewer sees. Events are numbered from 0, moments from 1. */
function countOf(place) {
  const moment = `moment ${thousands.format(place + 1)} of`, length = thousands.format(page.course.length);
  return watcher() ? `${moment} the ${length} that ${watcher()} sees` : `${moment} ${length}`;
}

const tell = (message) => { byId("told").textContent = message; };

async function copyText(text, done) {
  try {
    await navigator.clipboard.writeText(text);
    tell(done);
  } catch {
    tell(text);
  }
}
