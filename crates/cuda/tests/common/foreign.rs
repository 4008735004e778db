//! Another library that uses the driver: it has functions of its own for the same streams.

use std::ffi::{c_int, c_uint, c_void};

use libloading::{Library, Symbol};

use super::double;

pub struct Foreign(Library);

type Handle = *mut c_void;

impl Foreign {
    /// Its device is the first one.
    pub fn new() -> Foreign {
        // SAFETY: the double, which is loaded already.
        let foreign = Foreign(unsafe { Library::new(double()) }.unwrap());
        let mut context = std::ptr::null_mut::<c_void>();
        // SAFETY: the driver's functions of these names.
        unsafe {
            let retain: Symbol<'_, unsafe extern "C" fn(*mut Handle, c_int) -> c_int> = foreign.0.get(b"cuDevicePrimaryCtxRetain").unwrap();
            let set: Symbol<'_, unsafe extern "C" fn(Handle) -> c_int> = foreign.0.get(b"cuCtxSetCurrent").unwrap();
            assert_eq!((retain(&mut context, 0), set(context)), (0, 0));
        }
        foreign
    }

    /// Mode 0 forbids every thread what might wait for the device.
    pub fn begin_capture(&self, stream: u64, mode: c_uint) {
        // SAFETY: as above.
        let code = unsafe {
            let begin: Symbol<'_, unsafe extern "C" fn(Handle, c_uint) -> c_int> = self.0.get(b"cuStreamBeginCapture_v2").unwrap();
            begin(stream as Handle, mode)
        };
        assert_eq!(code, 0);
    }

    pub fn end_capture(&self, stream: u64) -> u64 {
        let mut graph = std::ptr::null_mut();
        // SAFETY: as above.
        let code = unsafe {
            let end: Symbol<'_, unsafe extern "C" fn(Handle, *mut Handle) -> c_int> = self.0.get(b"cuStreamEndCapture").unwrap();
            end(stream as Handle, &mut graph)
        };
        assert_eq!(code, 0);
        graph as u64
    }

    pub fn steps(&self, graph: u64) -> usize {
        let mut count = 0;
        // SAFETY: as above.
        let code = unsafe {
            let nodes: Symbol<'_, unsafe extern "C" fn(Handle, *mut Handle, *mut usize) -> c_int> = self.0.get(b"cuGraphGetNodes").unwrap();
            nodes(graph as Handle, std::ptr::null_mut(), &mut count)
        };
        assert_eq!(code, 0);
        count
    }

    pub fn launch(&self, graph: u64, stream: u64) {
        let mut exec = std::ptr::null_mut();
        // SAFETY: as above.
        let codes = unsafe {
            let make: Symbol<'_, unsafe extern "C" fn(*mut Handle, Handle, u64) -> c_int> =
                self.0.get(b"cuGraphInstantiateWithFlags").unwrap();
            let launch: Symbol<'_, unsafe extern "C" fn(Handle, Handle) -> c_int> = self.0.get(b"cuGraphLaunch").unwrap();
            (make(&mut exec, graph as Handle, 0), launch(exec, stream as Handle))
        };
        assert_eq!(codes, (0, 0));
    }

    /// Does the driver know a stream by this handle?
    pub fn is_stream(&self, handle: u64) -> bool {
        // SAFETY: as above.
        unsafe {
            let query: Symbol<'_, unsafe extern "C" fn(Handle) -> c_int> = self.0.get(b"cuStreamQuery").unwrap();
            matches!(query(handle as Handle), 0 | 600)
        }
    }
}
