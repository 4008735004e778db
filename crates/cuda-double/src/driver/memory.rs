//! Memory of the devices, pinned memory of the host, and pools.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use super::handles::{self, Handle, Object};
use super::{Outcome, lock};
use crate::codes;
use crate::exec::inst::window;
use crate::exec::table::{ALIGN, Backing, Kind, Region, Span, Table};

/// Unused bytes between allocations, so that running over the end of one does not hit the next.
const GUARD: u64 = 4096;

#[derive(Debug)]
pub struct Memory {
    pub capacity: u64,
    table: RwLock<Arc<Table>>,
    next: AtomicU64,
    ids: AtomicU64,
    /// Bytes of each device in use outside of pools.
    used: Mutex<[u64; 16]>,
    pools: Mutex<Vec<Arc<Pool>>>,
}

#[derive(Debug)]
pub struct Pool {
    pub handle: Handle,
    pub device: i32,
    pub max: u64,
    pub state: Mutex<PoolState>,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct PoolState {
    pub threshold: u64,
    /// Taken from the device.
    pub reserved: u64,
    pub reserved_high: u64,
    pub used: u64,
    pub used_high: u64,
    /// The three switches of reuse.
    pub reuse: [i32; 3],
}

impl Pool {
    pub fn new(device: i32, max: u64) -> Arc<Pool> {
        let pool = Arc::new(Pool {
            handle: handles::reserve(),
            device,
            max,
            state: Mutex::new(PoolState {
                reuse: [1; 3],
                ..PoolState::default()
            }),
        });
        handles::insert(pool.handle, Object::Pool(pool.clone()));
        pool
    }

    /// Gives unused memory back to the device, but for so many bytes.
    pub fn trim(&self, keep: u64) {
        let mut state = lock(&self.state);
        state.reserved = state.reserved.min(keep.max(state.used));
    }
}

impl Memory {
    pub fn new(capacity: u64) -> Memory {
        Memory {
            capacity,
            table: RwLock::default(),
            next: AtomicU64::new(window::DEVICE),
            ids: AtomicU64::new(1),
            used: Mutex::default(),
            pools: Mutex::default(),
        }
    }

    /// All allocations as they are now.
    pub fn table(&self) -> Arc<Table> {
        self.table.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn change<T>(&self, change: impl FnOnce(&mut Table) -> T) -> T {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        change(Arc::make_mut(&mut table))
    }

    /// Free bytes of a device.
    pub fn free_bytes(&self, device: i32) -> u64 {
        let used = lock(&self.used)[device as usize];
        let reserved: u64 = self.pools_of(device).iter().map(|p| lock(&p.state).reserved).sum();
        self.capacity.saturating_sub(used + reserved)
    }

    fn pools_of(&self, device: i32) -> Vec<Arc<Pool>> {
        lock(&self.pools).iter().filter(|p| p.device == device).cloned().collect()
    }

    fn insert(&self, start: u64, bytes: u64, device: i32, kind: Kind, backing: Backing, pool: u64) {
        let region = Region {
            start,
            bytes,
            device,
            kind,
            backing: Some(Arc::new(backing)),
            pool,
            id: self.ids.fetch_add(1, Ordering::Relaxed),
            twin: 0,
        };
        self.change(|table| table.insert(region));
    }

    /// Gives host memory an address of its own for devices, at which alone they reach it.
    fn map_apart(&self, start: u64) {
        let Some(region) = self.at(start) else { return };
        let twin = self.device_address(region.bytes);
        let seen = Region {
            start: twin,
            kind: Kind::Mapped,
            twin: start,
            ..region
        };
        self.change(|table| {
            if let Some(index) = table.index(start)
                && let Some(found) = table.get_mut(index)
            {
                found.twin = twin;
            }
            table.insert(seen);
        });
    }

    fn device_address(&self, bytes: u64) -> u64 {
        let room = bytes.max(1).next_multiple_of(ALIGN) + GUARD;
        self.next.fetch_add(room, Ordering::Relaxed)
    }

    /// Device memory outside of pools.
    pub fn allocate(&self, device: i32, bytes: u64, kind: Kind) -> Outcome<u64> {
        if bytes > self.free_bytes(device) {
            return Err(codes::OUT_OF_MEMORY);
        }
        let backing = Backing::new(bytes).ok_or(codes::OUT_OF_MEMORY)?;
        lock(&self.used)[device as usize] += bytes;
        let address = self.device_address(bytes);
        self.insert(address, bytes, device, kind, backing, 0);
        Ok(address)
    }

    pub fn allocate_from(&self, pool: &Arc<Pool>, bytes: u64) -> Outcome<u64> {
        {
            let mut pools = lock(&self.pools);
            if !pools.iter().any(|p| p.handle == pool.handle) {
                pools.push(pool.clone());
            }
        }
        let free = self.free_bytes(pool.device);
        let mut state = lock(&pool.state);
        let more = (state.used + bytes).saturating_sub(state.reserved);
        if more > free || (pool.max > 0 && state.used + bytes > pool.max) {
            return Err(codes::OUT_OF_MEMORY);
        }
        let backing = Backing::new(bytes).ok_or(codes::OUT_OF_MEMORY)?;
        state.used += bytes;
        state.reserved += more;
        state.used_high = state.used_high.max(state.used);
        state.reserved_high = state.reserved_high.max(state.reserved);
        drop(state);
        let address = self.device_address(bytes);
        self.insert(address, bytes, pool.device, Kind::Device, backing, pool.handle);
        Ok(address)
    }

    /// Host memory that devices reach at the same address.
    pub fn host(&self, device: i32, bytes: u64, kind: Kind) -> Outcome<u64> {
        let backing = Backing::new(bytes).ok_or(codes::OUT_OF_MEMORY)?;
        let address = backing.start() as u64;
        self.insert(address, bytes, device, kind, backing, 0);
        Ok(address)
    }

    /// Pinned host memory that devices reach at another address, as they do where it is write-combined.
    pub fn host_apart(&self, device: i32, bytes: u64) -> Outcome<u64> {
        let address = self.host(device, bytes, Kind::Pinned)?;
        self.map_apart(address);
        Ok(address)
    }

    /// Pins memory of the program, for which devices have another address, as some do.
    pub fn register(&self, device: i32, start: u64, bytes: u64) -> Outcome {
        let table = self.table();
        let taken = |at: u64| table.containing(at).is_some_and(|r| r.backing.is_some());
        if taken(start) || taken(start + bytes - 1) {
            return Err(codes::HOST_MEMORY_ALREADY_REGISTERED);
        }
        self.insert(start, bytes, device, Kind::Registered, Backing::borrowed(start), 0);
        self.map_apart(start);
        Ok(())
    }

    /// The living allocation that starts at an address.
    pub fn at(&self, address: u64) -> Option<Region> {
        let table = self.table();
        table
            .containing(address)
            .filter(|r| r.start == address && r.backing.is_some())
            .cloned()
    }

    /// The living allocation an address lies in.
    pub fn containing(&self, address: u64) -> Option<Region> {
        self.table().containing(address).filter(|r| r.backing.is_some()).cloned()
    }

    /// Marks an allocation as freed. Its address is not used again.
    pub fn free(&self, address: u64, kinds: &[Kind]) -> Outcome<Region> {
        let region = self.at(address).filter(|r| kinds.contains(&r.kind)).ok_or(codes::INVALID_VALUE)?;
        self.change(|table| {
            if let Some(index) = table.index(address)
                && let Some(found) = table.get_mut(index)
            {
                found.backing = None;
            }
            // Managed memory and what has one address have no twin.
            if region.twin != 0
                && let Some(index) = table.index(region.twin)
                && let Some(found) = table.get_mut(index)
            {
                found.backing = None;
            }
        });
        if matches!(region.kind, Kind::Device | Kind::Constant | Kind::Variable) {
            self.give_back(&region);
        }
        Ok(region)
    }

    fn give_back(&self, region: &Region) {
        if let Ok(pool) = handles::pool(region.pool) {
            lock(&pool.state).used -= region.bytes;
        } else if region.pool == 0 {
            let used = &mut lock(&self.used)[region.device as usize];
            *used = used.saturating_sub(region.bytes);
        }
    }

    /// Pools keep what their threshold allows beyond a synchronisation.
    pub fn trim_to_thresholds(&self, device: i32) {
        for pool in self.pools_of(device) {
            let threshold = lock(&pool.state).threshold;
            pool.trim(threshold);
        }
    }

    pub fn forget_pool(&self, handle: Handle) {
        lock(&self.pools).retain(|p| p.handle != handle);
    }

    /// Frees all of a device's memory: its context has ended.
    pub fn clear(&self, device: i32) {
        self.change(|table| table.remove_where(|r| r.device == device));
        lock(&self.used)[device as usize] = 0;
        for pool in self.pools_of(device) {
            let mut state = lock(&pool.state);
            (state.used, state.reserved) = (0, 0);
        }
    }

    /// Bytes at an address of a device or of host memory the driver knows.
    pub fn span(&self, address: u64, bytes: u64) -> Option<Span> {
        self.table().containing(address)?.span(address, bytes)
    }
}
