//! A scheduler that is killed again and again loses no run and makes none twice.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;

use crate::processes::wait_for;
use crate::root::Root;
use crate::session::Session;

const KILLS: u32 = 100;

/// Jobs that are scheduled before each kill.
const JOBS_PER_KILL: u32 = 3;

#[test]
fn hundred_kills_lose_and_double_nothing() {
    let (root, target) = (Root::new(), Root::new());
    let config = root.beside("mcp.json");
    let serve = ["serve", "--suite", "sandbox", "--root", target.path().to_str().unwrap()]
        .map(str::to_owned);
    let server = json!({ "command": env!("CARGO_BIN_EXE_stickler"), "args": serve });
    std::fs::write(&config, json!({ "mcpServers": { "target": server } }).to_string()).unwrap();
    let options = ["--log", "off", "--config", config.to_str().unwrap()];
    let mut acknowledged = Vec::new();
    let mut interrupted = 0;
    for kill in 0..KILLS {
        let mut session = Session::direct("scheduler", &root.path(), &options);
        for number in 0..JOBS_PER_KILL {
            let name = format!("job-{kill}-{number}");
            let line = format!("{name}\n");
            let parameters = json!({ "action": "append", "path": "calls.txt", "content": line });
            session.succeeds(
                "schedule",
                json!({
                    "name": name, "schedule": "in 1ms", "tool": "target:filesystem_operation",
                    "parameters": parameters,
                }),
            );
            acknowledged.push(name);
        }
        // Different moments of the runs, which take place every quarter of a second.
        std::thread::sleep(Duration::from_millis(u64::from(kill * 37 % 260)));
        session.kill();
        interrupted += states(&root).values().filter(|states| is_unfinished(states)).count();
    }
    let mut session = Session::direct("scheduler", &root.path(), &options);
    wait_for("all runs to finish", || {
        let states = states(&root);
        states.len() == acknowledged.len() && !states.values().any(|states| is_unfinished(states))
    });
    let calls = calls(&target);
    let states = states(&root);
    for name in &acknowledged {
        let made = calls.get(name).copied().unwrap_or_default();
        let states = &states[name];
        assert_eq!(states.len(), 1, "{name} has more than one run: {states:?}");
        match states[0].as_str() {
            "succeeded" => assert_eq!(made, 1, "{name}"),
            // The call was in progress when the scheduler was killed.
            "unknown" => assert!(made <= 1, "{name} was called {made} times"),
            other => panic!("{name}: {other}"),
        }
    }
    assert_eq!(calls.keys().filter(|name| !states.contains_key(*name)).count(), 0);
    assert!(interrupted > 0, "no kill interrupted a run");
    // An unknown outcome is reported.
    let jobs = session.succeeds("list_jobs", json!({}));
    let unknown = states.values().filter(|states| states[0] == "unknown").count();
    let listed = jobs["structuredContent"]["jobs"].as_array().unwrap();
    let reported = listed.iter().filter(|job| job["last_runs"][0]["state"] == "unknown");
    assert_eq!(reported.count(), unknown);
    println!("{KILLS} kills, {interrupted} interrupted runs, {unknown} unknown outcomes");
}

fn is_unfinished(states: &[String]) -> bool {
    states.iter().any(|state| state == "claimed" || state == "calling")
}

/// The states of the runs of each job.
fn states(root: &Root) -> BTreeMap<String, Vec<String>> {
    let state = rusqlite::Connection::open(root.path().join(".stickler/state.db")).unwrap();
    state.busy_timeout(Duration::from_secs(10)).unwrap();
    let sql = "select name, state from job_runs join scheduled_jobs jobs on jobs.id = job";
    let mut statement = state.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let mut states: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in rows {
        let (name, state) = row.unwrap();
        states.entry(name).or_default().push(state);
    }
    states
}

/// How often each job was called.
fn calls(target: &Root) -> BTreeMap<String, usize> {
    let mut calls = BTreeMap::new();
    for line in target.read("calls.txt").lines() {
        *calls.entry(line.to_owned()).or_default() += 1;
    }
    calls
}
