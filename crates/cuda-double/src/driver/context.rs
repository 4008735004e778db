//! Devices and contexts. Every device has one primary context; there are no others.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use super::handles::{self, Handle, Object};
use super::memory::Pool;
use super::stream::Stream;
use super::{Outcome, driver, lock};
use crate::codes::{self, Code};

#[derive(Debug)]
pub struct Device {
    pub ordinal: i32,
    primary: Mutex<Primary>,
    /// The pool that asynchronous allocations come from.
    pub pool: Mutex<Option<Arc<Pool>>>,
    default_pool: Mutex<Option<Arc<Pool>>>,
}

#[derive(Debug, Default)]
struct Primary {
    references: u32,
    flags: u32,
    context: Option<Arc<Context>>,
}

impl Device {
    pub fn new(ordinal: i32) -> Device {
        Device {
            ordinal,
            primary: Mutex::default(),
            pool: Mutex::default(),
            default_pool: Mutex::default(),
        }
    }

    pub fn retain(&self) -> Outcome<Arc<Context>> {
        let mut primary = lock(&self.primary);
        primary.references += 1;
        let context = primary.context.get_or_insert_with(|| Context::new(self.ordinal));
        Ok(context.clone())
    }

    /// Gives the context up; the last one to do so ends it.
    pub fn release(&self) -> Outcome {
        let mut primary = lock(&self.primary);
        if primary.references == 0 {
            return Err(codes::INVALID_CONTEXT);
        }
        primary.references -= 1;
        if primary.references == 0
            && let Some(context) = primary.context.take()
        {
            drop(primary);
            context.destroy();
        }
        Ok(())
    }

    /// Ends the context whoever holds it. Later calls find a new one behind the same handle's device.
    pub fn reset(&self) -> Outcome {
        let context = lock(&self.primary).context.take();
        if let Some(context) = context {
            context.destroy();
            let mut primary = lock(&self.primary);
            if primary.references > 0 {
                let fresh = Context::with_handle(self.ordinal, context.handle);
                primary.context = Some(fresh);
            }
        }
        Ok(())
    }

    pub fn state(&self) -> (u32, bool) {
        let primary = lock(&self.primary);
        (primary.flags, primary.context.is_some())
    }

    /// The context, if there is one now.
    pub fn active(&self) -> Option<Arc<Context>> {
        lock(&self.primary).context.clone()
    }

    pub fn set_flags(&self, flags: u32) {
        lock(&self.primary).flags = flags;
    }

    pub fn default_pool(&self) -> Arc<Pool> {
        lock(&self.default_pool).get_or_insert_with(|| Pool::new(self.ordinal, 0)).clone()
    }

    pub fn current_pool(&self) -> Arc<Pool> {
        let chosen = lock(&self.pool).clone();
        chosen.unwrap_or_else(|| self.default_pool())
    }
}

#[derive(Debug)]
pub struct Context {
    pub handle: Handle,
    pub device: i32,
    /// The error that ended it, if one did.
    failed: Mutex<Option<Code>>,
    pub streams: RwLock<Vec<Arc<Stream>>>,
    /// The legacy default stream.
    pub default: Arc<Stream>,
    /// Held while work is put in order between streams.
    pub order: Mutex<()>,
    pub limits: Mutex<HashMap<u32, usize>>,
    pub peers: Mutex<Vec<i32>>,
}

impl Context {
    fn new(device: i32) -> Arc<Context> {
        Context::with_handle(device, handles::reserve())
    }

    fn with_handle(device: i32, handle: Handle) -> Arc<Context> {
        let context = Arc::new(Context {
            handle,
            device,
            failed: Mutex::default(),
            streams: RwLock::default(),
            default: Stream::new(handle, device, true, 0, 0),
            order: Mutex::default(),
            limits: Mutex::new(HashMap::from([(0, 1024), (1, 1 << 20), (2, 8 << 20)])),
            peers: Mutex::default(),
        });
        handles::insert(handle, Object::Context(context.clone()));
        context
    }

    fn destroy(&self) {
        _ = self.wait();
        let streams: Vec<_> = self.streams.write().unwrap_or_else(PoisonError::into_inner).drain(..).collect();
        for stream in streams.iter().chain([&self.default]) {
            stream.close();
        }
        handles::remove(self.handle);
        let (handle, device) = (self.handle, self.device);
        handles::remove_where(|object| match object {
            Object::Stream(stream) => stream.context == handle,
            Object::Event(event) => event.context == handle,
            Object::Module(module) => module.device == device,
            Object::Function(function) => function.module.device == device,
            _ => false,
        });
        if let Ok(driver) = driver() {
            driver.memory.clear(device);
        }
    }

    pub fn fail(&self, code: Code) {
        lock(&self.failed).get_or_insert(code);
    }

    /// The error that everything ends with once something went wrong.
    pub fn check(&self) -> Outcome {
        match *lock(&self.failed) {
            Some(code) => Err(code),
            None => Ok(()),
        }
    }

    pub fn all_streams(&self) -> Vec<Arc<Stream>> {
        let streams = self.streams.read().unwrap_or_else(PoisonError::into_inner);
        streams.iter().chain([&self.default]).cloned().collect()
    }

    /// Waits for all streams.
    pub fn wait(&self) -> Outcome {
        for stream in self.all_streams() {
            stream.wait();
        }
        if let Ok(driver) = driver() {
            driver.memory.trim_to_thresholds(self.device);
        }
        self.check()
    }
}

thread_local! {
    static CURRENT: RefCell<Vec<Handle>> = const { RefCell::new(Vec::new()) };
}

/// The thread's context, failed or not.
pub fn current_handle() -> Handle {
    CURRENT.with_borrow(|stack| stack.last().copied().unwrap_or(0))
}

pub fn set_current(handle: Handle) {
    CURRENT.with_borrow_mut(|stack| {
        stack.pop();
        if handle != 0 {
            stack.push(handle);
        }
    });
}

pub fn push(handle: Handle) {
    CURRENT.with_borrow_mut(|stack| stack.push(handle));
}

pub fn pop() -> Option<Handle> {
    CURRENT.with_borrow_mut(Vec::pop)
}

/// The thread's context.
pub fn current() -> Outcome<Arc<Context>> {
    driver()?;
    match current_handle() {
        0 => Err(codes::INVALID_CONTEXT),
        handle => handles::context(handle).map_err(|_| codes::CONTEXT_IS_DESTROYED),
    }
}

/// The thread's context, if nothing has gone wrong in it.
pub fn healthy() -> Outcome<Arc<Context>> {
    let context = current()?;
    context.check()?;
    Ok(context)
}
