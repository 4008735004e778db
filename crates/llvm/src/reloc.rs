//! Relocations: what each of a small, position-independent object means, for the processor this program runs on.

use crate::Error;

/// What a relocation needs to exist before it can be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The symbol's address alone.
    Nothing,
    /// A slot that holds the symbol's address.
    Slot,
    /// A stub that jumps to the symbol, should it lie outside the object.
    Stub,
}

/// Where a relocation writes and what it writes about.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    /// The address of the bytes to change.
    pub place: u64,
    /// The symbol's address, or its slot's or stub's, plus the addend where the kind says so.
    pub target: u64,
    pub addend: i64,
}

fn out_of_reach(kind: u32) -> Error {
    Error::Load(format!("relocation {kind} does not reach its target"))
}

fn unknown(kind: u32) -> Error {
    Error::Load(format!("relocation {kind} is not known"))
}

fn put(bytes: &mut [u8], value: &[u8]) -> Result<(), Error> {
    let place = bytes
        .get_mut(..value.len())
        .ok_or_else(|| Error::Load("a relocation lies outside its section".into()))?;
    place.copy_from_slice(value);
    Ok(())
}

#[cfg(target_arch = "x86_64")]
pub use x86_64::{STUB_BYTES, apply, need, write_stub};

#[cfg(target_arch = "aarch64")]
pub use aarch64::{STUB_BYTES, apply, need, write_stub};

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use super::{Need, Site, out_of_reach, put, unknown};
    use crate::Error;

    pub const STUB_BYTES: usize = 8;
    const ABS64: u32 = 1;
    const PC32: u32 = 2;
    const PLT32: u32 = 4;
    const GOTPCREL: u32 = 9;
    const ABS32: u32 = 10;
    const ABS32S: u32 = 11;
    const PC64: u32 = 24;
    const GOTPCRELX: u32 = 41;
    const REX_GOTPCRELX: u32 = 42;

    pub fn need(kind: u32) -> Need {
        match kind {
            GOTPCREL | GOTPCRELX | REX_GOTPCRELX => Need::Slot,
            PC32 | PLT32 => Need::Stub,
            _ => Need::Nothing,
        }
    }

    pub fn apply(kind: u32, site: Site, bytes: &mut [u8]) -> Result<(), Error> {
        let absolute = site.target.wrapping_add_signed(site.addend);
        let relative = absolute.wrapping_sub(site.place) as i64;
        match kind {
            ABS64 => put(bytes, &absolute.to_le_bytes()),
            PC64 => put(bytes, &relative.to_le_bytes()),
            ABS32 => put(bytes, &u32::try_from(absolute).map_err(|_| out_of_reach(kind))?.to_le_bytes()),
            ABS32S => put(
                bytes,
                &i32::try_from(absolute as i64).map_err(|_| out_of_reach(kind))?.to_le_bytes(),
            ),
            PC32 | PLT32 | GOTPCREL | GOTPCRELX | REX_GOTPCRELX => {
                put(bytes, &i32::try_from(relative).map_err(|_| out_of_reach(kind))?.to_le_bytes())
            }
            _ => Err(unknown(kind)),
        }
    }

    /// `jmp *slot(%rip)`
    pub fn write_stub(bytes: &mut [u8], place: u64, slot: u64) -> Result<(), Error> {
        let distance = slot.wrapping_sub(place + 6) as i64;
        put(bytes, &[0xff, 0x25])?;
        put(
            &mut bytes[2..],
            &i32::try_from(distance).map_err(|_| out_of_reach(PLT32))?.to_le_bytes(),
        )
    }
}

#[cfg(any(target_arch = "aarch64", test))]
#[cfg_attr(not(target_arch = "aarch64"), allow(dead_code))]
mod aarch64 {
    use super::{Need, Site, out_of_reach, put, unknown};
    use crate::Error;

    pub const STUB_BYTES: usize = 12;
    const ABS64: u32 = 257;
    const PREL64: u32 = 260;
    const PREL32: u32 = 261;
    const ADR_PREL_PG_HI21: u32 = 275;
    const ADD_ABS_LO12_NC: u32 = 277;
    const LDST8_ABS_LO12_NC: u32 = 278;
    const JUMP26: u32 = 282;
    const CALL26: u32 = 283;
    const LDST16_ABS_LO12_NC: u32 = 284;
    const LDST32_ABS_LO12_NC: u32 = 285;
    const LDST64_ABS_LO12_NC: u32 = 286;
    const LDST128_ABS_LO12_NC: u32 = 299;
    const ADR_GOT_PAGE: u32 = 311;
    const LD64_GOT_LO12_NC: u32 = 312;

    pub fn need(kind: u32) -> Need {
        match kind {
            ADR_GOT_PAGE | LD64_GOT_LO12_NC => Need::Slot,
            JUMP26 | CALL26 => Need::Stub,
            _ => Need::Nothing,
        }
    }

    pub fn apply(kind: u32, site: Site, bytes: &mut [u8]) -> Result<(), Error> {
        let absolute = site.target.wrapping_add_signed(site.addend);
        let relative = absolute.wrapping_sub(site.place) as i64;
        let low = |shift: u32| ((absolute & 0xfff) >> shift) as u32;
        match kind {
            ABS64 => put(bytes, &absolute.to_le_bytes()),
            PREL64 => put(bytes, &relative.to_le_bytes()),
            PREL32 => put(bytes, &i32::try_from(relative).map_err(|_| out_of_reach(kind))?.to_le_bytes()),
            ADR_PREL_PG_HI21 | ADR_GOT_PAGE => patch_page(kind, absolute, site.place, bytes),
            ADD_ABS_LO12_NC | LDST8_ABS_LO12_NC => patch(bytes, low(0), 10, 12),
            LDST16_ABS_LO12_NC => patch(bytes, low(1), 10, 12),
            LDST32_ABS_LO12_NC => patch(bytes, low(2), 10, 12),
            LDST64_ABS_LO12_NC | LD64_GOT_LO12_NC => patch(bytes, low(3), 10, 12),
            LDST128_ABS_LO12_NC => patch(bytes, low(4), 10, 12),
            JUMP26 | CALL26 => {
                if !(-(1 << 27)..1 << 27).contains(&relative) {
                    return Err(out_of_reach(kind));
                }
                patch(bytes, (relative >> 2) as u32, 0, 26)
            }
            _ => Err(unknown(kind)),
        }
    }

    /// Puts the low `width` bits of `value` into an instruction, from bit `at` on.
    fn patch(bytes: &mut [u8], value: u32, at: u32, width: u32) -> Result<(), Error> {
        let old = bytes.get(..4).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes).unwrap_or(0);
        let mask = ((1u32 << width) - 1) << at;
        put(bytes, &(old & !mask | value << at & mask).to_le_bytes())
    }

    /// The page distance of an `adrp`, which is split over two fields.
    fn patch_page(kind: u32, target: u64, place: u64, bytes: &mut [u8]) -> Result<(), Error> {
        let pages = ((target & !0xfff).wrapping_sub(place & !0xfff) as i64) >> 12;
        if !(-(1 << 20)..1 << 20).contains(&pages) {
            return Err(out_of_reach(kind));
        }
        patch(bytes, pages as u32 & 3, 29, 2)?;
        patch(bytes, (pages >> 2) as u32, 5, 19)
    }

    /// `adrp x16, slot; ldr x16, [x16, slot]; br x16`
    pub fn write_stub(bytes: &mut [u8], place: u64, slot: u64) -> Result<(), Error> {
        put(bytes, &0x9000_0010u32.to_le_bytes())?;
        put(&mut bytes[4..], &0xf940_0210u32.to_le_bytes())?;
        put(&mut bytes[8..], &0xd61f_0200u32.to_le_bytes())?;
        let site = |place| Site {
            place,
            target: slot,
            addend: 0,
        };
        apply(ADR_GOT_PAGE, site(place), bytes)?;
        apply(LD64_GOT_LO12_NC, site(place + 4), &mut bytes[4..])
    }
}

#[cfg(test)]
mod tests {
    use super::aarch64::{apply, write_stub};
    use super::{Error, Site};

    fn word(bytes: &[u8]) -> u32 {
        u32::from_le_bytes(bytes[..4].try_into().unwrap())
    }

    fn patched(kind: u32, instruction: u32, place: u64, target: u64) -> Result<u32, Error> {
        let mut bytes = instruction.to_le_bytes();
        let site = Site { place, target, addend: 0 };
        apply(kind, site, &mut bytes).map(|()| word(&bytes))
    }

    /// The expected words are what an assembler makes of the instruction in the comment.
    #[test]
    fn arm_instructions_are_patched() {
        // adrp x0, #-0x3000
        assert_eq!(patched(275, 0x9000_0000, 0x5123, 0x2fff), Ok(0xb0ff_ffe0));
        // bl #-8; b #0x7fffffc
        assert_eq!(patched(283, 0x9400_0000, 0x1008, 0x1000), Ok(0x97ff_fffe));
        assert_eq!(patched(282, 0x1400_0000, 0x1000, 0x1000 + 0x7ff_fffc), Ok(0x15ff_ffff));
        assert!(patched(283, 0x9400_0000, 0x1000, 0x1000_0000).is_err());
        // ldr q1, [x2, #0x7f0]; add x3, x3, #0xabc
        assert_eq!(patched(299, 0x3dc0_0041, 0, 0x17f0), Ok(0x3dc1_fc41));
        assert_eq!(patched(277, 0x9100_0063, 0, 0x5abc), Ok(0x912a_f063));
        assert!(patched(9999, 0, 0, 0).is_err());
    }

    #[test]
    fn arm_stubs_jump_through_their_slot() {
        let mut stub = [0; 12];
        write_stub(&mut stub, 0x1000, 0x3458).unwrap();
        // adrp x16, #0x2000; ldr x16, [x16, #0x458]; br x16
        assert_eq!(
            [word(&stub), word(&stub[4..]), word(&stub[8..])],
            [0xd000_0010, 0xf942_2e10, 0xd61f_0200]
        );
    }
}
