//! Features: what a device can do, as far as code depends on it.

use naga::valid::{Capabilities, ShaderStages, SubgroupOperationSet, ValidationFlags, Validator};
use weft_ir::Scalar;

/// The interface a device is driven through. It decides the form code is handed over in, and what can be said in that form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Platform {
    /// SPIR-V, written by us.
    Vulkan,
    /// The Metal shading language, written by naga.
    Metal,
    /// HLSL, written by naga.
    Dx12,
}

impl Platform {
    pub const fn name(self) -> &'static str {
        match self {
            Platform::Vulkan => "Vulkan",
            Platform::Metal => "Metal",
            Platform::Dx12 => "DirectX 12",
        }
    }
}

/// What compiled code may use. Part of the key of what is compiled and kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Features {
    pub platform: Platform,
    pub float64: bool,
    pub int64: bool,
    /// 64-bit integers in storage buffers change atomically, by any operation.
    pub atomic64: bool,
    /// The same in shared memory.
    pub shared_atomic64: bool,
    /// float32 in storage buffers is added to atomically.
    pub float_atomics: bool,
    /// Buffers can be declared such that blocks see each other's writes after a fence.
    pub coherent: bool,
    /// naga's `fma` rounds once, where no number is subnormal.
    pub exact_fma32: bool,
    pub exact_fma64: bool,
    /// Quotients and square roots of float32 are rounded correctly, where no number is subnormal.
    pub exact_divide: bool,
    pub exact_sqrt: bool,
    /// The same of float64.
    pub exact_divide64: bool,
    pub exact_sqrt64: bool,
    /// `floor`, `ceil`, `trunc` and rounding to the nearest even give what they should. Where the CPU has no instruction for as many float64
    /// as Mesa's driver computes at a time (AVX2), its `trunc` and `round` of them are wrong.
    pub exact_rounding32: bool,
    pub exact_rounding64: bool,
    /// Constant zeros are computed with as IEEE 754 has it. Mesa's driver for the CPU (`llvmpipe`) takes `x * 0` for 0, `x + 0` for `x`
    /// and `x / 0` for anything where it sees the zero; zeros are kept from its sight then. So are integers made 64 bits wide: it compares them
    /// wrongly with constants. And what a lane had when it left a loop by its only exit is lost to it: such loops get another exit then.
    pub exact_zeros: bool,
    /// What is done to subnormal numbers.
    pub subnormals32: Subnormals,
    pub subnormals64: Subnormals,
    /// Subnormal float32 become the float64 that they are, and float64 become them, rounded once.
    pub exact_widening: bool,
    pub exact_narrowing: bool,
    /// Modes of SPIR-V's float controls that can be asked for.
    pub controls32: FloatControls,
    pub controls64: FloatControls,
    /// Lanes of every subgroup as the driver has it, 0 where it does not say or they differ.
    pub subgroup: u32,
    /// So many neighbouring threads of a block that lies along one axis are a subgroup, in order, and its operations give what they
    /// should: a power of two up to a warp's 32. 1 where that is not so.
    pub group: u32,
    /// Subgroups have barriers of their own.
    pub group_barriers: bool,
    /// A fence concerns the thread alone that comes to it. Mesa's driver for the CPU takes it for a barrier of the block: what comes to more of
    /// them than the first subgroup ends there, without a word. Only drivers of CPUs are asked.
    pub fences: bool,
    /// Threads of a block, along each axis and in all.
    pub block: [u32; 3],
    pub threads: u32,
    /// Blocks along each axis of a dispatch.
    pub groups: u32,
    /// Bytes of shared memory a block may have.
    pub shared_bytes: u32,
    /// Bytes of a storage binding, below 2³².
    pub binding_bytes: u32,
    /// Storage bindings of a kernel.
    pub bindings: u32,
    /// Bytes of parameters that a launch's command may bring along.
    pub immediates: u32,
}

/// What a device does to subnormal numbers of a type: what is not right takes them for zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Subnormals {
    /// Sums and products take them and give them.
    pub kept: bool,
    pub compared: Comparisons,
    pub absolute: bool,
    pub negated: bool,
    /// `fma`, quotients and square roots are as right with them as without.
    pub fused: bool,
    pub divided: bool,
    pub rooted: bool,
}

/// How floats are compared. NVIDIA's driver for Vulkan takes subnormal float32 for zeros when it compares them, not when it computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparisons {
    /// As the device does it.
    Own,
    /// As the device does it, as they are and multiplied.
    Scaled,
    /// As integers.
    ByBits,
}

impl Subnormals {
    /// All is right.
    pub const EXACT: Subnormals = Subnormals {
        kept: true,
        compared: Comparisons::Own,
        absolute: true,
        negated: true,
        fused: true,
        divided: true,
        rooted: true,
    };
    /// Nothing is relied on.
    pub const LOST: Subnormals = Subnormals {
        kept: false,
        compared: Comparisons::ByBits,
        absolute: false,
        negated: false,
        fused: false,
        divided: false,
        rooted: false,
    };
}

/// What `SPV_KHR_float_controls` lets code demand of a width.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FloatControls {
    pub keeps_nan: bool,
    pub keeps_subnormals: bool,
    pub rounds_to_even: bool,
}

impl Features {
    /// What naga's validator is to allow.
    pub fn capabilities(&self) -> Capabilities {
        let given = [
            (self.float64, Capabilities::FLOAT64),
            (self.int64, Capabilities::SHADER_INT64),
            (self.immediates > 0, Capabilities::IMMEDIATES),
            (self.atomic64, Capabilities::SHADER_INT64_ATOMIC_ALL_OPS),
            (self.float_atomics, Capabilities::SHADER_FLOAT32_ATOMIC),
            (self.coherent, Capabilities::MEMORY_DECORATION_COHERENT),
            (self.subgroup > 1, Capabilities::SUBGROUP),
            (self.subgroup > 1 && self.group_barriers, Capabilities::SUBGROUP_BARRIER),
        ];
        let allowed = given.into_iter().filter(|(has, _)| *has).map(|(_, capability)| capability);
        allowed.fold(Capabilities::empty(), |all, one| all | one)
    }
}

impl Features {
    /// What is done to subnormal numbers of a type.
    pub const fn subnormals(&self, s: Scalar) -> &Subnormals {
        match s {
            Scalar::F64 => &self.subnormals64,
            _ => &self.subnormals32,
        }
    }

    /// naga's validator for what the device has.
    pub fn validator(&self, flags: ValidationFlags) -> Validator {
        let mut validator = Validator::new(flags, self.capabilities());
        validator
            .subgroup_stages(ShaderStages::COMPUTE)
            .subgroup_operations(SubgroupOperationSet::BASIC | SubgroupOperationSet::BALLOT | SubgroupOperationSet::SHUFFLE);
        validator
    }
}

/// Devices as tests have them. Of a real one, its driver is asked what it has, and its floats are tried; only what neither tells is as
/// here.
impl Features {
    /// Mesa's driver for the CPU.
    pub const fn lavapipe() -> Features {
        let controls = FloatControls {
            keeps_nan: true,
            keeps_subnormals: false,
            rounds_to_even: true,
        };
        Features {
            platform: Platform::Vulkan,
            float64: true,
            int64: true,
            atomic64: true,
            shared_atomic64: true,
            float_atomics: true,
            coherent: true,
            exact_fma32: false,
            exact_fma64: false,
            exact_divide: true,
            exact_sqrt: true,
            exact_divide64: true,
            exact_sqrt64: true,
            exact_rounding32: true,
            exact_rounding64: true,
            exact_zeros: false,
            subnormals32: Subnormals::EXACT,
            subnormals64: Subnormals::EXACT,
            exact_widening: true,
            exact_narrowing: true,
            controls32: controls,
            controls64: controls,
            subgroup: 8,
            group: 8,
            group_barriers: true,
            fences: false,
            block: [1024, 1024, 1024],
            threads: 1024,
            groups: 65535,
            shared_bytes: 32 << 10,
            binding_bytes: 128 << 20,
            bindings: 16,
            immediates: 128,
        }
    }

    /// An Apple GPU.
    pub const fn metal() -> Features {
        Features {
            platform: Platform::Metal,
            float64: false,
            int64: true,
            atomic64: false,
            shared_atomic64: false,
            float_atomics: true,
            coherent: false,
            exact_fma32: true,
            exact_fma64: false,
            exact_divide: false,
            exact_sqrt: false,
            exact_divide64: false,
            exact_sqrt64: false,
            exact_zeros: true,
            controls32: FloatControls::NONE,
            controls64: FloatControls::NONE,
            subgroup: 32,
            group: 32,
            fences: true,
            immediates: 0,
            ..Features::lavapipe()
        }
    }

    /// A GPU under DirectX 12.
    pub const fn dx12() -> Features {
        Features {
            platform: Platform::Dx12,
            float64: false,
            atomic64: true,
            shared_atomic64: false,
            float_atomics: false,
            coherent: true,
            exact_fma32: false,
            exact_divide: false,
            exact_sqrt: false,
            exact_divide64: false,
            exact_sqrt64: false,
            exact_zeros: true,
            controls32: FloatControls::NONE,
            controls64: FloatControls::NONE,
            subgroup: 32,
            group: 32,
            group_barriers: false,
            fences: true,
            block: [1024, 1024, 64],
            immediates: 0,
            ..Features::lavapipe()
        }
    }
}

impl FloatControls {
    const NONE: FloatControls = FloatControls {
        keeps_nan: false,
        keeps_subnormals: false,
        rounds_to_even: false,
    };
}
