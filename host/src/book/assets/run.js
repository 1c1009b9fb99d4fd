// The panel that runs a lab: starts it, shows how far it is, cancels it, and puts what it found into the page.

const form = document.getElementById("run-form");
const start = document.getElementById("start");
const cancel = document.getElementById("cancel");
const progress = document.getElementById("progress");
const bar = document.getElementById("bar");
const status = document.getElementById("status");

const LOOK_MS = 300;

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (event.submitter === cancel) return stop();
  begin();
});

// A plain choice of another device shows what is recorded for it.
document.getElementById("run-device").addEventListener("change", () => show());

if (form.dataset.run) follow(form.dataset.run);

async function ask(method, path, body) {
  const response = await fetch(path, { method, body });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

async function begin() {
  try {
    const run = await ask("POST", `/api/labs/${form.dataset.lab}/run`, new URLSearchParams(new FormData(form)));
    form.dataset.run = run.id;
    await follow(run.id);
  } catch (error) {
    say(error.message);
  }
}

async function stop() {
  try {
    await ask("DELETE", `/api/runs/${form.dataset.run}`);
  } catch (error) {
    say(error.message);
  }
}

async function follow(id) {
  start.disabled = true;
  cancel.hidden = false;
  progress.hidden = false;
  try {
    for (;;) {
      const run = await ask("GET", `/api/runs/${id}`);
      tell(run);
      if (!["waiting", "running"].includes(run.state)) {
        if (run.state === "done") await show();
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  } catch (error) {
    say(error.message);
  }
  start.disabled = false;
  cancel.hidden = true;
}

function tell(run) {
  const seconds = `${run.seconds.toFixed(1)} s`;
  if (run.state === "running") {
    // Without an earlier run there is nothing to compare with: the bar then only says that it goes on.
    if (run.expected_seconds) bar.value = Math.min(97, (100 * run.seconds) / run.expected_seconds);
    else bar.removeAttribute("value");
    say(`Running on ${run.device}, ${seconds}${run.step ? `: ${run.step}` : ""}`);
  } else if (run.state === "waiting") {
    bar.removeAttribute("value");
    say("Waiting for another run to end.");
  } else {
    bar.value = run.state === "done" ? 100 : 0;
    say({ done: `Done in ${seconds}.`, cancelled: "Cancelled.", failed: run.why }[run.state]);
  }
}

function say(text) {
  progress.hidden = false;
  status.textContent = text;
}

// The results part of the page as the server writes it for the chosen device.
async function show() {
  const device = new URLSearchParams({ device: form.elements.device.value });
  const response = await fetch(`${location.pathname}?${device}`);
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  document.getElementById("results").replaceWith(page.getElementById("results"));
  history.replaceState(null, "", `?${device}`);
}
