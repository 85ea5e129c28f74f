function drawLibrary(model, root) {
  const count = el("small", { class: "wb-count" });
  let typing = 0;
  const search = el("input", { type: "search", placeholder: "Filter by title, author, year, file or project", "aria-label": "Filter the library", class: "wb-entry", autocomplete: "off",
    oninput: () => { clearTimeout(typing); typing = setTimeout(() => act(model, "look", { query: search.value }), 150); } });
  const show = el("select", { class: "wb-entry", "aria-label": "Which papers", onchange: () => act(model, "look", { show: show.value }) });
  const order = el("select", { class: "wb-entry", "aria-label": "Order", onchange: () => {
    const [sort, way] = order.value.split(" ");
    act(model, "look", { sort, descending: way === "down" });
  } });
  const orders = { "added down": "Newest first", "added up": "Oldest first", "title up": "Title", "authors up": "Author", "year down": "Year, newest", "year up": "Year, oldest",
    "pages down": "Longest first", "pages up": "Shortest first", "kind up": "Kind", "state up": "Problems first", "title down": "Title, Z to A", "authors down": "Author, Z to A", "kind down": "Kind, Z to A", "state down": "Ready first" };
  order.append(...Object.entries(orders).map(([value, label]) => el("option", { value }, label)));
  const into = el("span", { class: "wb-shelf-into" });
  const work = jobRow(model);
  const problem = errorLine(model);
  const told = toldLine(model);
  const removal = removalDialog(model);
  const table = libraryTable(model, removal);
  const chosen = selectionBar(model, removal);
  const pager = pageTurner(model, "papers");
  root.append(el("div", { class: "wb-shelf-head" }, el("h2", {}, "Library ", count), into),
    el("div", { class: "wb-shelf-tools" }, search, show, order), table.box,
    work.row, problem.line, told.line, chosen.bar, pager.bar, removal.box); // what comes and goes does not move the rows

  const drawShow = () => {
    const { problems = 0 } = model.get("page");
    const projects = model.get("projects");
    const option = ({ id, name }) => el("option", { value: String(id), title: name }, name.length > 40 ? `${name.slice(0, 39)}…` : name);
    show.replaceChildren(el("option", { value: "all" }, "All papers"), el("option", { value: "loose" }, "In no project"),
      el("option", { value: "problems" }, problems ? `Not ready (${problems})` : "Not ready"),
      ...(projects.length ? [el("optgroup", { label: "In project" }, ...projects.map(option))] : []));
    show.value = model.get("show");
  };
  const drawCount = () => {
    const { papers = 0 } = model.get("page");
    count.textContent = model.get("loaded") ? counted(papers, "paper").replace(/^\d+/, (n) => Number(n).toLocaleString("en")) : "";
  };
  const stops = [
    watch(model, ["projects", "page", "show"], drawShow),
    watch(model, ["page", "loaded"], drawCount),
    watch(model, ["query"], () => { if (document.activeElement !== search) search.value = model.get("query"); }),
    watch(model, ["sort", "descending"], () => { order.value = `${model.get("sort")} ${model.get("descending") ? "down" : "up"}`; }),
    watch(model, ["into"], () => { into.textContent = model.get("into") ? `New papers go into “${model.get("into")}”.` : "New papers go into the library, in no project."; }),
    work.stop, problem.stop, told.stop, table.stop, chosen.stop, pager.stop,
  ];
  return () => { clearTimeout(typing); stops.forEach((stop) => stop()); };
}
export default panel("wb-shelf", drawLibrary);
