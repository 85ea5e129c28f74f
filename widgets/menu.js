/**
 * A "⋯" button with a small menu. An item is `{ label, run }`; one with `confirm` says what will be and asks
 * first; one with `value` asks for a text and hands it to `run`. `id` is for finding the button in rows drawn
 * anew.
 */
function moreMenu(about, items, id = undefined) {
  const list = el("div", { class: "wb-menu", popover: "auto" });
  const button = el("button", { type: "button", class: "wb-icon wb-more", "aria-label": `More: ${about}`, title: "More",
    "aria-haspopup": "menu", "aria-expanded": "false", "data-id": id && `more-${id}` }, icon("more"));
  button.popoverTargetElement = list;

  const choose = (item) => {
    if (item.confirm) fill(confirmation(item));
    else if (item.value !== undefined) fill(naming(item));
    else { list.hidePopover(); item.run(); }
  };
  const entries = () => el("div", { role: "menu", "aria-label": about, onkeydown: arrows }, ...items.map((item) => el("button", {
    type: "button", role: "menuitem", class: item.danger ? "wb-danger" : undefined, onclick: () => choose(item),
  }, item.label)));
  const arrows = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const all = [...list.querySelectorAll("[role=menuitem]")];
    all[(all.indexOf(document.activeElement) + step + all.length) % all.length].focus();
  };
  const cancel = () => el("button", { type: "button", class: "wb-plain", onclick: () => list.hidePopover() }, "Cancel");
  const confirmation = (item) => el("div", { class: "wb-confirm", role: "alertdialog", "aria-label": item.label },
    el("p", {}, item.confirm), el("div", { class: "wb-choices" }, cancel(),
      el("button", { type: "button", class: "wb-primary wb-danger", onclick: () => { list.hidePopover(); item.run(); } }, item.yes)));
  const naming = (item) => {
    const input = el("input", { type: "text", maxLength: 200, value: item.value, "aria-label": item.label, autocomplete: "off" });
    return el("form", { class: "wb-confirm", onsubmit: (event) => {
      event.preventDefault();
      if (!input.value.trim()) return;
      list.hidePopover();
      item.run(input.value);
    } }, input, el("div", { class: "wb-choices" }, cancel(), el("button", { type: "submit", class: "wb-primary" }, item.yes)));
  };

  /** Beside its button and inside the window, whatever scrolls around it. */
  const place = () => {
    const at = button.getBoundingClientRect(), size = list.getBoundingClientRect();
    list.style.left = `${Math.max(8, Math.min(at.left, innerWidth - size.width - 8))}px`;
    list.style.top = `${at.bottom + 4 + size.height < innerHeight ? at.bottom + 4 : Math.max(8, at.top - size.height - 4)}px`;
    list.style.opacity = "1";
  };
  const fill = (content) => {
    list.replaceChildren(content);
    place();
    const first = content.querySelector("input, button");
    first?.focus();
    first?.select?.();
  };
  list.addEventListener("keydown", (event) => { if (event.key !== "Escape") event.stopPropagation(); });
  list.addEventListener("beforetoggle", (event) => {
    button.setAttribute("aria-expanded", String(event.newState === "open"));
    if (event.newState === "open") { list.style.opacity = "0"; list.replaceChildren(entries()); }
  });
  list.addEventListener("toggle", (event) => {
    if (event.newState !== "open") return;
    place();
    list.querySelector("button")?.focus();
  });
  return [button, list];
}

/**
 * How to draw rows that have menus: not while a menu in `box` is open, for it would go with its row, and the
 * click meant for its Cancel would land on what lies beneath. They are drawn when it closes. `same` is false
 * where the rows are other ones altogether and no menu of theirs may stay.
 */
function betweenMenus(box, draw, same = () => true) {
  let late = false;
  const drawOrWait = () => {
    late = same() && box.querySelector(".wb-menu:popover-open") !== null;
    if (!late) draw();
  };
  box.addEventListener("toggle", () => { if (late) setTimeout(drawOrWait); }, true);
  return drawOrWait;
}
