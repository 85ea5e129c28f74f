function drawConversations(model, root) {
  const closeDrawer = () => root.closest(".wb-app")?.classList.remove("wb-sidebar-open"); // on a narrow screen it covers the chat
  let exporting = 0;
  const exports = exporter(model, () => exporting);
  const begin = el("button", { type: "button", class: "wb-link", "aria-label": "New conversation", onclick: () => { act(model, "new"); closeDrawer(); } }, "+ New");
  const search = el("input", { type: "search", class: "wb-find", maxLength: 200, placeholder: "Find in conversations", "aria-label": "Find in conversations", autocomplete: "off", value: model.get("query") });
  const list = el("ul", { class: "wb-talks", "aria-label": "Conversations" });
  const told = statusLine(model);
  const problem = errorLine(model);
  root.append(el("h2", { class: "wb-heading" }, "Conversations", begin), search, problem.line, told.line, list);

  let waiting = 0;
  const find = () => { clearTimeout(waiting); waiting = setTimeout(() => act(model, "search", { words: search.value }), 180); };
  search.addEventListener("input", find);
  search.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Escape" && search.value) { event.preventDefault(); search.value = ""; find(); }
    if (event.key === "ArrowDown") { event.preventDefault(); list.querySelector("button")?.focus(); }
  });

  const lost = (talk) => `${counted(talk.messages, "message")}${talk.messages ? ", with every citation in them, are lost" : ""}`.replace("1 message, with every citation in them, are", "1 message is");
  const menu = (talk) => moreMenu(talk.title, [
    talk.kind === "thread" && { label: "Rename…", value: talk.title, yes: "Rename", run: (text) => act(model, "rename", { id: talk.id, title: text }) },
    ...exports.items.map((item) => ({ ...item, run: () => { exporting = talk.id; item.run(); } })),
    talk.messages > 0 && { label: "Clear…", danger: true, yes: "Clear", run: () => act(model, "clear", { id: talk.id }),
      confirm: `This empties “${talk.title}”: its ${lost(talk)}. The conversation and your papers stay.` },
    talk.kind !== "project" && { label: "Delete…", danger: true, yes: "Delete", run: () => act(model, "delete", { id: talk.id }),
      confirm: `This deletes “${talk.title}”${talk.messages ? `: its ${lost(talk)}` : ""}. Your papers stay.` },
  ].filter(Boolean));
  const facts = (talk) => [el("span", {}, { thread: talk.scope, project: "Project chat", paper: "Paper chat" }[talk.kind]),
    ` · ${talk.id === model.get("answering") ? "answering…" : timeText(talk.used, true)}`];
  const row = (talk) => el("li", {}, el("button", {
    type: "button", class: "wb-talk", "data-id": String(talk.id), title: talk.title,
    "aria-current": talk.id === model.get("shown") ? "true" : undefined,
    onclick: () => { act(model, "show", { id: talk.id }); closeDrawer(); },
  }, el("span", {}, el("bdi", {}, talk.title)), el("small", {}, facts(talk))), ...menu(talk));

  /** Which control of which row has the focus: that row may move, or be deleted. */
  const focusedRow = () => {
    const item = list.contains(document.activeElement) && document.activeElement.closest("li");
    return item && { id: item.querySelector("[data-id]")?.dataset.id, index: [...list.children].indexOf(item), more: document.activeElement.matches(".wb-more") };
  };
  const focusRow = ({ id, index, more }) => {
    const rows = [...list.querySelectorAll(".wb-talk")];
    const same = rows.find((talk) => talk.dataset.id === id);
    const next = same ?? rows[Math.min(index, rows.length - 1)];
    ((more && same?.parentElement.querySelector(".wb-more")) || next || begin).focus();
  };
  /** While a person types here, the field must not move with the number of rows found. */
  const hold = () => { root.style.height = search.value || document.activeElement === search ? `${root.offsetHeight}px` : ""; };
  search.addEventListener("focus", hold);
  search.addEventListener("blur", hold);

  const draw = () => {
    const talks = model.get("conversations"), words = model.get("query").trim(), more = model.get("more");
    const focused = focusedRow();
    const at = list.scrollTop;
    search.hidden = !talks.length && !words;
    list.replaceChildren(...talks.map(row));
    if (more > 0) list.append(el("li", {}, el("button", { type: "button", class: "wb-link wb-show-more", onclick: () => act(model, "show_more") }, `Show more (${more})`)));
    if (!talks.length && model.get("loaded")) list.append(el("li", { class: "wb-none" }, words ? "No conversation holds these words." : "Ask a question, and it is kept here."));
    list.scrollTop = at;
    if (focused) focusRow(focused);
  };
  const stops = [watch(model, ["conversations", "more", "shown", "answering", "loaded", "query"], betweenMenus(list, draw)),
    told.stop, problem.stop, exports.stop];
  return () => { stops.forEach((stop) => stop()); clearTimeout(waiting); };
}
export default panel("wb-conversations", drawConversations);
