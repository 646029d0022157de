// Requests to the server of the page.

async function answer(response) {
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(body.error || `The request failed with status ${response.status}.`);
  return body;
}

export async function get(path, parameters = {}, signal) {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const query = new URLSearchParams(given);
  return answer(await fetch(`/api/${path}?${query}`, { signal }));
}

export async function post(path, body, signal) {
  const headers = { "content-type": "application/json" };
  return answer(await fetch(`/api/${path}`, { method: "POST", headers, body: JSON.stringify(body), signal }));
}

/** Calls `onChange` with the sessions that changed (null for all), `onState` with "live" or "lost". */
export function follow(onChange, onState) {
  const events = new EventSource("/api/events");
  events.addEventListener("open", () => onState("live"));
  events.addEventListener("error", () => onState("lost"));
  events.addEventListener("change", (event) => {
    const { sessions } = JSON.parse(event.data);
    onChange(sessions === null ? null : new Set(sessions));
  });
}

/** Runs an asynchronous task at most once at a time; requests during a run cause one more run. */
export function coalesced(task, pause = 0) {
  let isRunning = false;
  let isWanted = false;
  return async function run() {
    if (isRunning) {
      isWanted = true;
      return;
    }
    isRunning = true;
    do {
      isWanted = false;
      try {
        await task();
      } catch (error) {
        if (error.name !== "AbortError") console.error(error);
      }
      if (isWanted && pause) await new Promise((done) => setTimeout(done, pause));
    } while (isWanted);
    isRunning = false;
  };
}
