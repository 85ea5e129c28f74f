const CHIPS = { ready: ["ready", ""], indexing: ["indexing…", "wb-busy"], ocr: ["needs OCR", "wb-bad"], failed: ["failed", "wb-bad"] };
const COLUMNS = [["title", "Title"], ["year", "Year"], ["pages", "Pages"], ["kind", "Kind"], ["", "Projects"], ["state", "State"]];

/** The rows of one page: a table whose size does not depend on the library's. */
function libraryTable(model, { ask }) {
  const all = el("input", { type: "checkbox", "aria-label": "Choose every paper of this page",
    onchange: () => act(model, "choose", { ids: model.get("page").rows.filter((row) => row.id).map((row) => row.id), on: all.checked }) });
  const heads = COLUMNS.map(([sort, label]) => el("th", { scope: "col", class: `wb-col-${sort || "projects"}` }, sort ? el("button", {
    type: "button", "data-sort": sort, onclick: () => act(model, "look", { sort, descending: sort === model.get("sort") ? !model.get("descending") : ["year", "pages"].includes(sort) }),
  }, label) : label));
  const body = el("tbody");
  const table = el("table", { "aria-label": "Papers of the library" },
    el("thead", {}, el("tr", {}, el("th", { class: "wb-col-tick", scope: "col" }, all), ...heads, el("th", { class: "wb-col-more", scope: "col" }, el("span", { class: "wb-visually-hidden" }, "More")))), body);
  const none = el("div", { class: "wb-shelf-none" });
  const box = el("div", { class: "wb-shelf-rows" }, table, none);
  const parts = new Map(); // of drawn rows, by paper, for what changes without the row

  const menu = (row) => moreMenu(row.title, row.id ? [
    { label: "Open in the page viewer", run: () => act(model, "read_paper", { id: row.id }) },
    model.get("chats") && { label: "Chat about this paper", run: () => act(model, "chat_about", { id: row.id }) },
    { label: "Process again", run: () => act(model, "reprocess", { ids: [row.id] }) },
    ...row.projects.slice(0, 6).map(({ id, name }) => ({ label: `Take out of “${name}”`, run: () => act(model, "take_out", { id: row.id, project: id }) })),
    row.own && { label: "Remove from the library…", danger: true, run: () => ask({ ids: [row.id], title: row.title, pages: row.pages, projects: row.projects.map(({ name }) => `“${name}”`), notes: Number(row.kind === "note") }) },
  ].filter(Boolean) : [{ label: "Forget this file", run: () => act(model, "forget_file", { name: row.file }) }]);

  const draw = () => {
    const { rows = [], papers = 0 } = model.get("page");
    const at = body.contains(document.activeElement) && document.activeElement.dataset.at;
    parts.clear();
    body.replaceChildren(...rows.map((row) => drawRow(row)));
    table.hidden = rows.length === 0;
    none.hidden = rows.length > 0 || !model.get("loaded");
    if (!rows.length) none.replaceChildren(...nothing(papers));
    if (at) body.querySelector(`[data-at="${at}"]`)?.focus();
    drawTicks();
    drawWork();
  };
  const nothing = (papers) => (papers
    ? [el("p", {}, "No paper fits this filter."), el("button", { type: "button", class: "wb-link", onclick: () => act(model, "look", { query: "", show: "all" }) }, "Show all papers")]
    : [el("h3", {}, "Your library is empty"), el("p", {}, "Drop papers above, choose files, or name a folder by its path. PDF, Word, web pages, Markdown, text, tables and notebooks can be read.")]);

  const drawRow = (row) => {
    const tick = row.id > 0 && el("input", { type: "checkbox", "data-at": `tick-${row.id}`, "aria-label": `Choose ${row.title}`,
      onchange: (event) => act(model, "choose", { ids: [row.id], on: event.target.checked }) });
    const chip = el("span");
    const bar = el("i");
    const track = el("div", { class: "wb-bar", hidden: true }, bar);
    const [more, list] = menu(row);
    more.dataset.at = `more-${row.id || row.file}`;
    if (row.id) parts.set(row.id, { row, tick, chip, bar, track });
    showChip(chip, row);
    return el("tr", { class: row.id ? undefined : "wb-no-paper" },
      el("td", { class: "wb-col-tick" }, tick),
      el("td", { class: "wb-col-title" }, row.id ? el("button", { type: "button", class: "wb-shelf-title", "data-at": `open-${row.id}`, title: row.title,
        onclick: () => act(model, "read_paper", { id: row.id }) }, row.title) : el("span", { class: "wb-shelf-title", title: row.title }, row.title),
      el("div", { class: "wb-shelf-facts" }, el("span", { title: row.authors || undefined }, row.authors || (!row.id ? "not in the library" : row.file === row.title ? "" : row.file)),
        el("span", { class: "wb-narrow" }, dotted(row.year, row.pages, ...row.projects.map(({ name }) => name)))),
      row.reason && el("div", { class: "wb-shelf-reason", title: row.reason }, row.reason)),
      el("td", { class: "wb-col-year" }, row.year), el("td", { class: "wb-col-pages" }, row.pages), el("td", { class: "wb-col-kind" }, row.kind),
      el("td", { class: "wb-col-projects" }, ...row.projects.slice(0, 2).map(({ name }) => el("span", { class: "wb-chip", title: name }, name)),
        row.projects.length > 2 && el("small", { title: row.projects.map(({ name }) => name).join(", ") }, `+${row.projects.length - 2}`),
        row.id > 0 && !row.own && el("small", {}, "shared by others"), row.own && row.shared && el("small", {}, "shared")),
      el("td", { class: "wb-col-state" }, chip, track),
      el("td", { class: "wb-col-more" }, more, list));
  };
  const showChip = (chip, row, text, style) => {
    const [usual, look] = CHIPS[row.state] ?? [row.state, ""];
    chip.textContent = text || usual;
    chip.className = `wb-chip ${text ? style : look}`;
    chip.title = text ? "" : row.reason || { indexing: "Found by words only until an embedder has read it" }[row.state] || "";
  };
  const drawTicks = () => {
    const chosen = new Set(model.get("chosen"));
    let on = 0;
    for (const [id, { tick }] of parts) { tick.checked = chosen.has(id); on += tick.checked; }
    all.checked = on > 0 && on === parts.size;
    all.indeterminate = on > 0 && on < parts.size;
    all.disabled = parts.size === 0;
  };
  /** Progress goes into the chip of the paper at work; the row itself stays. */
  const drawWork = () => {
    const job = model.get("job"), waiting = new Set(model.get("waiting"));
    for (const [id, { row, chip, bar, track }] of parts) {
      const now = job.paper === id;
      showChip(chip, row, now ? `indexing… ${job.stopping ? "stopping" : job.doing}` : waiting.has(id) ? "waiting" : "", now ? "wb-busy" : "");
      track.hidden = !now;
      if (now) bar.style.width = `${job.percent}%`;
    }
  };
  const drawSort = () => {
    for (const head of heads) {
      const sort = head.firstElementChild?.dataset?.sort;
      const on = sort && sort === model.get("sort");
      head.setAttribute("aria-sort", on ? (model.get("descending") ? "descending" : "ascending") : "none");
      if (!sort) head.removeAttribute("aria-sort");
    }
  };
  box.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !["tick", "open", "more"].includes(event.target.dataset?.at?.split("-")[0])) return;
    const kind = event.target.dataset.at.split("-")[0];
    const column = [...body.querySelectorAll(`[data-at^="${kind}-"]`)];
    const next = column[column.indexOf(event.target) + step];
    if (next) { event.preventDefault(); next.focus(); }
  });
  let drawn = 0;
  const stops = [watch(model, ["page", "loaded"], betweenMenus(body, () => { const { start } = model.get("page"); if (start !== drawn) box.scrollTop = 0; drawn = start; draw(); })),
    watch(model, ["chosen"], drawTicks), watch(model, ["job", "waiting"], drawWork), watch(model, ["sort", "descending"], drawSort)];
  return { box, stop: () => stops.forEach((stop) => stop()) };
}
