//! The single entry point to native code.
//!
//! [`enter`] releases the GIL, checks for Ctrl-C ten times a second whenever the core's loop beats its pulse,
//! and converts the core's errors to `crivello.errors` and a panic to an exception that asks to be reported.
//! [`enter_showing`] does the same for long work of the thread pool.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use crivello_core::{Error, Pulse, Result};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The interval at which a long call checks for signals.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// How far a native call has come; read from another thread while it runs.
#[pyclass(module = "crivello._core", frozen)]
#[derive(Default)]
pub struct Progress(crivello_core::Progress);

#[pymethods]
impl Progress {
    #[new]
    fn new() -> Self {
        Progress::default()
    }

    /// The amount of work done, and all of it; 0 if unknown.
    #[getter]
    fn done(&self) -> (u64, u64) {
        self.0.done()
    }

    /// The change of the last iteration; 0 if there are none.
    #[getter]
    fn residual(&self) -> f64 {
        self.0.residual()
    }
}

/// Runs `work` without the GIL, on this thread.
pub fn enter<T: Send>(py: Python<'_>, work: impl FnOnce(&Pulse) -> Result<T> + Send) -> PyResult<T> {
    let interruption: Mutex<Option<PyErr>> = Mutex::new(None);
    let last_look = Mutex::new(Instant::now());
    let go_on = || {
        // A thread that finds the clock locked leaves the check to its owner.
        let Ok(mut last) = last_look.try_lock() else { return true };
        if last.elapsed() < BETWEEN_LOOKS {
            return true;
        }
        *last = Instant::now();
        match Python::attach(|py| py.check_signals()) {
            Ok(()) => true,
            Err(error) => {
                if let Ok(mut interruption) = interruption.lock() {
                    *interruption = Some(error);
                }
                false
            }
        }
    };
    let outcome = py.detach(|| catch_unwind(AssertUnwindSafe(|| work(&Pulse::new(&go_on)))));
    finish(py, outcome, interruption.into_inner().ok().flatten())
}

/// Runs `work` without the GIL on a thread of its own, showing its progress: for work that the thread pool
/// does. Python looks for Ctrl-C in its main thread alone, which must not wait for the pool meanwhile.
pub fn enter_showing<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, Progress>>,
    work: impl FnOnce(&Pulse) -> Result<T> + Send,
) -> PyResult<T> {
    let progress = progress.map(|progress| &progress.get().0);
    let stopped = AtomicBool::new(false);
    let go_on = || !stopped.load(Ordering::Relaxed);
    let (outcome, interruption) = py.detach(|| {
        thread::scope(|scope| {
            let (ended, end) = channel::<()>();
            let worker = scope.spawn(move || {
                // Dropped at the end, also by a panic: the wait below is over.
                let _ended = ended;
                on_own_threads(|| work(&Pulse::new(&go_on).showing(progress)))
            });
            let mut interruption = None;
            while end.recv_timeout(BETWEEN_LOOKS) == Err(RecvTimeoutError::Timeout) {
                if let Err(error) = Python::attach(|py| py.check_signals()) {
                    interruption = Some(error);
                    stopped.store(true, Ordering::Relaxed);
                }
            }
            (worker.join(), interruption)
        })
    });
    finish(py, outcome, interruption)
}

/// The process that imported the module. One that is forked from it has a copy of its pool, whose threads are not there.
static IMPORTED_BY: OnceLock<u32> = OnceLock::new();
/// The pool of a forked process, by its id.
static OF_FORKED: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Runs work on a pool that has the threads of this process.
fn on_own_threads<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let process = process::id();
    if IMPORTED_BY.get().is_none_or(|importer| *importer == process) {
        return work();
    }
    let pool = OF_FORKED.lock().ok().and_then(|mut pool| {
        if pool.as_ref().is_none_or(|(owner, _)| *owner != process) {
            *pool = ThreadPoolBuilder::new().build().ok().map(|pool| (process, Arc::new(pool)));
        }
        pool.as_ref().map(|(_, pool)| Arc::clone(pool))
    });
    match pool {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// The result for Python of work that ended, panicked, or was interrupted.
fn finish<T>(py: Python<'_>, outcome: thread::Result<Result<T>>, interruption: Option<PyErr>) -> PyResult<T> {
    match outcome {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(Error::Stopped)) => Err(interruption.unwrap_or_else(|| PyKeyboardInterrupt::new_err(()))),
        Ok(Err(error)) => Err(exception(py, error)),
        Err(panic) => Err(raise(py, "InternalError", (message(panic.as_ref()),))),
    }
}

/// The Python exception for an error of the core.
fn exception(py: Python<'_>, error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::Io { path, source } => match source.raw_os_error() {
            Some(code) => raise(py, "StorageError", (text, path, code)),
            None => raise(py, "StorageError", (text, path)),
        },
        Error::Corrupt { path, offset, .. } => raise(py, "CorruptFile", (text, path, offset)),
        Error::Newer { path, .. } => raise(py, "NewerFormat", (text, path)),
        Error::Older { path, .. } => raise(py, "OlderFormat", (text, path)),
        Error::NotACollection { .. } => raise(py, "NotACollection", (text,)),
        Error::InUse { .. } => raise(py, "CollectionInUse", (text,)),
        Error::Query { position, hint, .. } => raise(py, "QuerySyntaxError", (text, position, hint)),
        Error::Invalid(_) => raise(py, "InvalidArgument", (text,)),
        Error::Stopped => PyKeyboardInterrupt::new_err(()),
    }
}

fn raise<'py, A>(py: Python<'py>, name: &str, arguments: A) -> PyErr
where
    A: pyo3::call::PyCallArgs<'py>,
{
    let made = py
        .import("crivello.errors")
        .and_then(|module| module.getattr(name))
        .and_then(|class| class.call1(arguments));
    match made {
        Ok(instance) => PyErr::from_value(instance),
        Err(error) => error,
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let said = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let said = said.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("the native core failed: {}", said.unwrap_or_else(|| "no reason given".to_owned()))
}

/// Fails on purpose, so that the tests can check how each failure appears in Python.
#[pyfunction]
fn fail(py: Python<'_>, kind: &str) -> PyResult<()> {
    let path = || std::path::PathBuf::from("some/file");
    let error = match kind {
        "panic" => return enter(py, |_| -> Result<()> { panic!("on purpose") }),
        "loop" => {
            return enter(py, |pulse| {
                loop {
                    pulse.beat()?;
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
        }
        "io" => Error::Io { path: path(), source: std::io::Error::from_raw_os_error(28) },
        "corrupt" => Error::corrupt(path(), 42, "on purpose"),
        "newer" => Error::Newer { path: path(), found: 2, supported: 1 },
        "older" => Error::Older { path: path(), found: 1, supported: 2 },
        "not a collection" => Error::NotACollection { folder: path(), missing: "manifest" },
        "in use" => Error::InUse { folder: path(), process: Some(7) },
        "query" => Error::Query { position: 3, reason: "on purpose".into(), hint: None },
        "invalid" => Error::Invalid("on purpose".into()),
        other => return Err(PyValueError::new_err(format!("no such failure: {other}"))),
    };
    enter(py, |_| Err(error))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    IMPORTED_BY.get_or_init(process::id);
    module.add_class::<Progress>()?;
    module.add_function(wrap_pyfunction!(fail, module)?)
}
