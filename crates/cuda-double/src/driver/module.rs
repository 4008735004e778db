//! Modules and their functions.

use std::ffi::CString;
use std::sync::{Arc, Mutex};

use super::{Driver, lock};
use crate::codes::{self, Code};
use crate::decode;
use crate::exec::inst::{FunctionCode, Program};
use crate::exec::table::Kind;
use crate::ptx::parse;
use crate::ptx::syntax::Space;

#[derive(Debug)]
pub struct Module {
    pub program: Arc<Program>,
    pub device: i32,
}

#[derive(Debug)]
pub struct Function {
    pub module: Arc<Module>,
    pub index: u32,
    pub name: CString,
    /// Dynamic shared memory that a launch may ask for.
    pub max_dynamic: Mutex<u32>,
}

/// Why a module was refused: the code, and what the log says.
pub type Refused = (Code, String);

/// The newest PTX a driver reads.
pub fn newest_ptx(driver: i32) -> (u32, u32) {
    let versions = [
        (13050, (9, 5)),
        (13040, (9, 4)),
        (13030, (9, 3)),
        (13020, (9, 2)),
        (13010, (9, 1)),
        (13000, (9, 0)),
        (12090, (8, 8)),
        (12080, (8, 7)),
        (12070, (8, 6)),
        (12050, (8, 5)),
        (12040, (8, 4)),
        (12030, (8, 3)),
        (12020, (8, 2)),
        (12010, (8, 1)),
        (12000, (8, 0)),
        (11080, (7, 8)),
        (11070, (7, 7)),
        (11060, (7, 6)),
        (11050, (7, 5)),
        (11040, (7, 4)),
        (11030, (7, 3)),
        (11020, (7, 2)),
        (11010, (7, 1)),
        (11000, (7, 0)),
        (10020, (6, 5)),
        (10010, (6, 4)),
    ];
    versions
        .iter()
        .find(|(from, _)| driver >= *from)
        .map_or((6, 3), |(_, version)| *version)
}

impl Module {
    pub fn load(driver: &Driver, device: i32, text: &str) -> Result<Arc<Module>, Refused> {
        let invalid = |e: crate::ptx::PtxError| {
            (
                codes::INVALID_PTX,
                format!("{e}\nptxas fatal: Ptx assembly aborted due to errors\n"),
            )
        };
        let source = parse::parse(text).map_err(invalid)?;
        let newest = newest_ptx(driver.settings.driver);
        if source.version > newest {
            let ((a, b), (c, d)) = (source.version, newest);
            let message = format!("ptx input, line 1; fatal: Unsupported .version {a}.{b}; current version is '{c}.{d}'\n");
            return Err((codes::UNSUPPORTED_PTX_VERSION, message));
        }
        let (major, minor) = driver.settings.capability;
        if source.target as i32 > major * 10 + minor {
            let message = format!("target sm_{} is newer than the device's sm_{major}{minor}\n", source.target);
            return Err((codes::NO_BINARY_FOR_GPU, message));
        }
        let mut placed = Vec::new();
        let decoded = decode::decode(&source, &mut |variable| {
            let kind = if variable.space == Space::Const {
                Kind::Constant
            } else {
                Kind::Variable
            };
            let address = driver.memory.allocate(device, variable.bytes, kind).ok()?;
            placed.push(address);
            Some(address)
        });
        let free = |placed: &[u64]| {
            for address in placed {
                _ = driver.memory.free(*address, &[Kind::Constant, Kind::Variable]);
            }
        };
        let (program, images) = decoded.map_err(|error| {
            free(&placed);
            invalid(error)
        })?;
        let constants: u64 = program.globals.iter().filter(|g| g.constant).map(|g| g.bytes).sum();
        if constants > 64 << 10 {
            free(&placed);
            let message = format!("ptxas error: file uses too much global constant data (0x{constants:x} bytes, 0x10000 max)\n");
            return Err((codes::INVALID_PTX, message));
        }
        for image in &images {
            if let Some(span) = driver.memory.span(image.address, image.bytes.len() as u64) {
                span.store(&image.bytes);
            }
        }
        Ok(Arc::new(Module {
            program: Arc::new(program),
            device,
        }))
    }

    pub fn unload(&self, driver: &Driver) {
        for global in &self.program.globals {
            _ = driver.memory.free(global.address, &[Kind::Constant, Kind::Variable]);
        }
    }

    pub fn function(self: &Arc<Self>, name: &str) -> Option<Arc<Function>> {
        let index = self.program.functions.iter().position(|f| f.entry && f.name == name)?;
        Some(Arc::new(Function {
            module: self.clone(),
            index: index as u32,
            name: CString::new(name).ok()?,
            max_dynamic: Mutex::new((48u32 << 10).saturating_sub(self.program.functions[index].shared_bytes)),
        }))
    }
}

impl Function {
    pub fn code(&self) -> &FunctionCode {
        &self.module.program.functions[self.index as usize]
    }

    /// Registers a thread would have: a guess, never so many that a block of 1024 threads would not fit.
    pub fn registers(&self) -> u32 {
        let guess = (self.code().registers / 4 + 16).min(64);
        self.code().bounds.max_registers.map_or(guess, |max| guess.min(max))
    }

    pub fn max_threads(&self) -> u32 {
        let bounds = &self.code().bounds;
        let given = bounds.required_threads.or(bounds.max_threads).map(|t| t.iter().product());
        given
            .unwrap_or(1024)
            .min(65536 / self.registers().next_multiple_of(8) / 32 * 32)
            .min(1024)
    }

    pub fn dynamic_limit(&self) -> u32 {
        *lock(&self.max_dynamic)
    }
}
