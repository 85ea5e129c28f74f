const STAGES = [["read", "Read"], ["chunk", "Chunk"], ["embed", "Embed"], ["index", "Index"]];
const MEANING = ["read the file", "cut its text into passages", "embedded the passages", "stored and indexed it"];

function drawLedger(model, root) {
  const count = el("small", { class: "wb-count" });
  let typing = 0;
  const search = el("input", { type: "search", class: "wb-entry", placeholder: "Filter by title, file or error", "aria-label": "Filter the ledger", autocomplete: "off",
    oninput: () => { clearTimeout(typing); typing = setTimeout(() => act(model, "look", { query: search.value }), 150); } });
  const only = el("input", { type: "checkbox", onchange: () => act(model, "look", { only: only.checked ? "problems" : "all" }) });
  const onlyText = el("span");
  const all = el("button", { type: "button", class: "wb-plain wb-outlined", onclick: () => act(model, "resume_all") });
  const work = jobRow(model);
  const more = el("p", { class: "wb-ledger-waiting", role: "status" });
  const problem = errorLine(model);
  const told = toldLine(model);
  const health = libraryHealth(model);
  const body = el("tbody");
  const table = el("table", { "aria-label": "Stages of each paper" }, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Paper"),
    ...STAGES.map(([, label], n) => el("th", { scope: "col", class: "wb-col-stage", title: `How long it took to have ${MEANING[n]}` }, label)),
    el("th", { scope: "col", class: "wb-col-when" }, "Last"), el("th", { scope: "col", class: "wb-col-do" }, el("span", { class: "wb-visually-hidden" }, "What to do")))), body);
  const none = el("div", { class: "wb-shelf-none" });
  const pager = pageTurner(model, "entries");
  const scroll = el("div", { class: "wb-ledger-rows" }, health.box,
    el("div", { class: "wb-ledger-tools" }, el("h2", {}, "Papers ", count), search, el("label", {}, only, onlyText), all), table, none);
  root.append(work.row, more, problem.line, told.line, scroll, pager.bar);

  const resume = new Map();
  const drawRow = (row) => {
    const button = row.id && row.problem && el("button", { type: "button", class: "wb-plain wb-outlined", "data-at": `do-${row.id}`, "aria-label": `Resume ${row.title}`,
      title: "Process it again from its stored file", onclick: () => act(model, "resume", { ids: [row.id] }) }, "Resume");
    if (button) resume.set(row.id, button);
    const forget = !row.id && el("button", { type: "button", class: "wb-plain wb-outlined", "data-at": `do-${row.file}`, "aria-label": `Forget ${row.title}`,
      title: "Take it off this list. To try again, add the file again.", onclick: () => act(model, "forget_file", { name: row.file }) }, "Forget");
    return el("tr", {},
      el("td", {}, row.id ? el("button", { type: "button", class: "wb-shelf-title", "data-at": `open-${row.id}`, title: row.title, onclick: () => act(model, "read_paper", { id: row.id }) }, row.title)
        : el("span", { class: "wb-shelf-title", title: row.title }, row.title),
      el("div", { class: "wb-ledger-file", title: row.file }, row.id ? row.file === row.title ? "" : row.file : "not in the library · add it again once mended"),
      row.error ? el("div", { class: "wb-shelf-reason", title: row.error }, row.error)
        : row.state === "indexing" && el("div", { class: "wb-shelf-reason" }, "Found by words only: it has no vectors of the embedder in use yet."),
      row.error && row.id > 0 && row.state === "ready" && el("div", { class: "wb-ledger-file" }, "What it had before still answers.")),
      ...row.stages.map((stage, n) => el("td", { class: `wb-col-stage wb-${stage.state || "never"}`, title: stage.at ? `${STAGES[n][1]}: ${stage.state} ${timeText(stage.at)}` : `${STAGES[n][1]}: not done` },
        el("i", { "aria-hidden": "true" }), stage.state ? el("span", { class: "wb-took" }, stage.took || stage.state) : el("span", { class: "wb-visually-hidden" }, "not done"))),
      el("td", { class: "wb-col-when" }, row.at && timeText(row.at)), el("td", { class: "wb-col-do" }, button || forget));
  };
  const draw = () => {
    const { rows = [], papers = 0, problems = 0, resumable = 0 } = model.get("page");
    const at = body.contains(document.activeElement) && document.activeElement.dataset.at;
    resume.clear();
    body.replaceChildren(...rows.map(drawRow));
    table.hidden = rows.length === 0;
    none.hidden = rows.length > 0 || !model.get("loaded");
    if (!rows.length) none.replaceChildren(...nothing(papers));
    count.textContent = model.get("loaded") ? papers.toLocaleString("en") : "";
    onlyText.textContent = problems ? `Only problems (${problems.toLocaleString("en")})` : "Only problems (none)";
    all.hidden = resumable < 2;
    all.textContent = `Resume all ${resumable.toLocaleString("en")}`;
    if (at) [...body.querySelectorAll("[data-at]")].find((node) => node.dataset.at === at)?.focus();
    drawWork();
  };
  const nothing = (papers) => {
    if (model.get("only") === "problems" && !model.get("query")) return [el("h3", {}, "No problems"), el("p", {}, "Every paper has been read, cut, embedded and stored.")];
    if (papers || model.get("query")) return [el("p", {}, "Nothing here fits this filter.")];
    return [el("h3", {}, "Nothing has been added yet"), el("p", {}, "Add papers in the Library tab or at the left. What becomes of each is written down here, stage by stage.")];
  };
  const drawWork = () => {
    const job = model.get("job"), waiting = new Set(model.get("waiting"));
    for (const [id, button] of resume) {
      button.disabled = job.paper === id || waiting.has(id);
      button.textContent = job.paper === id ? "Working…" : waiting.has(id) ? "Waiting" : "Resume";
    }
    all.disabled = waiting.size > 0;
    more.hidden = waiting.size === 0;
    more.textContent = `${counted(waiting.size, "more paper")} ${waiting.size === 1 ? "waits" : "wait"} for their turn.`;
  };
  const stops = [
    watch(model, ["page", "loaded"], draw), watch(model, ["job", "waiting"], drawWork),
    watch(model, ["query"], () => { if (document.activeElement !== search) search.value = model.get("query"); }),
    watch(model, ["only"], () => { only.checked = model.get("only") === "problems"; }),
    work.stop, problem.stop, told.stop, health.stop, pager.stop,
  ];
  return () => { clearTimeout(typing); stops.forEach((stop) => stop()); };
}
export default panel("wb-ledger", drawLedger);
