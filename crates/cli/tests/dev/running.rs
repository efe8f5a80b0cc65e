//! `ff dev`, running, and what it tells.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use serde_json::Value;

use crate::ff;
use crate::support::Process;
use crate::support::http::{self, PATIENCE};

/// A process, and what it has said by now.
pub(crate) struct Running {
    process: Process,
    told: Arc<(Mutex<String>, Condvar)>,
}

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let told = Arc::new((Mutex::new(String::new()), Condvar::new()));
        listen(process.stdout.take().unwrap(), &told);
        listen(process.stderr.take().unwrap(), &told);
        Self {
            process: Process(process),
            told,
        }
    }

    /// Everything it has said.
    pub(crate) fn told(&self) -> String {
        self.told.0.lock().unwrap().clone()
    }

    /// Waits until it has said this, and gives the rest of that line.
    pub(crate) fn until(&self, text: &str) -> String {
        let begun = Instant::now();
        let mut told = self.told.0.lock().unwrap();
        loop {
            let found = told.split_once(text).filter(|(_, rest)| rest.contains('\n'));
            if let Some((_, rest)) = found {
                return rest.lines().next().unwrap_or_default().to_owned();
            }
            let left = PATIENCE.saturating_sub(begun.elapsed());
            assert!(!left.is_zero(), "{text:?} was not said:\n{told}");
            told = self.told.1.wait_timeout(told, left).unwrap().0;
        }
    }

    /// Tells it to end, and waits until it has, with success.
    pub(crate) fn stop(mut self) -> String {
        let pid = self.process.0.id().to_string();
        assert!(Command::new("kill").arg(&pid).status().unwrap().success());
        let ended = self.process.0.wait().unwrap();
        assert!(ended.success(), "{ended}: {}", self.told());
        self.told()
    }
}

impl Drop for Running {
    /// Told to end, it ends the workers that it has started; killed, it would leave them behind.
    fn drop(&mut self) {
        if matches!(self.process.0.try_wait(), Ok(None)) {
            let pid = self.process.0.id().to_string();
            let _ = Command::new("kill").arg(pid).status();
            let _ = self.process.0.wait();
        }
    }
}

fn listen(from: impl Read + Send + 'static, told: &Arc<(Mutex<String>, Condvar)>) {
    let told = Arc::clone(told);
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            let mut said = told.0.lock().unwrap();
            *said += &line;
            said.push('\n');
            told.1.notify_all();
        }
    });
}

/// `ff dev` on a port of its own.
pub(crate) struct Dev {
    pub(crate) running: Running,
    pub(crate) address: String,
}

impl Dev {
    pub(crate) fn start(folder: &Path, arguments: &[&str]) -> Self {
        Self::of(ff(folder).args(["dev", "--port", "0"]).args(arguments))
    }

    pub(crate) fn of(command: &mut Command) -> Self {
        let running = Running::start(command);
        let api = running.until("API        http://");
        Self {
            address: api.trim_end_matches("/v1").to_owned(),
            running,
        }
    }

    pub(crate) fn call(&self, request: &str, body: &Value) -> Value {
        http::call(&self.address, request, body)
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        http::get(&self.address, path)
    }

    /// Submits, and gives the path of the execution.
    pub(crate) fn submit(&self, kind: &str, input: &Value) -> String {
        let created = self.call(&format!("POST /v1/submit/{kind}"), input);
        let id = created["execution_id"].as_str().unwrap_or_else(|| panic!("{created}"));
        format!("/v1/executions/{}", id.replace(['{', '}'], ""))
    }

    /// Waits until an execution has ended, and gives it.
    pub(crate) fn ended(&self, path: &str) -> Value {
        let is_over = |state: &Value| {
            let over = ["completed", "failed", "cancelled", "expired"];
            state["public_state"]
                .as_str()
                .is_some_and(|state| over.contains(&state))
        };
        http::until(&self.address, &format!("{path}/wait?wait_ms=1000"), is_over);
        self.get(path)
    }
}
