function drawHeader(model, root) {
  const nav = el("nav", { "aria-label": "Views" });
  const facts = el("div", { class: "wb-facts", role: "status" });
  const sidebar = el("button", {
    type: "button", class: "wb-icon wb-sidebar-toggle", "aria-label": "Show projects and papers", title: "Projects and papers",
    onclick: () => root.closest(".wb-app")?.classList.toggle("wb-sidebar-open"),
  }, icon("sidebar"));
  root.append(sidebar, el("strong", { class: "wb-name" }, "Research Workbench"), nav, facts);

  const drawViews = () => {
    const views = model.get("views");
    nav.hidden = views.length < 2;
    nav.replaceChildren(...views.map((view) => el("button", {
      type: "button", "aria-current": view === model.get("view") ? "page" : undefined,
      onclick: () => act(model, "choose", { view }),
    }, view)));
  };
  const drawFacts = () => {
    const error = model.get("error");
    facts.replaceChildren(...(error ? [error] : model.get("facts")).map((fact) => el("span", {}, fact)));
    facts.dataset.health = error ? "warning" : model.get("health");
    facts.title = error || model.get("notes").join("\n");
  };
  const stops = [watch(model, ["views", "view"], drawViews), watch(model, ["facts", "health", "notes", "error"], drawFacts)];
  const closeDrawer = (event) => {
    const app = root.closest(".wb-app");
    if (app?.classList.contains("wb-sidebar-open") && !event.target.closest(".wb-side, .wb-sidebar-toggle")) {
      app.classList.remove("wb-sidebar-open");
    }
  };
  document.addEventListener("pointerdown", closeDrawer);
  return () => { stops.forEach((stop) => stop()); document.removeEventListener("pointerdown", closeDrawer); };
}
export default panel("wb-header", drawHeader);
