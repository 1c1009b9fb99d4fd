// Answers without a new page.

import { fetchJson } from "./explorer.js";

for (const form of document.querySelectorAll("form.question")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const verdict = form.querySelector("[role=status]");
    const chosen = event.submitter;
    delete verdict.dataset.right;
    verdict.textContent = "The machine runs it …";
    for (const button of form.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button === chosen));
    try {
      const query = new URLSearchParams({ question: form.elements.question.value, answer: chosen.value });
      const answer = await fetchJson(`/api/quiz?${query}`);
      verdict.textContent = answer.text;
      verdict.dataset.right = String(answer.right);
    } catch (error) {
      verdict.textContent = error.message;
    }
  });
}
