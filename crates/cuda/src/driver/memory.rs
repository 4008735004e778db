//! The driver's calls for memory as safe functions: copies, allocations, pinned memory, pools. As in [`super::calls`], the context is current,
//! and that addresses are right is the caller's affair.

#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::ptr;

use super::table::*;
use super::{Context, Failure};

/// `CUmemPool_attribute`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum PoolAttribute {
    ReleaseThreshold = 4,
    ReservedCurrent = 5,
}

const HOST_PORTABLE: u32 = 1;
const HOST_DEVICE_MAPPED: u32 = 2;
const HOST_WRITE_COMBINED: u32 = 4;
const MANAGED_GLOBAL: u32 = 1;
const POINTER_MEMORY_TYPE: c_int = 2;
const POINTER_BUFFER_ID: c_int = 7;
const MEMORY_TYPE_HOST: u32 = 1;

impl Context {
    /// Free and total bytes of the device.
    pub fn memory(&self) -> Result<(u64, u64), Failure> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: writes both.
        unsafe { self.driver.mem_get_info(&mut free, &mut total) }?;
        Ok((free as u64, total as u64))
    }

    pub fn copy_to_device(&self, to: u64, from: u64, bytes: usize, stream: StreamHandle) -> Result<(), Failure> {
        // SAFETY: the caller names memory of that size on both sides.
        unsafe { self.driver.copy_to_device(to, from as *const c_void, bytes, stream) }
    }

    pub fn copy_to_host(&self, to: u64, from: u64, bytes: usize, stream: StreamHandle) -> Result<(), Failure> {
        // SAFETY: as above.
        unsafe { self.driver.copy_to_host(to as *mut c_void, from, bytes, stream) }
    }

    pub fn copy_on_device(&self, to: u64, from: u64, bytes: usize, stream: StreamHandle) -> Result<(), Failure> {
        // SAFETY: as above.
        unsafe { self.driver.copy_on_device(to, from, bytes, stream) }
    }

    pub fn copy_to_peer(
        &self,
        to: (u64, ContextHandle),
        from: (u64, ContextHandle),
        bytes: usize,
        stream: StreamHandle,
    ) -> Result<(), Failure> {
        // SAFETY: as above.
        unsafe { self.driver.copy_to_peer(to.0, to.1, from.0, from.1, bytes, stream) }
    }

    pub fn fill(&self, address: u64, value: u8, bytes: usize, stream: StreamHandle) -> Result<(), Failure> {
        // SAFETY: the caller names memory of that size.
        unsafe { self.driver.fill(address, value, bytes, stream) }
    }

    pub fn allocate(&self, bytes: usize) -> Result<u64, Failure> {
        let mut address = 0;
        // SAFETY: writes the address.
        unsafe { self.driver.mem_alloc(&mut address, bytes) }?;
        Ok(address)
    }

    /// Waits for the device.
    pub fn free(&self, address: u64) -> Result<(), Failure> {
        // SAFETY: not used again.
        unsafe { self.driver.mem_free(address) }
    }

    pub fn allocate_managed(&self, bytes: usize) -> Result<u64, Failure> {
        let mut address = 0;
        // SAFETY: writes the address.
        unsafe { self.driver.mem_alloc_managed(&mut address, bytes, MANAGED_GLOBAL) }?;
        Ok(address)
    }

    /// Host memory that copies of every context read and write directly. Kernels may have another address for it.
    pub fn allocate_pinned(&self, bytes: usize, write_combined: bool) -> Result<u64, Failure> {
        let flags = HOST_PORTABLE | HOST_DEVICE_MAPPED | if write_combined { HOST_WRITE_COMBINED } else { 0 };
        let mut address = ptr::null_mut();
        // SAFETY: writes the address.
        unsafe { self.driver.mem_host_alloc(&mut address, bytes, flags) }?;
        Ok(address as u64)
    }

    pub fn free_pinned(&self, address: u64) -> Result<(), Failure> {
        // SAFETY: not used again.
        unsafe { self.driver.mem_free_host(address as *mut c_void) }
    }

    pub fn pin(&self, address: u64, bytes: usize) -> Result<(), Failure> {
        // SAFETY: memory that the caller keeps until it is unpinned.
        unsafe {
            self.driver
                .mem_host_register(address as *mut c_void, bytes, HOST_PORTABLE | HOST_DEVICE_MAPPED)
        }
    }

    pub fn unpin(&self, address: u64) -> Result<(), Failure> {
        // SAFETY: pinned before.
        unsafe { self.driver.mem_host_unregister(address as *mut c_void) }
    }

    /// The address by which kernels reach pinned memory.
    pub fn device_address(&self, address: u64) -> Result<u64, Failure> {
        let mut found = 0;
        // SAFETY: writes the address.
        unsafe { self.driver.mem_host_get_device_pointer(&mut found, address as *mut c_void, 0) }?;
        Ok(found)
    }

    /// Is all of this in one piece of host memory that was pinned? What the driver does not know is not.
    pub fn is_pinned(&self, address: u64, bytes: usize) -> bool {
        let Some(last) = address.checked_add((bytes as u64).max(1) - 1) else {
            return false;
        };
        if let Some(held) = self.driver.pins.holds(address, (bytes as u64).max(1)) {
            return held;
        }
        let is_host = |at| self.pointer_attribute(POINTER_MEMORY_TYPE, at) == Some(u64::from(MEMORY_TYPE_HOST));
        let piece = |at| self.pointer_attribute(POINTER_BUFFER_ID, at);
        // Most memory is not, and the first question says so.
        is_host(address) && is_host(last) && piece(address).is_some() && piece(address) == piece(last)
    }

    fn pointer_attribute(&self, attribute: c_int, address: u64) -> Option<u64> {
        // Attributes of 32 bits fill the lower half.
        let mut value = 0u64;
        // SAFETY: writes at the most 8 bytes; any address may be asked for.
        let known = unsafe {
            self.driver
                .pointer_get_attribute(ptr::from_mut(&mut value).cast(), attribute, address)
        };
        known.is_ok().then_some(value)
    }

    pub fn create_pool(&self) -> Result<PoolHandle, Failure> {
        let props = PoolProps {
            alloc_type: 1,
            handle_types: 0,
            location: MemLocation { kind: 1, id: self.ordinal },
            security_attributes: ptr::null_mut(),
            rest: [0; 8],
        };
        let mut pool = PoolHandle::NULL;
        // SAFETY: writes the handle.
        unsafe { self.driver.pool_create(&mut pool, &props) }?;
        Ok(pool)
    }

    pub fn set_pool_attribute(&self, pool: PoolHandle, attribute: PoolAttribute, mut value: u64) -> Result<(), Failure> {
        // SAFETY: the attributes of `PoolAttribute` are 64 bits.
        unsafe {
            self.driver
                .pool_set_attribute(pool, attribute as c_int, ptr::from_mut(&mut value).cast())
        }
    }

    pub fn pool_attribute(&self, pool: PoolHandle, attribute: PoolAttribute) -> Result<u64, Failure> {
        let mut value = 0u64;
        // SAFETY: as above.
        unsafe {
            self.driver
                .pool_get_attribute(pool, attribute as c_int, ptr::from_mut(&mut value).cast())
        }?;
        Ok(value)
    }

    /// Lets kernels of another device address what is allocated from the pool.
    pub fn share_pool(&self, pool: PoolHandle, with: DeviceOrdinal) -> Result<(), Failure> {
        let access = AccessDesc {
            location: MemLocation { kind: 1, id: with },
            flags: 3,
        };
        // SAFETY: one description.
        unsafe { self.driver.pool_set_access(pool, &access, 1) }
    }

    pub fn trim_pool(&self, pool: PoolHandle, keep: usize) -> Result<(), Failure> {
        // SAFETY: a pool of this context's device.
        unsafe { self.driver.pool_trim_to(pool, keep) }
    }

    pub fn allocate_from(&self, pool: PoolHandle, bytes: usize, stream: StreamHandle) -> Result<u64, Failure> {
        let mut address = 0;
        // SAFETY: writes the address.
        unsafe { self.driver.pool_alloc(&mut address, bytes, pool, stream) }?;
        Ok(address)
    }

    /// Frees in stream order.
    pub fn free_to_pool(&self, address: u64, stream: StreamHandle) -> Result<(), Failure> {
        // SAFETY: used by no work behind this.
        unsafe { self.driver.pool_free(address, stream) }
    }
}
