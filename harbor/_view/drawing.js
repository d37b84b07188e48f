// Small drawing helpers: elements, tables, money, time. Texts are set as text, so their markup has no effect.
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null) made.setAttribute(name, value);
  made.append(...children.filter((child) => child !== null));
  return made;
}

const byId = (id) => document.getElementById(id);
const button = (text, onclick, more = {}) => element("button", { type: "button", onclick, ...more }, text);
const plain = (text, onclick, more = {}) => button(text, onclick, { class: "plain", ...more });
const eventLink = (seq, go = jump) => plain(`event ${thousands.format(seq)}`, () => go(seq));
const defined = (pairs) => pairs.flatMap(([term, ...told]) => [element("dt", {}, isolated(term)), element("dd", { dir: "auto" }, ...told)]);

const NUMBER = /^[-+−]?\$?[\d,.]+%?$/;

/** Draw a table. `mark(row, column)` returns the class of a cell. Columns of numbers are right-aligned. */
function table(caption, columns, rows, mark = () => "") {
  const told = (cell) => cell.textContent ?? cell;
  const isNumbers = columns.map((_, column) => rows.some((row) => row[column]) && rows.every((row) => !row[column] || NUMBER.test(told(row[column]))));
  const styled = (column, marked) => ({ class: [isNumbers[column] && "numbers", marked].filter(Boolean).join(" ") || null });
  const heads = columns.map((name, column) => element("th", { scope: "col", ...styled(column) }, isolated(name)));
  const cells = (row, at) => row.map((text, column) => element("td", { ...styled(column, mark(at, column)), "data-head": told(columns[column]) }, isolated(text)));
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    element("table", {}, element("thead", {}, element("tr", {}, ...heads)),
      element("tbody", {}, ...rows.map((row, at) => element("tr", {}, ...cells(row, at))))));
}

/** Isolate a right-to-left text, so that it does not reorder its neighbours. */
const isolated = (text) => element("bdi", {}, text);

function clock(seconds) {
  const minutes = Math.floor(seconds / 60);
  return `${minutes}:${(seconds - 60 * minutes).toFixed(1).padStart(4, "0")}`;
}

function dollarsOf(cost) {
  if (cost === null) return "price not known";
  return cost === 0 ? "$0" : `$${cost.toFixed(cost < 0.01 ? 6 : 4)}`;
}

const thousands = new Intl.NumberFormat("en-US");
const counted = (number, word) => `${thousands.format(number)} ${word}${number === 1 ? "" : "s"}`;

function seenBy(to) {
  if (to === "everyone") return "everyone";
  return to === "analyst" ? "the analyst" : seatsOf(to).join(" and ");
}

/** Download rows as CSV. Mark a text as text if a spreadsheet would read a formula in it. */
function saveTable(name, columns, rows) {
  const cell = (value) => (typeof value === "number" ? value : `"${String(value ?? "").replace(/^(?=[=+\-@\t\r])/, "'").replaceAll('"', '""')}"`);
  download(`${name}.csv`, "text/csv", [columns, ...rows].map((row) => `${row.map(cell).join(",")}\r\n`).join(""));
}

/** Download a file. */
function download(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
