//! Staged arrays: host arrays as arguments of devices that do not address them are copied to the device before a launch, and back after it
//! where the kernel may have written to them.

use crate::checked::Memory;
use crate::{Buffer, HostArray, RunError, raw};

/// A stream that copies to and from memory of its device.
pub trait Carrier {
    type Buffer: Buffer;

    /// Does it collect a graph?
    fn captures(&self) -> Result<bool, RunError>;

    fn allocate(&self, bytes: usize) -> Result<Self::Buffer, RunError>;

    /// Memory for launches that follow on this stream, freed behind those given to it while this is held. What a capture of ours collects
    /// has it as long as its graph; nothing where a graph of others is to have the launches.
    fn scratch(&self, bytes: usize) -> Result<Option<Scratch<Self::Buffer>>, RunError>;

    /// Copies to the device; the host's memory has been read when it returns.
    fn upload(&self, to: u64, from: u64, bytes: usize) -> Result<(), RunError>;

    /// Copies to the host; has arrived when it returns, or when [`Carrier::finish`] does.
    fn download(&self, to: u64, from: u64, bytes: usize) -> Result<(), RunError>;

    /// Waits for all work so far, whose errors arrive here.
    fn finish(&self) -> Result<(), RunError>;
}

/// Memory between launches.
#[derive(Debug)]
pub enum Scratch<B> {
    Own(B),
    /// The graph keeps it.
    OfGraph(u64),
}

impl<B: Buffer> Scratch<B> {
    pub fn address(&self) -> u64 {
        match self {
            Scratch::Own(buffer) => buffer.address(),
            Scratch::OfGraph(address) => *address,
        }
    }
}

/// Copies of host arrays on the device.
#[derive(Debug)]
pub struct Staged<B> {
    copies: Vec<Copied<B>>,
}

/// One piece of host memory; arrays that overlap share it.
#[derive(Debug)]
struct Copied<B> {
    address: u64,
    bytes: u64,
    writable: bool,
    memory: B,
}

impl<B: Buffer> Staged<B> {
    /// Copies arrays to the device and points the arguments to the copies.
    pub fn upload(stream: &impl Carrier<Buffer = B>, arrays: &[HostArray], args: &mut [u64]) -> Result<Staged<B>, RunError> {
        if stream.captures()? {
            return Err(RunError::Invalid(
                "a launch with arrays of the host cannot be captured: copy them to the device before".into(),
            ));
        }
        let mut copies = Vec::new();
        for (address, bytes, writable) in merged(arrays) {
            let memory = stream.allocate(bytes as usize)?;
            stream.upload(memory.address(), address, bytes as usize)?;
            copies.push(Copied {
                address,
                bytes,
                writable,
                memory,
            });
        }
        for array in arrays {
            let Some(copy) = copies
                .iter()
                .find(|copy| (copy.address..copy.address + copy.bytes).contains(&array.address))
            else {
                continue;
            };
            if let Some(slot) = args.get_mut(array.slot) {
                *slot = slot.wrapping_sub(copy.address).wrapping_add(copy.memory.address());
            }
        }
        Ok(Staged { copies })
    }

    /// Copies back and waits; errors of the launch arrive here.
    pub fn download(self, stream: &impl Carrier<Buffer = B>) -> Result<(), RunError> {
        for copy in self.copies.iter().filter(|copy| copy.writable) {
            stream.download(copy.address, copy.memory.address(), copy.bytes as usize)?;
        }
        stream.finish()
    }
}

/// Memory of the device, but for the arrays that are the host's: what checked mode reads and writes.
#[derive(Debug)]
pub struct Either<'a, S> {
    pub stream: &'a S,
    pub hosts: &'a [HostArray],
}

impl<S> Either<'_, S> {
    fn is_of_host(&self, address: u64) -> bool {
        let holds = |array: &HostArray| (array.address..array.address + array.bytes).contains(&address);
        self.hosts.iter().any(holds)
    }
}

impl<S: Carrier> Memory for Either<'_, S> {
    fn read(&self, address: u64, bytes: usize) -> Result<Vec<u8>, RunError> {
        let mut into = vec![0; bytes];
        if self.is_of_host(address) {
            raw::read(address, &mut into);
        } else {
            self.stream.download(into.as_mut_ptr() as u64, address, bytes)?;
        }
        Ok(into)
    }

    fn write(&self, address: u64, new: &[u8], old: &[u8]) -> Result<(), RunError> {
        let Some(first) = new.iter().zip(old).position(|(new, old)| new != old) else {
            return Ok(());
        };
        let last = new.iter().zip(old).rposition(|(new, old)| new != old).unwrap_or(first);
        let (to, changed) = (address + first as u64, &new[first..=last]);
        if self.is_of_host(address) {
            raw::write(to, changed);
            Ok(())
        } else {
            self.stream.upload(to, changed.as_ptr() as u64, changed.len())
        }
    }

    fn keep(&self, bytes: &[u8]) -> Result<Box<dyn Buffer>, RunError> {
        let buffer = self.stream.allocate(bytes.len())?;
        buffer.write(0, bytes)?;
        Ok(Box::new(buffer))
    }
}

/// Address, bytes and writability of the arrays' memory, each byte once. Arrays without elements have none.
fn merged(arrays: &[HostArray]) -> Vec<(u64, u64, bool)> {
    let mut spans: Vec<(u64, u64, bool)> = arrays
        .iter()
        .filter(|array| array.bytes > 0)
        .map(|array| (array.address, array.bytes, array.writable))
        .collect();
    spans.sort_unstable_by_key(|span| span.0);
    let mut merged: Vec<(u64, u64, bool)> = Vec::new();
    for (address, bytes, writable) in spans {
        match merged.last_mut() {
            Some(last) if address < last.0 + last.1 => {
                last.1 = last.1.max(address + bytes - last.0);
                last.2 |= writable;
            }
            _ => merged.push((address, bytes, writable)),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_that_overlap_share_a_copy() {
        let array = |address, bytes, writable| HostArray {
            slot: 0,
            address,
            bytes,
            writable,
        };
        let spans = merged(&[
            array(100, 50, false),
            array(500, 0, true),
            array(0, 100, true),
            array(140, 20, true),
            array(145, 5, false),
        ]);
        assert_eq!(spans, [(0, 100, true), (100, 60, true)]);
    }
}
