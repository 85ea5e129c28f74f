const LOOKS_EVERY = 2000; // milliseconds
const BEATS_EVERY = 5000;
const SILENT_AFTER = 20000; // a program that is busy may be late

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
    const error = model.get("error"), notes = model.get("notes");
    const all = model.get("facts");
    const wide = [model.get("explained") && [model.get("explained")], null, notes.length > 0 && notes];
    const drawn = error ? [el("span", {}, error)] : all.map((fact, index) => el("span", {}, ...(wide[index] ? explanation(fact, wide[index]) : [fact])));
    facts.replaceChildren(...drawn);
    facts.dataset.health = error ? "warning" : model.get("health");
    facts.title = error;
  };
  /** A fact to press; what it means opens below it. */
  const explanation = (fact, lines) => {
    const text = el("div", { class: "wb-explained", popover: "auto", role: "note" }, ...lines.map((line) => el("p", {}, line)));
    const button = el("button", { type: "button", class: "wb-fact" }, fact);
    button.popoverTargetElement = text;
    text.addEventListener("toggle", () => {
      const at = button.getBoundingClientRect();
      text.style.top = `${at.bottom + 6}px`;
      text.style.left = `${Math.max(8, Math.min(at.left, innerWidth - text.offsetWidth - 8))}px`;
      text.style.opacity = "1";
    });
    return [button, text];
  };
  const stops = [watch(model, ["views", "view"], drawViews), watch(model, ["facts", "health", "notes", "explained", "error"], drawFacts)];
  const closeDrawer = (event) => {
    const app = root.closest(".wb-app");
    if (app?.classList.contains("wb-sidebar-open") && !event.target.closest(".wb-side, .wb-sidebar-toggle")) {
      app.classList.remove("wb-sidebar-open");
    }
  };
  document.addEventListener("pointerdown", closeDrawer);
  let looked = Date.now();
  /** Who comes back to the page sees what others did meanwhile. Going to and fro reads the library now and then only. */
  const look = () => {
    if (document.visibilityState !== "visible" || Date.now() - looked < LOOKS_EVERY) return;
    looked = Date.now();
    act(model, "look");
  };
  const silent = el("div", { class: "wb-silent", role: "alert", hidden: true },
    "The dashboard does not answer: its program is busy or has ended. If it has ended, start it again and open the address that it prints; in a notebook, run its cell again.");
  root.append(silent);
  let asked = 0; // since when the program owes an answer
  /** A page whose program has ended looks as alive as before, and would swallow what is typed. */
  const beat = () => {
    if (document.visibilityState !== "visible") { asked = 0; return; }
    asked ||= Date.now();
    silent.hidden = Date.now() - asked < SILENT_AFTER;
    act(model, "beat");
  };
  const answered = () => { asked = 0; silent.hidden = true; };
  model.on("change:beats", answered);
  const beating = setInterval(beat, BEATS_EVERY);
  document.addEventListener("visibilitychange", look);
  window.addEventListener("focus", look);
  return () => {
    stops.forEach((stop) => stop());
    clearInterval(beating);
    model.off("change:beats", answered);
    document.removeEventListener("visibilitychange", look);
    window.removeEventListener("focus", look);
    document.removeEventListener("pointerdown", closeDrawer);
  };
}
export default panel("wb-header", drawHeader);
