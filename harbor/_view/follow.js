// Feeds the page from a running run, with the same head and chunks as they come.
const stands = element("span", { id: "stands", role: "status" }, "live");
byId("what").after(" · ", stands);
const stream = new EventSource("events");
stream.addEventListener("head", (event) => {
  const head = JSON.parse(event.data);
  harborView.head(head);
  byId("title").textContent = head.title;
  document.title = `${head.title} – Harbor`;
  if (!page.isBegun) begin(Infinity); // follow the latest event until the reader goes elsewhere
});
stream.addEventListener("add", (event) => {
  harborView.add(JSON.parse(event.data));
  if (event.lastEventId >= 0) stands.textContent = `live · event ${thousands.format(event.lastEventId)}`;
});
for (const [kind, words] of [["over", "The run is over."], ["failed", "The run can't be followed any more"]])
  stream.addEventListener(kind, (event) => {
    stream.close();
    stands.textContent = kind === "over" ? "over" : "not followed any more";
    tell(kind === "failed" ? `${words}: ${JSON.parse(event.data)}` : words);
  });
stream.addEventListener("error", () => tell("Nothing comes from the program any more; it is tried again."));
