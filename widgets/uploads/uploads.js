const KINDS = ".pdf,.docx,.epub,.html,.htm,.md,.txt,.csv,.json,.log,.ipynb,.xml,.bib,.ris";
const WAIT = 60_000; // ms for the kernel to answer one slice
const TURNING = /[\u0000-\u001f\u202a-\u202e\u2066-\u2069]/g; // a name may hold them to look like another

function drawUploads(model, root) {
  const input = el("input", { type: "file", multiple: true, accept: KINDS, class: "wb-visually-hidden", tabIndex: -1,
    "aria-hidden": "true", onchange: () => { send([...input.files]); input.value = ""; } });
  const choose = el("button", { type: "button", class: "wb-drop", onclick: () => input.click() },
    icon("upload"), el("span", {}, "Drop papers or ", el("u", {}, "choose files")));
  const progress = uploadProgress(() => { cancelled = true; });
  const problem = errorLine(model);
  const lost = el("div", { class: "wb-error", role: "alert", hidden: true }, el("span"),
    el("button", { type: "button", "aria-label": "Dismiss", onclick: () => { lost.hidden = true; } }, icon("close")));
  root.append(choose, input, progress.box, problem.line, lost);

  /** What the kernel cannot tell, because nothing of it reached the kernel. */
  const tellLost = (text) => { lost.firstElementChild.textContent = text; lost.hidden = false; };
  let cancelled = false;
  let busy = false;
  const queue = []; // what is dropped while files are on their way

  async function send(files) {
    if (!files.length) return;
    if (busy) { queue.push(...files); return; }
    act(model, "dismiss_error");
    busy = true; cancelled = false; choose.disabled = true; lost.hidden = true;
    const total = Math.max(1, files.reduce((sum, file) => sum + file.size, 0));
    let before = 0;
    try {
      for (const [index, file] of files.entries()) {
        if (cancelled) break;
        progress.begin(files.length > 1 ? `Uploading ${index + 1} of ${files.length}: ${shownName(file)}` : `Uploading ${shownName(file)}`);
        const sent = await sendFile(model, file, { shown: (bytes) => progress.show((before + bytes) / total), isCancelled: () => cancelled });
        if (sent === "unreadable") tellLost(`${shownName(file)} cannot be read by the browser: it was moved or changed meanwhile. Add it again.`);
        if (sent === "swallowed") {
          tellLost(`${shownName(file)} did not arrive: the connection to the kernel let a piece of it fall, as it does with messages above its limit (about 10 MB). Add the file by its path instead.`);
          break;
        }
        before += file.size;
      }
    } finally {
      act(model, "finish");
      busy = false; choose.disabled = false;
      progress.end();
    }
    if (cancelled) queue.length = 0;
    send(queue.splice(0));
  }

  const stopDrops = takeDrops(root, async (transfer) => {
    const files = await droppedFiles(transfer);
    if (!files.length) tellLost("There is no file in that folder.");
    send(files);
  });
  return () => { stopDrops(); problem.stop(); };
}

const shownName = (file) => file.name.replace(TURNING, "").slice(0, 120);

/** The file on its way: its name, a bar, and a way to stop. */
function uploadProgress(cancel) {
  const label = el("span", { class: "wb-sending-name" });
  const bar = el("i");
  const track = el("div", { class: "wb-bar", role: "progressbar", "aria-label": "Upload", "aria-valuemin": "0", "aria-valuemax": "100" }, bar);
  const stop = el("button", { type: "button", class: "wb-icon", "aria-label": "Cancel upload", title: "Cancel upload", onclick: cancel }, icon("close"));
  const box = el("div", { class: "wb-sending", hidden: true }, el("div", {}, label, stop), track);
  const show = (share) => {
    const percent = Math.round(100 * share);
    bar.style.width = `${percent}%`;
    track.setAttribute("aria-valuenow", String(percent));
  };
  return { box, show, begin: (text) => { label.textContent = text; box.hidden = false; }, end: () => { box.hidden = true; show(0); } };
}

/** The kernel's answer for this file: its bytes so far, -1 when it was refused, undefined when none came. */
function answer(model, key, bytes) {
  return new Promise((resolve) => {
    const finish = (value) => { clearTimeout(timer); model.off("change:accepted", look); resolve(value); };
    const look = () => {
      const { key: of, bytes: got } = model.get("accepted");
      if (of === key && (got === bytes || got < 0)) finish(got);
    };
    const timer = setTimeout(() => finish(undefined), WAIT);
    model.on("change:accepted", look);
  });
}

/**
 * Sends one file in slices, each when the one before has been taken. "sent"; "ended" where it was cancelled or refused,
 * which the kernel tells; "unreadable" by the browser; "swallowed" where no answer came.
 */
async function sendFile(model, file, { shown, isCancelled }) {
  const key = `${Date.now()}-${Math.random()}`;
  const begun = answer(model, key, 0);
  act(model, "begin", { key, name: file.name, size: file.size });
  const ready = await begun;
  if (ready === undefined) return "swallowed";
  if (ready < 0) return "ended";
  const end = (how) => { act(model, "cancel", { key }); return how; };
  let offset = 0;
  do {
    shown(offset);
    if (isCancelled()) return end("ended");
    const data = await file.slice(offset, offset + model.get("slice_bytes")).arrayBuffer().catch(() => undefined);
    if (!data) return end("unreadable");
    const taken = answer(model, key, offset + data.byteLength);
    act(model, "receive", { key, offset }, data);
    const got = await taken;
    if (got === undefined) return end("swallowed");
    if (got < 0) return "ended";
    offset += data.byteLength;
  } while (offset < file.size);
  shown(offset);
  return "sent";
}

/** Every file under what was dropped, those of folders too, without hidden ones. */
async function droppedFiles(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.some((entry) => entry.isDirectory)) return [...transfer.files];
  const found = [];
  const walk = async (entry) => {
    if (entry.name.startsWith(".")) return;
    if (entry.isFile) { await new Promise((done) => entry.file((file) => { found.push(file); done(); }, done)); return; }
    const reader = entry.createReader();
    for (;;) { // a reader gives about a hundred entries at a time
      const some = await new Promise((done) => reader.readEntries(done, () => done([])));
      if (!some.length) return;
      for (const inner of some) await walk(inner);
    }
  };
  for (const entry of entries) await walk(entry);
  return found;
}

/** Hands over what is dropped on the leaf, until the view goes; the whole tab takes files where there is one. A file that
 * misses it must not replace the page. */
function takeDrops(root, take) {
  const zone = () => root.closest(".wb-shelf-tab") ?? root;
  const carriesFiles = (event) => event.dataTransfer?.types.includes("Files");
  const dragged = (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    const over = zone().contains(event.target);
    root.classList.toggle("wb-over", over && event.type === "dragover");
    if (!over && !event.target.closest?.(".wb-uploads, .wb-shelf-tab")) event.dataTransfer.dropEffect = "none";
  };
  const left = (event) => { if (!event.relatedTarget) root.classList.remove("wb-over"); };
  const dropped = (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    root.classList.remove("wb-over");
    if (zone().contains(event.target)) take(event.dataTransfer);
  };
  document.addEventListener("dragover", dragged);
  document.addEventListener("dragleave", left);
  document.addEventListener("drop", dropped);
  return () => {
    document.removeEventListener("dragover", dragged);
    document.removeEventListener("dragleave", left);
    document.removeEventListener("drop", dropped);
  };
}
export default panel("wb-uploads", drawUploads);
