// One moment: the board, the event, the last thoughts of each bidder, and a decision in full.
const opened = new Set(["reply"]); // which parts of a call a reader has open; it stays so from one to the next

const boardNow = (seq) => boardAt(watcher(), seq) ?? ["", "", [], []];

/** Draw the board at an event. Mark the differences from the board at the event before, if it is loaded. */
function drawBoard(seq, before) {
  const [headline, state, columns, rows] = boardNow(seq), old = before === null ? null : boardAt(watcher(), before);
  byId("headline").textContent = headline || "Before it begins";
  byId("state").textContent = state;
  const was = (row, column) => old[3][row]?.[old[2].indexOf(columns[column])]; // a column may have come or gone
  const changed = (row, column) => (old && rows[row][column] && was(row, column) !== rows[row][column] ? "changed" : "");
  byId("table").replaceChildren(rows.length ? table("Board", columns, rows, changed) : "");
}

function drawEntry(entry) {
  byId("number").textContent = `Event ${thousands.format(entry[SEQ])}`;
  byId("words").textContent = entry[WORDS];
  const to = entry[TO] === "everyone" ? "seen by everyone" : `seen by ${seenBy(entry[TO])} alone`;
  byId("meta").textContent = `${entry[TYPE].replaceAll("_", " ")} · at ${clock(entry[AT])} · ${to}`;
  byId("fields").replaceChildren(...defined(entry[FIELDS]));
  byId("all").hidden = entry[FIELDS].length === 0;
}

/** Draw the table of thoughts: a row per bidder, a column per kind of thought. */
function drawThoughts(seq) {
  const bidders = [...store.thoughts.keys()].filter((name) => ["", name].includes(page.viewer)).sort((one, other) => seatOf(one) - seatOf(other));
  const isThought = (kind) => bidders.some((name) => lastUpTo(store.thoughts.get(name).get(kind) ?? [], seq) >= 0);
  const named = new Set(["plan", "replan", ...bidders.flatMap((name) => [...store.thoughts.get(name).keys()])]), kinds = [...named].filter(isThought);
  const link = (name, kind) => {
    const all = store.thoughts.get(name).get(kind) ?? [];
    const [found, number] = all[lastUpTo(all, seq)] ?? [];
    if (found === undefined) return "";
    const { item } = store.decisions.get(number).decision, words = entryAt(found)?.[WORDS] ?? "…";
    const told = `${name}: ${kind}${item ? `, ${item}` : ""}, event ${found}`;
    const first = (words.startsWith(`${name} `) ? words.slice(name.length + 1) : words).replace(/^\w+ \(.*?\): (?=")/, "");
    return plain(isolated(first.length > FIRST ? `${first.slice(0, FIRST).trimEnd()}…` : first), () => think(found),
      { class: "plain thought", title: words, "aria-label": told, "aria-current": found === seq ? "true" : null });
  };
  const rows = bidders.map((name) => [name, ...kinds.map((kind) => link(name, kind))]);
  byId("thoughts").hidden = kinds.length === 0;
  const hadFocus = byId("matrix").contains(document.activeElement);
  byId("matrix").replaceChildren(rows.length ? table("Latest thoughts", ["", ...kinds], rows) : "");
  if (hadFocus) byId("matrix").querySelector("[aria-current]")?.focus({ preventScroll: true });
}

const FIRST = 44; // most letters of a thought in the table

/** Go to a thought. Keep the table in place, with the thought right below it. */
function think(seq) {
  jump(seq);
  byId("thoughts").scrollIntoView();
}

function drawDecision(entry) {
  const known = store.decisions.get(entry[DECISION]);
  byId("decision").hidden = !["", known?.decision.bidder].includes(page.viewer) || !known;
  if (byId("decision").hidden) return;
  const { bidder, what, item, round, calls, beside } = known.decision;
  const where = [item, round ? `round ${round}` : ""].filter(Boolean).join(", ");
  byId("decided").replaceChildren(isolated(bidder), `: ${what}`);
  byId("where").replaceChildren(where, ...(entry[TO] === "everyone" ? why(entry, bidder, what) : []));
  for (const [id, step] of [["earlier", -1], ["later", 1]]) {
    const there = decisionBeside(bidder, entry, step);
    byId(id).disabled = there === null;
    byId(id).onclick = () => jump(there);
  }
  const [own, before] = thoughtsOf(bidder, entry[DECISION]), earlier = store.decisions.get(before?.[1]);
  byId("thought").textContent = entryAt(own?.[0] ?? entry[SEQ])?.[WORDS] ?? "";
  const changes = own && before ? drawChanges(entryAt(own[0]), entryAt(before[0])) : [];
  const was = (title) => earlier?.decision.beside.find((one) => one.title === title);
  if (page.viewer !== "") byId("inside").replaceChildren(...changes, onlyForAnalyst());
  else byId("inside").replaceChildren(...changes, ...beside.map((one) => drawBeside(one, was(one.title))), ...drawCalls(calls, known.texts, earlier));
}

/** Return a decision and the thought of the same kind before it among the bidder's thoughts, as [seq, number] each. */
function thoughtsOf(bidder, number) {
  for (const [kind, all] of store.thoughts.get(bidder) ?? []) {
    const own = all.find((one) => one[1] === number);
    const plans = kind === "replan" ? store.thoughts.get(bidder).get("plan") ?? [] : []; // a new plan replaces the first
    if (own) return [own, [...plans, ...all].filter(([seq]) => seq < own[0]).at(-1)];
  }
  return [];
}

/** Draw the changed fields of a thought since the one before, word by word. */
function drawChanges(now, before) {
  const old = new Map(before?.[FIELDS]), fields = (now?.[FIELDS] ?? []).filter(([name, text]) => !ELSEWHERE.has(name) && old.get(name) !== text);
  if (!before || !fields.length) return [];
  const told = defined(fields.map(([name, text]) => [name, ...compared(old.get(name) ?? "", text)]));
  return [element("section", { id: "changes" }, element("h4", {}, "What changed since ", eventLink(before[SEQ], think)), element("dl", {}, ...told))];
}

const ELSEWHERE = new Set(["item", "round", "attempt", "closed", "priorities", "weights"]); // fields that stand above, or in a table

/** Link a bidder's public act to the event at which it was decided. */
function why(entry, bidder, what) {
  const all = store.thoughts.get(bidder)?.get(what) ?? [], at = all[lastUpTo(all, entry[SEQ])]?.[0];
  return at === undefined ? [] : [" · why: ", eventLink(at)];
}

function onlyForAnalyst() {
  return element("p", { class: "note" }, "Prompts, replies and the truth are not among what a bidder sees. ",
    button("Show everything at this moment", () => { look(""); byId("viewer").focus(); }));
}

/** Return the bidder's decision before (-1) or after (1) the decision of an entry, or null. */
function decisionBeside(bidder, entry, step) {
  const all = [...(store.thoughts.get(bidder)?.values() ?? [])].flat().filter(([, number]) => number !== entry[DECISION]);
  return all.map(([seq]) => seq).filter((seq) => (seq - entry[SEQ]) * step > 0).sort((one, other) => (one - other) * step)[0] ?? null;
}

/** Draw a table of a thought, with a column for the thought before if it has such a table. */
function drawBeside({ title, note, ...given }, earlier) {
  const old = new Map(earlier?.rows.map((row) => [row[0], row[1]])), off = given.off, differs = new Set(off);
  const wider = (row, was) => (earlier ? [...row.slice(0, 2), was, ...row.slice(2)] : row);
  const columns = wider(given.columns, "before"), rows = given.rows.map((row) => wider(row, old.get(row[0]) ?? ""));
  const named = off.length ? ["", ...columns] : columns;
  const told = off.length ? rows.map((row, at) => [differs.has(at) ? "differs" : "", ...row]) : rows;
  const mark = (row, column) => (differs.has(row) && (column === 0 || off.length === 0) ? "off" : "");
  const explained = note ? element("p", { class: "note" }, note) : null;
  return element("section", { class: "beside" }, element("h4", {}, isolated(title)), table(title, named, told, mark), explained);
}

function drawCalls(calls, texts, earlier) {
  if (!calls.length) return [element("p", { class: "note" }, "No call of a model led to this.")];
  const old = earlier?.decision.calls[0]?.prompt.map((text) => earlier.texts[text]);
  return calls.map((call, at) => drawCall(call, texts, calls.length > 1 ? `Call ${at + 1} of ${calls.length}` : "Call", old));
}

function drawCall(call, texts, name, old) {
  const [sent, kept, written, reasoned] = call.tokens;
  const facts = [
    ["outcome", outcomeOf(call)],
    ["model", call.model + (call.answered_by && call.answered_by !== call.model ? ` (answered by ${call.answered_by})` : "")],
    ["tokens", `${thousands.format(sent)} in${kept ? ` (${thousands.format(kept)} from the provider's cache)` : ""}, ` +
      `${thousands.format(written)} out${reasoned ? ` (${thousands.format(reasoned)} of reasoning)` : ""}`],
    ["price", dollarsOf(call.dollars) + (call.cached ? ", kept reply: nothing was paid" : "")],
    ["took", `${call.seconds.toFixed(2)} s${call.retries ? `, after ${counted(call.retries, "retry").replace("retrys", "retries")}` : ""}`],
    ...(call.notes.length ? [["noted", call.notes.join("; ")]] : []),
  ];
  return element("section", {}, element("h4", {}, name), element("dl", { class: "facts" }, ...defined(facts)),
    call.error ? element("p", { class: "error" }, isolated(call.error)) : null,
    call.reasoning === null ? null : folded("reasoning", "Reasoning", [texts[call.reasoning]]),
    folded("reply", "Reply", call.reply === null ? [] : [texts[call.reply]]),
    drawPrompt(call.prompt.map((text) => texts[text]), old));
}

/** Draw a prompt by messages. Mark its additions since the bidder's last prompt of this kind. */
function drawPrompt(messages, old) {
  const drawn = folded("prompt", "Prompt", messages);
  if (!messages.length) return drawn;
  const role = (at) => (at === 0 && messages.length > 1 ? "system" : (at + messages.length) % 2 ? "user" : "assistant");
  drawn.addEventListener("toggle", () => drawn.querySelectorAll("pre").forEach((one, at) => { // only now: to compare takes time
    one.replaceChildren(...(old ? compared(unfolded(old[at] ?? ""), unfolded(messages[at]), "del") : [unfolded(messages[at])]));
    one.before(element("h5", {}, role(at)));
  }), { once: true });
  const copy = button("Copy", () => copyText(messages.join("\n\n"), "Prompt copied."));
  drawn.firstChild.after(element("p", { class: "note" }, copy, old ? " Marked: new since the last prompt of this kind." : ""));
  return drawn;
}

/** Draw long texts under a heading that opens. An empty text says that it was not recorded. */
function folded(key, heading, texts) {
  if (!texts.length) return element("p", { class: "note" }, `${heading}: not recorded.`);
  const scrolls = { tabindex: "0", role: "region", "aria-label": heading }, ontoggle = ({ target }) => opened[target.open ? "add" : "delete"](key);
  return element("details", { open: opened.has(key), ontoggle }, element("summary", {}, heading), ...texts.map((text) => element("pre", scrolls, text)));
}
