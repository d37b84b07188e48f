// Starts the page once it is complete: its head, its controls, its keys, and its print version.
const KEYS = {
  ArrowLeft: [() => step(-1), () => leap("round", -1)],
  ArrowRight: [() => step(1), () => leap("round", 1)],
  PageUp: [() => leap("part", -1)],
  PageDown: [() => leap("part", 1)],
  Home: [() => step(-Infinity)],
  End: [() => step(Infinity)],
  "?": [() => byId("help").showModal()],
  "/": [() => byId("search").focus()],
  " ": [play],
};
const OWN_KEYS = "select, textarea, input:not([type=range]), pre, dialog", PRESSED = "button, summary, a"; // the latter take the space bar
const BEAT = 500; // milliseconds from event to event, at the speed 1
let playing = 0; // the timer, if it plays

/** Start or stop a timer that steps through the events. Start from the beginning if the page is at the end. */
function play() {
  if (playing) return stop();
  if (isAtEnd()) step(-Infinity);
  byId("play").textContent = "❚❚ Stop";
  playing = setInterval(() => (isAtEnd() ? stop() : step(1)), BEAT / Number(byId("speed").value));
}

const isAtEnd = () => page.course.find(page.seq) >= page.course.length - 1;

function stop() {
  clearInterval(playing);
  playing = 0;
  byId("play").textContent = "▶ Play";
}

function pressed(event) {
  const isSign = event.key.length === 1; // where a sign stands on a keyboard, and whether with Shift, is its layout's
  if (event.key !== " " && event.target.id !== "play") stop();
  const press = KEYS[event.key]?.[isSign ? 0 : Number(event.shiftKey)];
  const keepsKeys = event.target.closest?.(event.key === " " ? `${OWN_KEYS}, ${PRESSED}` : OWN_KEYS) || event.ctrlKey || event.altKey || event.metaKey;
  if (!press || keepsKeys || byId("help").open) return;
  event.preventDefault();
  press();
}

function drawHead() {
  const head = store.head, of = head.game ? `the game ${head.game}` : "a run";
  byId("what").textContent = `Harbor ${head.harbor} · ${of}${head.seat ? ` · as ${head.seat} saw it` : ""}`;
  byId("simulated").hidden = !head.simulated;
  byId("back").hidden = !head.back;
  if (head.back) byId("back").href = head.back;
  const notes = element("ul", { id: "notes" }, ...head.notes.map((note) => element("li", {}, isolated(note))));
  byId("missing").replaceChildren(...(head.notes.length ? [element("summary", {}, `What is not here: ${head.notes[0]}`), notes] : []));
  drawEnd(head);
  drawChoices(head);
  drawArms(head);
}

function drawEnd({ standings, players }) {
  byId("standings").replaceChildren(standings.rows.length ? table("Standings", standings.columns, standings.rows)
    : element("p", { class: "note" }, "There are no standings."));
  const known = (row) => row.slice(0, players.some(([, , persona]) => persona) ? 3 : 2);
  byId("players").replaceChildren(table("Bidders", known(["bidder", "played by", "persona"]), players.map(known)));
  byId("bidders").hidden = players.length === 0;
}

function drawChoices({ seat, seats, places }) {
  const option = (value, text) => element("option", { value }, text);
  const names = seats.map((name) => option(name, name));
  byId("viewer").replaceChildren(option("", seat || "the analyst: everything"), ...(seat ? [] : names));
  byId("viewer").value = page.viewer;
  byId("viewer").disabled = seat !== "";
  byId("bidder").replaceChildren(option("", "all bidders"), ...names.map((one) => one.cloneNode(true)));
  byId("bidder").value = page.filter.bidder;
  const one = store.part || "part", parts = store.parts.map(([seq, , label], at) => option(seq, partName(one, label, at + 1)));
  const ends = places.filter(([, kind]) => kind === "end").map(([seq, , label]) => option(seq, label));
  byId("part").replaceChildren(option("", "the beginning"), ...parts, ...ends);
  for (const shown of document.querySelectorAll(".a-part")) shown.textContent = one;
}

/** Name a part with its number, unless the name already is kind and number, such as "run 2". */
function partName(one, label, number) {
  return label.toLowerCase() === `${one} ${number}` ? label : `${number} · ${label}`;
}

/** Mark the starts of the parts on the scrubber. */
function drawTicks() {
  const starts = store.parts.slice(0, MOST_TICKS), ticks = byId("ticks");
  ticks.replaceChildren(...starts.map(() => element("span")));
  starts.forEach(([seq], at) => { ticks.children[at].style.left = `${(100 * page.course.find(seq)) / Math.max(page.course.length - 1, 1)}%`; });
}

const MOST_TICKS = 200;

function filter() {
  const words = byId("search").value.toLowerCase().trim().replace(/\s+/g, " ");
  page.filter = { bidder: byId("bidder").value, kind: byId("kind").value, words };
  choose();
  byId("list").scrollTop = 0;
  come();
  draw();
}

const EVENT_COLUMNS = ["event", "time", "seen by", "what happened"];

/** Return the loaded events that match the filter, from one event until another. */
function listed(from = 0, until = Infinity) {
  const entries = Array.from({ length: page.rows.length }, (_, place) => page.rows.at(place));
  return entries.filter((entry) => entry && entry[SEQ] >= from && entry[SEQ] < until).map((entry) => [String(entry[SEQ]), clock(entry[AT]), seenBy(entry[TO]), entry[WORDS]]);
}

/** Do work that needs every event, or say that they are still loading. */
function withAll(name, act) {
  if (loadAll()) act();
  else tell(`The rest of the run is being loaded; press ${name} again when it is there.`);
}

/** Attach the handlers of all controls. */
function connect() {
  const clicks = {
    "event-before": () => step(-1), "event-after": () => step(1), "round-before": () => leap("round", -1),
    "round-after": () => leap("round", 1), "part-before": () => leap("part", -1), "part-after": () => leap("part", 1),
    keys: () => byId("help").showModal(), close: () => byId("help").close(), play,
    link: () => copyText(location.href.split("#")[0] + address(), "Link to this moment copied."),
    "show-calls": showCalls, "save-board": () => saveTable("board", ...boardNow(page.seq).slice(2)), print: () => withAll("Print", () => print()),
    "save-events": () => withAll("CSV", () => saveTable("events", EVENT_COLUMNS, listed())),
  };
  for (const [id, click] of Object.entries(clicks)) byId(id).addEventListener("click", click);
  byId("speed").addEventListener("change", () => { if (playing) stop(), play(); });
  byId("scrubber").addEventListener("input", (event) => {
    stop();
    const entry = page.course.at(Number(event.target.value));
    if (entry) go(entry[SEQ]);
  });
  byId("part").addEventListener("change", (event) => jump(Number(event.target.value || 0)));
  byId("viewer").addEventListener("change", (event) => look(event.target.value));
  for (const id of ["bidder", "kind"]) byId(id).addEventListener("change", filter);
  for (const id of ["bidder", "kind", "search"]) byId(id).addEventListener("focus", loadAll);
  byId("search").addEventListener("input", filter);
  byId("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && page.rows.length) jump(page.rows.at(0)[SEQ]);
    if (event.key === "Escape") event.target.blur();
  });
  byId("calls").addEventListener("toggle", () => { loadAll(); drawCallTable(); });
  byId("other").addEventListener("change", (event) => openBeside(Number(event.target.value)));
  addEventListener("keydown", pressed);
  addEventListener("resize", () => drawPictures(page.seq));
  addEventListener("popstate", reread);
  addEventListener("beforeprint", drawPaper);
  matchMedia("print").addEventListener("change", drawPaper);
}

function reread() {
  readAddress();
  choose();
  draw();
}

/** Write the events of the list, as it is filtered, as rows of a table; of a list without a filter, those of the part of the moment. */
function drawPaper() {
  const whose = watcher(), { bidder, kind, words } = page.filter, ofKind = kind && ` of the kind ${kind.replaceAll("_", " ")}`;
  const only = [bidder && ` of ${bidder}`, ofKind, words && ` with “${words}”`, whose && `, as ${whose} saw it`].join("");
  const at = lastUpTo(store.parts, page.seq), [from, , name] = store.parts[at] ?? [0, "", "the beginning"];
  const alone = `No filter was set: the events of this ${store.part || "part"} alone are listed.`;
  byId("paper-title").textContent = (isFiltered() ? "Events" : `Events of ${name}`) + only;
  byId("paper-note").textContent = [!isFiltered() && alone, !loadAll() && "Not all was loaded; print with the button of the page."].filter(Boolean).join(" ");
  byId("paper-rows").replaceChildren(table("Events", EVENT_COLUMNS, isFiltered() ? listed() : listed(from, store.parts[at + 1]?.[SEQ])));
}

/** Draw the page at a moment, which the address may override. A page that a server feeds has no head at first. */
function begin(seq) {
  if (!store.head) return;
  drawHead();
  page.seq = seq;
  connect();
  listen();
  page.isBegun = true;
  document.body.classList.toggle("framed", parent !== window);
  reread();
}

document.addEventListener("DOMContentLoaded", () => begin(store.head?.places[0]?.[0] ?? 0));
