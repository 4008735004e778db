//! Compile threads: those LLVM runs on.
//!
//! LLVM ends the process after some errors ("fatal" ones), unless the handler it calls never comes back. So it runs on threads of its
//! own, with stacks that its recursions fit in: on a fatal error the handler tells the waiting caller and the thread sleeps for good.

#![allow(unsafe_code)]

use std::cell::RefCell;
use std::ffi::{CStr, c_char};
use std::sync::Once;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use llvm_sys::error_handling::LLVMInstallFatalErrorHandler;
use weft_forks::Mutex;

use crate::Error;
use crate::session::{Job, Made, Session};

const STACK_BYTES: usize = 64 << 20;

type Reply = Sender<Result<Made, Error>>;

struct Worker {
    jobs: Sender<(Job, Reply)>,
    /// Its process: a forked child does not have the thread.
    forks: u32,
}

/// Workers that wait for work.
static IDLE: Mutex<Vec<Worker>> = Mutex::new(Vec::new());

thread_local! {
    /// Where the answer to this thread's current job goes.
    static REPLY: RefCell<Option<Reply>> = const { RefCell::new(None) };
}

/// Compiles on a worker and waits for it. Meanwhile no fork happens: LLVM has locks of its own.
pub fn run(job: Job) -> Result<Made, Error> {
    let _holder = weft_forks::hold();
    let worker = take_worker()?;
    let (reply, answer) = channel();
    worker.jobs.send((job, reply)).map_err(|_| gone())?;
    let result = answer.recv().map_err(|_| gone())?;
    if !matches!(result, Err(Error::Fatal(_))) {
        IDLE.lock().push(worker);
    }
    result
}

fn gone() -> Error {
    Error::Fatal("the compiler thread ended".into())
}

fn take_worker() -> Result<Worker, Error> {
    let forks = weft_forks::watch();
    let mut idle = IDLE.lock();
    while let Some(worker) = idle.pop() {
        if worker.forks == forks {
            return Ok(worker);
        }
        // The thread may have held its channel's lock when the process forked.
        std::mem::forget(worker);
    }
    drop(idle);
    install_handler();
    let (jobs, inbox) = channel();
    thread::Builder::new()
        .name("weft-compile".into())
        .stack_size(STACK_BYTES)
        .spawn(move || serve(&inbox))
        .map_err(|error| Error::Fatal(format!("no compiler thread: {error}")))?;
    Ok(Worker { jobs, forks })
}

fn serve(inbox: &Receiver<(Job, Reply)>) {
    let mut session = Session::new();
    while let Ok((job, reply)) = inbox.recv() {
        REPLY.set(Some(reply.clone()));
        let result = session.make(&job);
        REPLY.set(None);
        // A caller that is gone needs no answer.
        let _ = reply.send(result);
    }
}

fn install_handler() {
    static ONCE: Once = Once::new();
    // SAFETY: the handler is a plain function; installing it is guarded against doing so twice, which LLVM forbids.
    ONCE.call_once(|| unsafe { LLVMInstallFatalErrorHandler(Some(on_fatal)) });
}

/// LLVM calls this where it would end the process. It must not return, and must not unwind through LLVM's frames.
extern "C" fn on_fatal(reason: *const c_char) {
    // SAFETY: LLVM passes a string that lives through the call.
    let message = unsafe { CStr::from_ptr(reason) }.to_string_lossy().into_owned();
    if let Some(reply) = REPLY.take() {
        let _ = reply.send(Err(Error::Fatal(message)));
    }
    loop {
        thread::park();
    }
}
