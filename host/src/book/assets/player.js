// A place in time that buttons, keys and a slider move: for the stepper, the schedulers and the film.

const byId = (id) => document.getElementById(id);

// `show(at)` draws; `before(at)` and `after(at)` say where a step leads; `speed()` is places a second while it plays.
export function player({ show, before = (at) => at - 1, after = (at) => at + 1, speed = () => 12, extra = {} }) {
  const slider = byId("at");
  const play = byId("play");
  let at = 0;
  let last = 0;
  let playing = false;
  let then = 0;
  let exact = 0;

  function go(to) {
    at = Math.min(last, Math.max(0, Math.round(to)));
    slider.value = at;
    show(at);
  }

  function tick(now) {
    if (!playing) return;
    exact += ((now - then) / 1000) * speed();
    then = now;
    if (Math.round(exact) !== at) go(exact);
    if (at >= last) return pause();
    requestAnimationFrame(tick);
  }

  function pause() {
    playing = false;
    if (play) play.textContent = "Play";
  }

  function toggle() {
    if (playing) return pause();
    if (at >= last) go(0);
    [playing, exact, then] = [true, at, performance.now()];
    play.textContent = "Pause";
    requestAnimationFrame(tick);
  }

  const moves = {
    first: () => go(0), last: () => go(last), back: () => go(before(at)), forward: () => go(after(at)),
    ...Object.fromEntries(Object.entries(extra).map(([id, where]) => [id, () => go(where(at))])),
  };
  for (const [id, move] of Object.entries(moves)) {
    byId(id)?.addEventListener("click", () => { pause(); move(); });
  }
  play?.addEventListener("click", toggle);
  slider.addEventListener("input", () => { pause(); go(Number(slider.value)); });

  const keys = { ArrowRight: "forward", ArrowLeft: "back", Home: "first", End: "last", ArrowDown: Object.keys(extra)[0] };
  document.addEventListener("keydown", (event) => {
    // Keys belong to a field, a list or a map while one is in it.
    if (event.target.closest("input, select, textarea, .map") || event.ctrlKey || event.metaKey || event.altKey) return;
    const move = moves[keys[event.key]];
    if (event.key === " " && play && !event.target.closest("button")) toggle();
    else if (move) { pause(); move(); }
    else return;
    event.preventDefault();
  });

  return {
    go,
    // Another recording: its length, and where to stand in it.
    load(length, start = 0) {
      pause();
      last = length;
      slider.max = length;
      go(start);
    },
    get at() { return at; },
  };
}

// The lanes of a warp as 32 boxes: active, guarded off, waiting elsewhere, gone.
export function lanes(id, { active, on = active, waiting = [], live = 0xffffffff }, html, followed) {
  const bit = (mask, lane) => ((mask >>> lane) & 1) === 1;
  document.getElementById(id).replaceChildren(...Array.from({ length: 32 }, (_, lane) => {
    const state = bit(on, lane) ? "on" : bit(active, lane) ? "off" : waiting.some((mask) => bit(mask, lane)) ? "waits" : bit(live, lane) ? "idle" : "gone";
    const words = { on: "executes", off: "active, its guard is false", waits: "waits or goes on elsewhere", idle: "elsewhere", gone: "has ended or never was" };
    return html("span", { class: lane === followed ? `lane ${state} followed` : `lane ${state}`, title: `lane ${lane}: ${words[state]}` }, String(lane));
  }));
}
