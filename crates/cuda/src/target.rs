//! Targets: which GPU code is made for: the PTX ISA and the `sm` that a driver and a device serve.

use std::fmt;

/// Bytes of parameters that a kernel may have, and the PTX ISA from which on it may have more.
const FEW_BYTES: u32 = 4352;
const WITH_MANY: u32 = 81;
const MANY_BYTES: u32 = 32764;

/// A GPU as PTX names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// Compute capability, major times 10 plus minor: 90 for `sm_90`.
    pub sm: u32,
    /// PTX ISA, major times 10 plus minor: 78 for 7.8.
    pub ptx: u32,
}

/// Why there is no code for a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetError {
    /// Below compute capability 7.0 threads of a warp do not make progress on their own.
    TooOld { sm: u32 },
    /// The driver knows no PTX that has the device.
    Driver { version: u32, sm: u32 },
}

/// Every `sm` code is made for, and the first PTX ISA that has it and all that the emitter uses (6.3 has `activemask` and `nanosleep`).
const KNOWN: [(u32, u32); 15] = [
    (70, 63),
    (72, 63),
    (75, 63),
    (80, 70),
    (86, 71),
    (87, 74),
    (88, 90),
    (89, 78),
    (90, 78),
    (100, 86),
    (101, 86),
    (103, 88),
    (110, 90),
    (120, 87),
    (121, 88),
];

/// The newest PTX ISA of each CUDA version, newest first. Later drivers take at least the first.
const DRIVERS: [(u32, u32); 26] = [
    (13010, 91),
    (13000, 90),
    (12090, 88),
    (12080, 87),
    (12070, 86),
    (12050, 85),
    (12040, 84),
    (12030, 83),
    (12020, 82),
    (12010, 81),
    (12000, 80),
    (11080, 78),
    (11070, 77),
    (11060, 76),
    (11050, 75),
    (11040, 74),
    (11030, 73),
    (11020, 72),
    (11010, 71),
    (11000, 70),
    (10020, 65),
    (10010, 64),
    (10000, 63),
    (9020, 62),
    (9010, 61),
    (9000, 60),
];

impl Target {
    /// What serves a device of a compute capability under a driver (`cuDriverGetVersion`'s number): the device's own `sm`, or the highest
    /// known below it, since PTX runs on everything newer; and the lowest PTX ISA that has it.
    pub fn choose(driver: u32, major: u32, minor: u32) -> Result<Target, TargetError> {
        let device = 10 * major + minor;
        if device < KNOWN[0].0 {
            return Err(TargetError::TooOld { sm: device });
        }
        let newest = newest_ptx(driver);
        Target::all()
            .filter(|target| target.sm <= device && target.ptx <= newest)
            .last()
            .ok_or(TargetError::Driver {
                version: driver,
                sm: device,
            })
    }

    /// The target of a known `sm`, with the lowest PTX ISA that has it.
    pub fn of_sm(sm: u32) -> Option<Target> {
        Target::all().find(|target| target.sm == sm)
    }

    /// Every `sm` code is made for, each with the lowest PTX ISA that has it.
    pub fn all() -> impl Iterator<Item = Target> {
        KNOWN.into_iter().map(|(sm, ptx)| Target { sm, ptx })
    }

    /// The target for a kernel whose parameters take so many bytes: a later PTX ISA where it takes that, up to the newest that the driver
    /// serves. Otherwise why there is none.
    pub fn with_room(self, bytes: u32, newest: u32) -> Result<Target, String> {
        let many = Target {
            ptx: self.ptx.max(WITH_MANY),
            ..self
        };
        match bytes {
            0..=FEW_BYTES => Ok(self),
            _ if bytes > MANY_BYTES => Err(format!(
                "the arguments of the kernel take {bytes} bytes, of which a GPU takes {MANY_BYTES}: give it fewer, larger arrays"
            )),
            _ if many.ptx > newest => Err(format!(
                "the arguments of the kernel take {bytes} bytes, of which this driver takes {FEW_BYTES}: update it to CUDA 12.1 or newer, or give \
                 the kernel fewer, larger arrays"
            )),
            _ => Ok(many),
        }
    }

    /// `sm_90`.
    pub fn cpu(self) -> String {
        format!("sm_{}", self.sm)
    }

    /// LLVM's name of the PTX ISA: `+ptx78`.
    pub fn features(self) -> String {
        format!("+ptx{}", self.ptx)
    }
}

/// The newest PTX ISA of a driver.
pub fn newest_ptx(driver: u32) -> u32 {
    DRIVERS
        .into_iter()
        .find(|(version, _)| *version <= driver)
        .map_or(0, |(_, ptx)| ptx)
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{} (PTX {}.{})", self.sm, self.ptx / 10, self.ptx % 10)
    }
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TargetError::TooOld { sm } => {
                let (major, minor) = (sm / 10, sm % 10);
                write!(f, "compute capability {major}.{minor} is too old: Weft needs 7.0 (Volta) or newer")
            }
            TargetError::Driver { version, sm } => {
                let (major, minor) = (version / 1000, version % 1000 / 10);
                write!(
                    f,
                    "the driver (CUDA {major}.{minor}) has no PTX for compute capability {}.{}: update it",
                    sm / 10,
                    sm % 10
                )
            }
        }
    }
}

impl std::error::Error for TargetError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(driver: u32, major: u32, minor: u32) -> (u32, u32) {
        let target = Target::choose(driver, major, minor).unwrap();
        (target.sm, target.ptx)
    }

    #[test]
    fn the_lowest_that_serves() {
        assert_eq!(chosen(12040, 7, 0), (70, 63));
        assert_eq!(chosen(12040, 7, 5), (75, 63));
        assert_eq!(chosen(11000, 8, 0), (80, 70));
        assert_eq!(chosen(12040, 9, 0), (90, 78));
        assert_eq!(chosen(12080, 10, 0), (100, 86));
        assert_eq!(chosen(12080, 12, 0), (120, 87));
    }

    #[test]
    fn never_above_the_driver() {
        assert_eq!(chosen(12040, 10, 0), (90, 78));
        assert_eq!(chosen(11040, 8, 9), (87, 74));
        assert_eq!(chosen(10000, 8, 0), (75, 63));
        assert_eq!(Target::choose(8000, 7, 0), Err(TargetError::Driver { version: 8000, sm: 70 }));
    }

    #[test]
    fn a_device_newer_than_all_known_runs_the_highest() {
        assert_eq!(chosen(14000, 13, 0), (121, 88));
        assert_eq!(chosen(13000, 10, 9), (103, 88));
    }

    #[test]
    fn many_parameters_have_a_later_isa() {
        let target = Target::of_sm(90).unwrap();
        assert_eq!(target.with_room(4352, 78), Ok(target));
        assert_eq!(target.with_room(4360, 81).unwrap().ptx, 81);
        assert_eq!(Target::of_sm(100).unwrap().with_room(32764, 90).unwrap().ptx, 86);
        assert!(target.with_room(4360, 80).unwrap_err().contains("CUDA 12.1"));
        assert!(target.with_room(32768, 90).unwrap_err().contains("32764"));
    }

    #[test]
    fn old_devices_are_refused() {
        assert_eq!(Target::choose(12040, 6, 1), Err(TargetError::TooOld { sm: 61 }));
        let said = TargetError::TooOld { sm: 61 }.to_string();
        assert!(said.contains("6.1") && said.contains("7.0"), "{said}");
    }

    #[test]
    fn tables_are_in_order() {
        assert!(KNOWN.is_sorted_by_key(|known| known.0));
        assert!(DRIVERS.is_sorted_by(|a, b| a.0 > b.0 && a.1 > b.1));
    }
}
